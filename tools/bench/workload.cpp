#include "workload.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "parity/number.h"

namespace hipops::bench {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;  // a larger shape is a mistake

bool parse_number(const std::string& text, int64_t* number) {
  char* end = nullptr;
  *number = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

bool is_reasonable(const std::vector<int64_t>& shape) {
  double elements = 1;
  for (const int64_t size : shape) elements *= static_cast<double>(size);
  return elements <= static_cast<double>(kMostElements);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool parse_sizes(const std::string& text, std::vector<int64_t>* sizes) {
  for (const std::string& part : split(text, 'x')) {
    int64_t size = 0;
    if (!parse_number(part, &size) || size < 1 || size > kMostElements) return false;
    sizes->push_back(size);
  }
  return true;
}

// Reads ":" or "4096:8192" of a dimension of `size`.
bool parse_slice(const std::string& text, int64_t size, Slice* slice) {
  *slice = {0, size};
  const std::vector<std::string> ends = split(text, ':');
  if (ends.size() != 2) return false;
  if (!ends[0].empty() && !parse_number(ends[0], &slice->begin)) return false;
  if (!ends[1].empty() && !parse_number(ends[1], &slice->end)) return false;
  return slice->begin < slice->end && slice->end <= size;
}

std::string check_order(const Workload& work) {
  std::vector<int> sorted = work.order, expected(work.shape.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected)
    return "the permutation must have each of the dimensions 0 to " + std::to_string(work.shape.size() - 1) + " once";
  return "";
}

std::string check_size(const Workload& work) {
  const parity::BenchSpec& spec = op_named(work.op).bench;
  if (spec.reduces) {
    bool is_y = work.size.size() == work.shape.size();
    for (size_t d = 0; is_y && d < work.size.size(); ++d) is_y = work.size[d] == 1 || work.size[d] == work.shape[d];
    return is_y ? "" : work.op + " needs \"->\" and y's sizes: of each dimension x's, or 1 if it is reduced";
  }
  if (work.size.empty() && (spec.sizes == 0 || spec.sizes_are_optional)) return "";
  if (spec.sizes == 0) return work.op + " accepts no sizes after \"->\"";
  if (work.size.empty())
    return work.op + " needs \"->\" and y's size" + (has_index(work.op) ? " along dim" : "");
  if (work.size.size() != spec.sizes)
    return work.op + " needs " + std::to_string(spec.sizes) + " sizes after \"->\", not " + std::to_string(work.size.size());
  return "";
}

// The second dtype for hipops_supports: the index's, or a required weight's.
hipops_dtype second_dtype(const Workload& work) {
  if (has_index(work.op)) return work.index;
  for (const parity::TensorSpec& input : op_named(work.op).inputs)
    if (input.role == parity::Role::kWeight && !input.optional) return work.dtype;
  return HIPOPS_NONE;
}

}  // namespace

const parity::OpEntry& op_named(const std::string& name) {
  const parity::OpEntry* op = parity::find_op(parity::all_ops(), name);
  if (op == nullptr) throw std::logic_error("hipops-bench does not know " + name);
  return *op;
}

bool has_index(const std::string& op) { return op_named(op).find_input("index") != nullptr; }

int64_t element_count(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
}
int64_t dtype_bytes(hipops_dtype dtype) { return static_cast<int64_t>(parity::dtype_size(dtype)); }

std::string parse_shape(const std::string& text, Workload* work) {
  const std::string form =
      "\"" + text + "\", expected sizes as 16384x4096, 16384x12288[:,4096:8192] or 262144x256->16384";
  std::string sizes = text;
  const size_t arrow = sizes.find("->");
  if (arrow != std::string::npos) {
    if (!parse_sizes(sizes.substr(arrow + 2), &work->size)) return form;
    sizes.resize(arrow);
  }
  std::string slices;
  const size_t bracket = sizes.find('[');
  if (bracket != std::string::npos) {
    if (sizes.back() != ']') return form;
    slices = sizes.substr(bracket + 1, sizes.size() - bracket - 2);
    sizes.resize(bracket);
  }
  if (!parse_sizes(sizes, &work->shape) || work->shape.size() > HIPOPS_MAX_RANK) return form;
  if (!is_reasonable(work->shape)) return "\"" + text + "\" has more than 2^40 elements";
  if (bracket == std::string::npos) return "";
  const std::vector<std::string> parts = split(slices, ',');
  if (parts.size() != work->shape.size()) return form;
  work->slice.resize(parts.size());
  for (size_t d = 0; d < parts.size(); ++d)
    if (!parse_slice(parts[d], work->shape[d], &work->slice[d])) return form;
  return "";
}

std::string check(const Workload& work) {
  const parity::BenchSpec& spec = op_named(work.op).bench;
  if (spec.rank != 0 && work.shape.size() != spec.rank)
    return work.op + " needs " + std::to_string(spec.rank) + " dimensions, not " + std::to_string(work.shape.size());
  if (spec.even_columns && work.shape.back() % 2 != 0)
    return work.op + " needs an even last dimension, not " + std::to_string(work.shape.back());
  if (!spec.any_view && (!work.slice.empty() || !work.order.empty()))
    return "a slice or a permutation is for strided_copy, not for " + work.op;
  if (!work.order.empty()) {
    const std::string problem = check_order(work);
    if (!problem.empty()) return problem;
  }
  if (work.dim < 0 || work.dim >= static_cast<int>(work.shape.size()))
    return "dim is " + std::to_string(work.dim) + ", expected 0 to " + std::to_string(work.shape.size() - 1);
  if (hipops_supports(work.op.c_str(), work.dtype, second_dtype(work)) == 0)
    return work.op + " does not support " + parity::dtype_name(work.dtype) +
           (has_index(work.op) ? std::string(" with an index of ") + parity::dtype_name(work.index) : "");
  const std::string problem = check_size(work);
  return problem.empty() && !is_reasonable(output_shape(work)) ? "y has more than 2^40 elements" : problem;
}

std::string default_name(const Workload& work, const std::string& shape) {
  std::string name = work.op + "/" + parity::dtype_name(work.dtype) + "/" + shape;
  if (!work.order.empty()) {
    name += "/permute";
    for (const int dimension : work.order)
      name += (&dimension == work.order.data() ? "" : ",") + std::to_string(dimension);
  }
  if (!has_index(work.op)) return name;
  return name + (work.dim != 0 ? "/dim" + std::to_string(work.dim) : "") + "/" + parity::dtype_name(work.index);
}

std::vector<int64_t> input_shape(const Workload& work) {
  std::vector<int64_t> shape;
  for (size_t d = 0; d < work.shape.size(); ++d) {
    const size_t of_memory = work.order.empty() ? d : static_cast<size_t>(work.order[d]);
    shape.push_back(work.slice.empty() ? work.shape[of_memory]
                                       : work.slice[of_memory].end - work.slice[of_memory].begin);
  }
  return shape;
}

std::vector<int64_t> output_shape(const Workload& work) {
  std::vector<int64_t> shape = input_shape(work);
  if (work.size.empty()) return shape;
  if (has_index(work.op))
    shape[static_cast<size_t>(work.dim)] = work.size[0];
  else
    std::copy(work.size.rbegin(), work.size.rend(), shape.rbegin());
  return shape;
}

std::vector<int64_t> shape_of(const Workload& work, const parity::TensorSpec& input) {
  if (input.shape == nullptr) return input_shape(work);
  return input.shape(input_shape(work), output_shape(work), static_cast<size_t>(work.dim));
}

int64_t bytes_moved(const Workload& work) {
  const int64_t in = element_count(input_shape(work)), out = element_count(output_shape(work));
  const parity::OpEntry& op = op_named(work.op);
  const int64_t elements = op.bench.moved != nullptr ? op.bench.moved(in, out)
                                                     : static_cast<int64_t>(op.data_inputs()) * in +
                                                           static_cast<int64_t>(op.data_outputs()) * out;
  const parity::TensorSpec* index = op.find_input("index");
  const auto is_quantised = [](const parity::TensorSpec& output) { return output.role == parity::Role::kQuantised; };
  return elements * dtype_bytes(work.dtype) + std::count_if(op.outputs.begin(), op.outputs.end(), is_quantised) * out +
         (index == nullptr ? 0 : element_count(shape_of(work, *index)) * dtype_bytes(work.index));
}

}  // namespace hipops::bench
