#include "sweep.h"

#include <algorithm>
#include <map>
#include <set>

#include "parity/buffer.h"
#include "parity/number.h"

namespace hipops::bench {
namespace {

constexpr int kLargestPower = 18;
constexpr int kConfirmations = 15;  // repeats, before a shape counts as slow

std::set<int64_t> columns() {
  std::set<int64_t> sizes = {97, 769, 3001, 10007, 100003, 131101, 200000,
                             // Widths of models and vocabularies.
                             1152, 1600, 2304, 2880, 5376, 6656, 11008, 13824, 50257, 151936,
                             1153, 1601, 2305, 2561, 5377};
  for (int k = 0; k <= kLargestPower; ++k) {
    const int64_t power = int64_t{1} << k;
    sizes.insert({power, power + 1, power - 1, 3 * power, 5 * power, 7 * power});
  }
  sizes.erase(sizes.begin(), sizes.find(1));
  sizes.erase(sizes.upper_bound(int64_t{1} << kLargestPower), sizes.end());
  return sizes;
}

std::set<int64_t> rows() {
  std::set<int64_t> sizes = {3, 37, 1000, 12289, 131071};
  for (int k = 0; k <= kLargestPower; ++k) sizes.insert(int64_t{1} << k);
  return sizes;
}

// Memory for the largest shape. Every shape uses the start of it.
class Sweeper {
 public:
  Sweeper(const Device& device, Timer& timer, int64_t bytes) : device_(device), timer_(timer), bytes_(bytes) {}

  SweepRow measure(const SweepJob& job) {
    const parity::OpEntry& op = op_named(job.op);
    parity::Arguments arguments = parity::usual_arguments(op);
    arguments.set_stream(device_.stream);
    const auto add = [&](const parity::TensorSpec& spec) {
      const bool is_data = spec.role == parity::Role::kData;
      void* data = memory(spec.name, is_data ? bytes_ : (int64_t{1} << kLargestPower) * 8);
      std::vector<int64_t> shape = {job.shape.rows, job.shape.cols};
      if (!is_data) shape.erase(shape.begin());
      arguments.add_tensor(spec.name, contiguous(data, job.dtype, shape));
    };
    for (const parity::TensorSpec& spec : op.inputs)
      if (spec.role == parity::Role::kData || spec.role == parity::Role::kWeight) add(spec);
    for (const parity::TensorSpec& spec : op.outputs)
      if (spec.role == parity::Role::kData) add(spec);
    const Call call = op.bind(arguments);
    SweepRow row = {job, 2 * job.bytes()};
    row.roof = timer_.roof(row.bytes);
    row.us = timer_.microseconds(call, row.bytes);
    if (row.is_slow()) row.us = timer_.microseconds(call, row.bytes, kConfirmations);  // may be an outlier
    return row;
  }

 private:
  void* memory(const std::string& name, int64_t bytes) {
    const auto made = memory_.try_emplace(name, device_, bytes);
    if (made.second) made.first->second.fill_with_numbers();
    return made.first->second.data();
  }

  const Device& device_;
  Timer& timer_;
  const int64_t bytes_;
  std::map<std::string, Memory> memory_;
};

}  // namespace

std::vector<SweepShape> sweep_shapes(int64_t element_bytes) {
  std::vector<SweepShape> shapes;
  for (const int64_t r : rows())
    for (const int64_t c : columns())
      if (2 * r * c * element_bytes <= kSweepBytes) shapes.push_back({r, c});
  return shapes;
}

std::vector<std::string> sweep_ops() {
  std::vector<std::string> names;
  for (const parity::OpEntry& op : parity::all_ops())
    if (op.by_rows && op.in_place.count("y") != 0 && op.data_inputs() == 1) names.push_back(op.name);
  return names;
}

std::string SweepJob::name() const {
  return op + "/" + parity::dtype_name(dtype) + "/" + std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
}

int64_t SweepJob::bytes() const { return shape.rows * shape.cols * dtype_bytes(dtype); }

// Jobs of one shape are neighbours, because they use the same roof.
std::vector<SweepJob> sweep_jobs(const std::vector<std::string>& ops, const std::vector<hipops_dtype>& dtypes) {
  std::vector<SweepJob> jobs;
  for (const hipops_dtype dtype : dtypes)
    for (const SweepShape& shape : sweep_shapes(dtype_bytes(dtype)))
      for (const std::string& op : ops) jobs.push_back({op, dtype, shape});
  return jobs;
}

std::vector<SweepRow> sweep(const Device& device, Timer& timer, const std::vector<SweepJob>& jobs,
                            const std::function<void(size_t, const std::string&)>& progress) {
  int64_t largest = 1;
  for (const SweepJob& job : jobs) largest = std::max(largest, job.bytes());
  Sweeper sweeper(device, timer, largest);
  std::vector<SweepRow> rows;
  for (const SweepJob& job : jobs) {
    progress(rows.size(), job.name());
    rows.push_back(sweeper.measure(job));
  }
  return rows;
}

}  // namespace hipops::bench
