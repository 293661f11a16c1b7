#include "rows/plan.h"

#include <algorithm>

#include "policy/policy.h"
#include "policy/limits.h"
#include "tensor/divisor.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// The work-items of a block that share a row. On a device without clusters a larger block replaces a cluster.
int64_t lanes_of(const RowKernel& k, const DeviceNumbers& device) {
  const bool stands_for_more = k.body == RowBody::cluster && device.largest_cluster == 1;
  return int64_t{k.lanes} * (stands_for_more ? device.blocks_in_one : 1);
}

// The number of groups of blocks. If a typed input repeats, all rows of a block have the same row of it, which then stays
// in the L1 cache. There are still enough blocks for them to end together.
int64_t by_typed_input(const RowProblem& p, const DeviceNumbers& device, int64_t groups, int64_t rows) {
  const int64_t period = p.period / rows;
  if (period <= 1 || p.period % rows != 0) return groups;
  return std::min(groups, divided_up(RowLimits::kBlocksAUnitOfRepeats * device.units, period) * period);
}

// Split rows: the units of kSpanVectors vectors of a row. The rest has room for the row's edge.
int64_t span_units(const RowProblem& p) {
  return (p.cols - kWideAccess) * dtype_bytes(p.dtype) / (kSpanVectors * kWideAccess);
}
// The number of spans of a row: so that all blocks run at a time, in the number of rounds that ends first. A round costs the
// time of a tile in addition. A span has room for all parts, and two more for their alignment.
int32_t spans_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  const int64_t blocks = device.units * (k.resident / k.block), units = span_units(p), tile = k.block * k.vectors / kSpanVectors;
  int64_t best = 1, least = INT64_MAX;
  for (int64_t rounds = 1; rounds <= RowLimits::kMostSpanRounds; ++rounds) {
    int64_t spans = std::clamp<int64_t>(rounds * blocks / p.rows, 1, kMostSpans);
    while (spans > 1 && units / spans * kPartsAUnit < spans + 2) --spans;
    const int64_t time = divided_up(p.rows * spans, blocks) * (divided_up(units, spans) + tile);
    if (time < least) best = spans, least = time;
  }
  return static_cast<int32_t>(best);
}

}  // namespace

const RowKernels* row_kernels_of(const Op& op) {
  return op.family && op.family->family == &RowKernels::kFamily ? static_cast<const RowKernels*>(op.family) : nullptr;
}

int64_t staged_at_most(hipops_dtype dtype) {
  return staged_elements(dtype_bytes(dtype)) - kWideAccess / dtype_bytes(dtype);  // the first vector may be partly used
}
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype) {
  return int64_t{k.block} * k.vectors * kWideAccess / dtype_bytes(dtype);
}

int64_t vectors_of(const RowKernel& k, const RowProblem& p) {
  if (k.layout == RowLayout::packed) return 1;
  return k.layout == RowLayout::strided ? p.cols : std::max<int64_t>(p.cols * dtype_bytes(p.dtype) / kWideAccess, 1);
}

int32_t lanes_of_part(const RowKernel& k, const RowProblem& p) {
  if (k.layout != RowLayout::aligned) return k.lanes;
  int32_t lanes = 2;
  while (lanes < k.lanes && int64_t{lanes} * k.vectors < vectors_of(k, p)) lanes *= 2;
  return lanes;
}

// Unaligned kernels can compute aligned rows, and strided kernels can compute all rows.
bool takes(const RowKernels& kernels, const RowChoice& choice, const RowProblem& p, const DeviceNumbers& device) {
  const RowKernel& k = kernels.kernel[choice.kernel];
  if (k.dtype != p.dtype || k.body == RowBody::merged) return false;
  if ((k.layout == RowLayout::packed || k.layout == RowLayout::aligned) && p.layout != k.layout) return false;
  const bool has_gaps = p.layout == RowLayout::strided || p.cols * dtype_bytes(p.dtype) < kLeastUnalignedVectors * kWideAccess;
  if (k.layout == RowLayout::unaligned && has_gaps) return false;
  const int most = k.body == RowBody::cluster ? device.largest_cluster : 1;
  if (choice.cluster < 1 || choice.cluster > most || (choice.cluster & (choice.cluster - 1)) != 0) return false;
  if (k.layout != RowLayout::strided && p.cols > kMostIntColumns) return false;
  if (k.body == RowBody::parts) return p.may_split && p.cols >= 2 * elements_of_tile(k, p.dtype) + kWideAccess;
  return k.body == RowBody::streamed || choice.cluster * lanes_of(k, device) * k.vectors >= vectors_of(k, p);
}

RowLaunch resolve(PlanOptions options, const RowKernels& kernels, const RowChoice& choice, const RowProblem& p,
                  const DeviceNumbers& device) {
  const RowKernel& k = kernels.kernel[choice.kernel];
  const int64_t cluster = choice.cluster;
  RowLaunch plan = {choice.kernel, static_cast<uint32_t>(k.block), static_cast<uint32_t>(cluster), k.lanes};
  int64_t rows = 1;  // of a block at a time
  if (k.lanes == k.block) {
    int64_t waves = divided_up(vectors_of(k, p), cluster * k.vectors * device.wave_size);
    if (k.body == RowBody::streamed) waves = std::min<int64_t>(waves, k.block / device.wave_size);
    if (k.body != RowBody::parts) plan.block = static_cast<uint32_t>(waves * device.wave_size);
    plan.lanes = static_cast<int32_t>(plan.block);
  } else {
    plan.lanes = lanes_of_part(k, p);
    rows = k.block / plan.lanes;
  }
  int64_t work = divided_up(p.rows, rows);
  if (k.body == RowBody::parts) {
    plan.spans = spans_of(k, p, device);
    plan.per_block = span_units(p) / plan.spans;
    work = p.rows * plan.spans;
  } else if (k.layout == RowLayout::packed) {
    const int64_t each = divided_up(p.rows, RowLimits::kPackedBlocksAUnit * device.units * rows) * rows;
    plan.per_block = rows = std::min(each, staged_at_most(p.dtype) / p.cols);
    work = divided_up(p.rows, rows);
  }
  int64_t most = options.within_most(kMostRowBlocks);
  if (device.prefetches_rows && prefetches_rows(k.body))  // no more than run at a time
    most = std::min(most, device.units * std::max<int64_t>(k.resident / plan.block, 1));
  most = std::max<int64_t>(most / cluster, 1);
  const int64_t groups = by_typed_input(p, device, divided_up(work, divided_up(work, most)), rows);  // of equal work
  plan.grid = static_cast<uint32_t>(groups * cluster);
  plan.row_step = groups * rows;
  return plan;
}

hipops_status plan_rows(PlanOptions options, Op& op, const RowProblem& problem, const DeviceFacts& device, RowLaunch* plan) {
  const RowKernels& kernels = *row_kernels_of(op);
  if (problem.is_invariant) options.policy = nullptr, options.small_apart = false;  // tables and rules for few rows
  const RowChoice* measured = options.policy ? options.policy->find(op, problem, device) : nullptr;
  DeviceNumbers numbers = device;
  while (true) {
    const bool is_measured = measured && takes(kernels, *measured, problem, numbers);
    const RowChoice choice = is_measured ? *measured : choose_rows_by_default(options, kernels, problem, numbers);
    *plan = resolve(options, kernels, choice, problem, numbers);
    if (plan->cluster == 1) return HIPOPS_SUCCESS;
    uint32_t most = 0;
    if (hipops_status status = most_clusters(op, device, plan->cluster, plan->block, &most)) return status;
    if (most > 0) {
      const int64_t clusters = std::min<int64_t>(plan->grid / plan->cluster, most);
      plan->grid = static_cast<uint32_t>(clusters) * plan->cluster;
      plan->row_step = clusters;
      return HIPOPS_SUCCESS;
    }
    // A partition of a device (MIG) may be too small for a cluster of this size. Try a smaller cluster.
    numbers.largest_cluster = static_cast<int>(plan->cluster) - 1;
  }
}

}  // namespace hipops
