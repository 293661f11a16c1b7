#include "take.h"

#include "indices.h"
#include "strided.h"
#include "tensor.h"

namespace hipops {
namespace {

// Bytes that can be moved as one: an element's, or more where the innermost dimension is contiguous in y and x, has one
// index, and all addresses and steps are multiples of that.
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

}  // namespace

TakePlan plan_take(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                   const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim, hipops_index_report* report) {
  // An x without elements has none that could be loaded and dropped, as the kernel does where an index means nothing: y
  // stands in for it.
  const bool empty = x.shape[dim] == 0;
  Layout<kTakeOperands> layout;
  for (int d = y.rank - 1; d >= 0; --d) {
    const int64_t x_stride = empty ? y.stride[d] : d == dim ? 0 : x.stride[d];
    add_dimension(&layout, y.shape[d], {y.stride[d], x_stride, index_stride[d]});
  }

  TakePlan plan{};
  TakeArgs& a = plan.args;
  const int64_t x_step = x.shape[dim] > 1 ? x.stride[dim] : 0;
  const int64_t unit = empty ? dtype_bytes(y.dtype) : unit_bytes(layout, y, x, x_step);
  a.vector = unit / dtype_bytes(y.dtype);
  a.walk = walk_of(layout, a.vector);
  for (int d = 0; d < a.walk.rank; ++d) {
    a.walk.stride[kTakeY][d] /= a.vector;
    a.walk.stride[kTakeX][d] /= a.vector;
  }
  a.x_step = x_step / a.vector;
  a.index = index_args(index, x.shape[dim], report);
  a.x = empty ? y.data : x.data;
  a.y = y.data;

  plan.kernel = 0;
  while (int64_t{1} << plan.kernel < unit) ++plan.kernel;
  plan.grid = grid_for((a.walk.count + kTakeDepth - 1) / kTakeDepth, kTakeBlock);
  a.step = int64_t{plan.grid} * kTakeBlock * kTakeDepth;
  return plan;
}

bool take_op_supports(hipops_dtype dtype, hipops_dtype index) {
  return dtype_bytes(dtype) != 0 && index_op_supports_second(index);
}

}  // namespace hipops
