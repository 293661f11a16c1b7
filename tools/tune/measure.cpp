#include "tune/measure.h"

#include <algorithm>
#include <cmath>

#include "operands.h"
#include "parity/buffer.h"
#include "parity/ops.h"
#include "parity/temporary_options.h"

namespace hipops::tune {
namespace {

constexpr int kRounds = 5, kSure = 2, kRepeats = 5;
constexpr double kAsFast = 1.03, kFarBehind = 1.2;
constexpr int64_t kStride = 2;  // of strided rows' elements

// Packed and unaligned rows begin one element past an aligned address.
int64_t offset_of(RowLayout layout) { return layout == RowLayout::unaligned || layout == RowLayout::packed ? 1 : 0; }
int64_t step_of(RowLayout layout) { return layout == RowLayout::strided ? kStride : 1; }

// A part of a device may be too small for clusters of some size.
bool runs(Op& op, const RowChoice& choice, const RowProblem& problem, const DeviceFacts& facts) {
  if (choice.cluster == 1) return true;
  uint32_t most = 0;
  const RowLaunch plan = resolve({}, *row_kernels_of(op), choice, problem, facts);
  parity::expect_success(most_clusters(op, facts, plan.cluster, plan.block, &most), "count clusters");
  return most > 0;
}

// The median of several rounds, each with all choices. After kSure rounds, choices that are much slower than the
// fastest are left out, so that most of the time is for close choices.
std::vector<double> microseconds_of(const std::vector<RowChoice>& choices, const bench::Device& device, bench::Timer& timer,
                                    const Group& group, const RowProblem& problem) {
  const RowOperands operands(device, *group.op, problem);
  std::vector<std::vector<double>> times(choices.size());
  std::vector<double> medians(choices.size(), 0);
  double fastest = INFINITY;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < choices.size(); ++i) {
      if (round >= kSure && medians[i] > kFarBehind * fastest) continue;
      const Policy policy = policy_of(group, choices[i]);
      TemporaryOptions temporary;
      temporary.options.policy = &policy;
      times[i].push_back(timer.microseconds(operands.call(), operands.bytes(), kRepeats));
      medians[i] = bench::median(times[i]);
    }
    fastest = *std::min_element(medians.begin(), medians.end());
  }
  return medians;
}

}  // namespace

bool same(const RowChoice& a, const RowChoice& b) { return a.kernel == b.kernel && a.cluster == b.cluster; }

Policy policy_of(const Group& group, const RowChoice& choice) {
  Policy policy;
  policy.rows.push_back({group.op, group.dtype, group.layout, {INFINITY}, {INFINITY}, {choice}});
  return policy;
}

int64_t tensor_bytes(const RowProblem& p) {
  return (p.rows * p.cols * step_of(p.layout) + offset_of(p.layout)) * bench::dtype_bytes(p.dtype);
}

hipops_tensor rows_at(char* data, const RowProblem& p) {
  hipops_tensor rows = bench::contiguous(data + offset_of(p.layout) * bench::dtype_bytes(p.dtype), p.dtype, {p.rows, p.cols});
  rows.stride[0] *= step_of(p.layout);
  rows.stride[1] *= step_of(p.layout);
  return rows;
}

RowOperands::RowOperands(const bench::Device& device, const Op& op, const RowProblem& p) {
  const parity::OpEntry& entry = *parity::find_op(parity::all_ops(), op.name);
  arguments_ = parity::usual_arguments(entry);
  const auto add = [&](const parity::TensorSpec& spec) {
    const bool is_row = spec.role == parity::Role::kData;
    const int64_t element = bench::dtype_bytes(p.dtype);
    memory_.push_back(std::make_unique<bench::Memory>(device, is_row ? tensor_bytes(p) : p.cols * element));
    memory_.back()->fill_with_numbers();
    char* data = static_cast<char*>(memory_.back()->data());
    if (!is_row) return arguments_.add_tensor(spec.name, bench::contiguous(data, p.dtype, {p.cols}));
    bytes_ += p.rows * p.cols * element;
    arguments_.add_tensor(spec.name, rows_at(data, p));
  };
  for (const parity::TensorSpec& spec : entry.inputs)
    if (spec.role == parity::Role::kData || spec.role == parity::Role::kWeight) add(spec);
  for (const parity::TensorSpec& spec : entry.outputs)
    if (spec.role == parity::Role::kData) add(spec);
  arguments_.set_stream(device.stream);
  call_ = entry.bind(arguments_);
}

Cell measure(const bench::Device& device, bench::Timer& timer, const Group& group, const RowProblem& problem,
             const DeviceFacts& facts) {
  std::vector<RowChoice> choices = candidates(*row_kernels_of(*group.op), problem, facts);
  const auto runs_nowhere = [&](const RowChoice& choice) { return !runs(*group.op, choice, problem, facts); };
  choices.erase(std::remove_if(choices.begin(), choices.end(), runs_nowhere), choices.end());
  Cell cell;
  cell.by_default = cell.kept = choose_rows_by_default({}, *row_kernels_of(*group.op), problem, facts);
  if (choices.size() < 2) return cell;
  const std::vector<double> medians = microseconds_of(choices, device, timer, group, problem);
  const double fast_enough = kAsFast * *std::min_element(medians.begin(), medians.end());
  size_t kept = choices.size();
  for (size_t i = choices.size(); i-- > 0;) {
    const bool is_default = same(choices[i], cell.by_default);
    if (is_default) cell.default_us = medians[i];
    if (medians[i] <= fast_enough && (kept == choices.size() || !same(choices[kept], cell.by_default))) kept = i;
  }
  cell.kept = choices[kept];
  cell.kept_us = medians[kept];
  return cell;
}

bool is_as_fast(const RowChoice& choice, const bench::Device& device, bench::Timer& timer, const Group& group,
                const RowProblem& problem, const DeviceFacts& facts) {
  const RowChoice by_default = choose_rows_by_default({}, *row_kernels_of(*group.op), problem, facts);
  if (same(choice, by_default)) return true;
  // Calls use the default if the choice is not possible.
  if (!takes(*row_kernels_of(*group.op), choice, problem, facts) || !runs(*group.op, choice, problem, facts)) return true;
  const std::vector<double> both = microseconds_of({by_default, choice}, device, timer, group, problem);
  return both[1] <= kAsFast * both[0];
}

}  // namespace hipops::tune
