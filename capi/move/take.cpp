#include "move/take.h"

#include <algorithm>
#include <atomic>

#include "tensor/divisor.h"
#include "index/indices.h"
#include "move/copy_layout.h"
#include "policy/limits.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

using Limits = TakeLimits;

// The bytes of an access: the widest that divides all addresses and steps. It is more than an element only if the
// innermost dimension is contiguous in y and x and has one index.
int64_t unit_bytes(const Layout<kTakeOperands>& layout, const hipops_tensor& y, const hipops_tensor& x,
                   int64_t x_step) {
  const int64_t bytes = dtype_bytes(y.dtype);
  if (layout.rank == 0 || layout.stride[kTakeY][0] != 1 || layout.stride[kTakeX][0] != 1 ||
      layout.stride[kTakeIndex][0] != 0)
    return bytes;
  uint64_t elements = static_cast<uint64_t>(layout.size[0]) | static_cast<uint64_t>(x_step);
  for (int d = 1; d < layout.rank; ++d)
    elements |= static_cast<uint64_t>(layout.stride[kTakeY][d]) | static_cast<uint64_t>(layout.stride[kTakeX][d]);
  return widest_access(elements * static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(y.data) |
                       reinterpret_cast<uintptr_t>(x.data));
}

// True if there are few accesses: most of the launch is then the time to the first load, which is shortest in `few`. If
// there are rows, the limit is higher: `rows` reads an index once for several accesses, which pays only for many.
bool are_few(const PlanOptions& options, int64_t units, bool has_rows) {
  const int64_t most_blocks = has_rows ? Limits::kFewBlocksOfRows : Limits::kFewBlocks;
  return options.small_apart && units <= most_blocks * kTakeFewBlock;
}

// Turns the plan's walk over accesses of `unit` bytes into a walk over rows.
void walk_over_rows(const PlanOptions& options, TakePlan* plan, int64_t unit) {
  Walk<kTakeOperands>& walk = plan->args.walk;
  RowPieces& rows = plan->args.rows;
  rows.cols = walk.dim[0].size;
  walk.count /= rows.cols;
  if (walk.rank == 1) {
    walk.dim[0].size = 1;
  } else {
    --walk.rank;
    for (int d = 0; d < walk.rank; ++d) walk.dim[d] = walk.dim[d + 1];
  }
  const bool shifted = unit < 8 && rows.cols * unit >= CopyLimits::kLeastShiftedRowBytes;
  const int64_t depth = shifted ? kShiftedDepth : unit == 16 ? kTakeRowsDepth : kTakeElementsDepth;
  const int64_t pieces = shifted ? shifted_pieces(rows.cols, unit) : rows.cols;
  rows.lane_bits =
      shifted ? row_lane_bits(pieces, kShiftedDepth) : std::min(log2_up((pieces + depth - 1) / depth), log2_up(kTakeBlock));
  cut_rows(pieces, depth, &walk, &rows);
  find_divisors(&walk);
  plan->kernel = take_kernel(shifted ? TakeMode::shifted : TakeMode::rows, unit);
  plan->grid = options.grid_for(rows.count, kTakeBlock);
  plan->args.step = int64_t{plan->grid} * kTakeBlock;
}

}  // namespace

TakePlan plan_take(PlanOptions options, const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                   const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                   hipops_index_report* report) {
  TakePlan plan = plan_staged(options, device, y, x, index, index_stride, dim, report);
  if (plan.block != 0) return plan;  // 0: no copy of x in shared memory pays, as for tables of embeddings
  // For an invalid index the kernel loads an unused element of x. If x has no elements, it loads from y instead.
  const bool empty = x.shape[dim] == 0;
  Layout<kTakeOperands> layout;
  for (int d = y.rank - 1; d >= 0; --d) {
    const int64_t x_stride = empty ? y.stride[d] : d == dim ? 0 : x.stride[d];
    add_dimension(&layout, y.shape[d], {y.stride[d], x_stride, index_stride[d]});
  }

  TakeArgs& a = plan.args;
  const int64_t x_step = step_of(x, dim);
  const int64_t unit = empty ? dtype_bytes(y.dtype) : unit_bytes(layout, y, x, x_step);
  a.vector = unit / dtype_bytes(y.dtype);
  a.walk = walk_of(layout, a.vector);
  for (const int k : {kTakeY, kTakeX}) step_by_vectors(&a.walk, k, a.vector);
  a.x_step = x_step / a.vector;
  a.index = index_args(index, x.shape[dim], report);
  a.x = empty ? y.data : x.data;
  a.y = y.data;

  plan.kernel = take_kernel(TakeMode::any, unit);
  const bool has_rows = layout.rank > 0 && layout.stride[kTakeY][0] == 1 && layout.stride[kTakeX][0] == 1 &&
                        layout.stride[kTakeIndex][0] == 0 && !empty &&
                        a.walk.dim[0].size >= CopyLimits::kLeastRowAccesses &&
                        a.walk.dim[0].size < Limits::kPastRowAccesses;
  if (are_few(options, a.walk.count, has_rows)) {
    plan.kernel = take_kernel(TakeMode::few, unit);
    plan.block = kTakeFewBlock;
    plan.grid = static_cast<uint32_t>((a.walk.count + kTakeFewBlock - 1) / kTakeFewBlock);
    return plan;
  }
  plan.block = kTakeBlock;
  if (has_rows) {
    walk_over_rows(options, &plan, unit);
    return plan;
  }
  plan.grid = options.grid_for((a.walk.count + kTakeDepth - 1) / kTakeDepth, kTakeBlock);
  a.step = int64_t{plan.grid} * kTakeBlock * kTakeDepth;
  return plan;
}

void share_index(const hipops_tensor& y, int32_t dim, TakeArgs* args) {
  TakeSharedIndex& shared = args->shared;
  shared.length = y.shape[dim];
  shared.run = 1;
  for (int d = dim + 1; d < y.rank; ++d) shared.run *= y.shape[d];
  shared.run_divisor = wide_divisor_of(shared.run);
}

int64_t most_shared_of_take(int kernel, uint32_t block) {
  const bool stages = kTakeModes[kernel] == TakeMode::staged || kTakeModes[kernel] == TakeMode::large;
  return block == 0 && stages ? INT64_MAX : 0;
}

hipops_status launch_take(Op& op, const DeviceFacts& device, const TakePlan& plan, void* stream) {
  const LaunchShape shape = {plan.grid, plan.block, 1, plan.shared_bytes};
  return launch(op, device, plan.kernel, shape, &plan.args, sizeof plan.args, stream);
}

}  // namespace hipops
