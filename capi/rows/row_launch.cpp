// The launch of rows as planned.
#include <algorithm>

#include "tensor/divisor.h"
#include "rows/row_choice.h"
#include "rows/rows.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// A plan in clusters, with no more of them than run at a time: blocks that go round would wait for those before them.
// Where such don't run on the device at all, as in a part of it that is too small, it is in smaller ones, or in none.
hipops_status fit_clusters(Op& op, const RowCall& call, const RowGeometry& geometry, const DeviceFacts& device,
                           RowPlan* plan) {
  uint32_t most = 0;
  while (plan->cluster > 1) {
    if (hipops_status status = most_clusters(op, device, plan->cluster, plan->block, &most)) return status;
    if (most > 0) break;
    DeviceNumbers smaller = device;
    smaller.largest_cluster = static_cast<int>(plan->cluster) - 1;
    *plan = plan_rows(call.dtype, geometry, call.access, smaller, call.rounds_of, call.weights);
  }
  if (plan->cluster == 1) return HIPOPS_SUCCESS;
  const uint32_t clusters = std::min(plan->grid / plan->cluster, most);
  plan->grid = clusters * plan->cluster;
  plan->row_step = clusters;
  return HIPOPS_SUCCESS;
}

hipops_status launch_split(Op& op, const RowCall& call, const DeviceFacts& device, RowGeometry* geometry,
                           const void* args, size_t bytes, void* stream) {
  // Weights that the L2 cache would not hold until the next row comes to them are used for all rows at once. Other rows
  // are faster one after the other.
  constexpr int64_t kBeyondL2 = int64_t{8} << 20;
  geometry->rows_first =
      call.access == wide && call.weights > 0 && geometry->cols * dtype_bytes(call.dtype) >= kBeyondL2;
  geometry->tiles = split_tiles(call.dtype, geometry->cols);
  geometry->tiles_divisor = wide_divisor_of(geometry->rows_first ? geometry->rows : geometry->tiles);
  geometry->threads = kSplitThreads;
  const bool in_wide = call.access == wide && call.dtype != f64;
  for (const SplitStep step :
       {in_wide ? wide_partial : edged_partial, merge_tiles, in_wide ? wide_apply : edged_apply}) {
    const RowPlan plan = plan_split_step(call.dtype, *geometry, step);
    geometry->row_step = plan.row_step;
    if (hipops_status status = launch(op, device, plan.kernel, {plan.grid, plan.block}, args, bytes, stream))
      return status;
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

hipops_status launch_rows(Op& op, const RowCall& given, RowGeometry* geometry, const void* args, size_t bytes,
                          void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(op, &device)) return status;
  RowCall call = given;
  call.access = access_of_few(call.dtype, *geometry, call.access, *device, call.weights);
  RowPlan plan = plan_rows(call.dtype, *geometry, call.access, *device, call.rounds_of, call.weights);
  if (plan.cluster > 1) {
    if (hipops_status status = fit_clusters(op, call, *geometry, *device, &plan)) return status;
  }
  const bool free = forced_row_kernel.load(std::memory_order_relaxed) < 0;
  if (free && splits_rows(call.dtype, *geometry, plan, call.in_place, *device))
    return launch_split(op, call, *device, geometry, args, bytes, stream);
  const int64_t late = late_rows(plan, *geometry, call, *device);
  geometry->row_step = plan.row_step;
  geometry->in_rounds = geometry->rows - late;
  geometry->threads = static_cast<int32_t>(plan.block);
  geometry->rows_in_shared = plan.rows_ahead > 0 ? plan.rows_ahead : plan.rows_per_block;
  geometry->traits = (plan.few ? rows_are_few : 0) | (plan.weights_kept ? weights_are_kept : 0) |
                     (are_alike(plan.row_step, *geometry, call.dtype) ? rows_lie_alike : 0);
  const auto late_blocks = static_cast<uint32_t>((late + plan.rows_per_block - 1) / plan.rows_per_block) * plan.cluster;
  const LaunchShape shape = {plan.grid + late_blocks, plan.block, plan.cluster, plan.shared_bytes};
  return launch(op, *device, plan.kernel, shape, args, bytes, stream);
}

}  // namespace hipops
