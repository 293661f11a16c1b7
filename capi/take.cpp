#include "take.h"

#include <algorithm>

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

int log2_up(int64_t n) {
  int log2 = 0;
  while (int64_t{1} << log2 < n) ++log2;
  return log2;
}

// Rows of x are staged where they fit, and where y takes so much of each that it would be read anyway. Short ones the
// caches serve as well: those gain only where the index and y go by vectors, and more is taken.
constexpr int64_t kShortRow = 512;    // bytes of x's row, that it has less of
constexpr int64_t kLeastStaged = 32;  // bytes of x's row: wherever it begins, it has a vector for StagedRows to load
constexpr int64_t kStagedShare = 8, kShortShare = 4;  // bytes of x's row for which there is an element of y at least
constexpr int64_t kStagedElements = 8192;             // of y, that a block is after: what it has in flight
constexpr int64_t kLeastStagedElements = 1024, kLeastStagedGroups = 64;
constexpr int64_t kLeastShortElements = 1 << 20;      // of y
constexpr int kMostShortBytes = 4;                    // of an element

bool is_short_row(const hipops_tensor& x, int32_t dim) { return x.shape[dim] * dtype_bytes(x.dtype) < kShortRow; }

bool allows_staged(const hipops_tensor& y, const hipops_tensor& x, const int64_t (&index_stride)[HIPOPS_MAX_RANK],
                   int32_t dim) {
  const int64_t bytes = x.shape[dim] * dtype_bytes(x.dtype), cols = y.shape[dim];
  if (dim != y.rank - 1 || y.stride[dim] != 1 || x.stride[dim] != 1 || index_stride[dim] != 1) return false;
  if (bytes < kLeastStaged || bytes > kStagedBytes || cols >= (1 << 29)) return false;
  if (!is_short_row(x, dim)) return cols * kStagedShare >= bytes;
  return cols * kShortShare >= bytes && dtype_bytes(x.dtype) <= kMostShortBytes &&
         element_count(y) >= kLeastShortElements;
}

// Whether every row of y, and of the index, begins where a vector of kStagedVector elements may.
bool allows_vectors(const Layout<kTakeOperands>& rows, const hipops_tensor& y, const hipops_tensor& index,
                    int64_t cols) {
  auto bytes = [](int64_t n) { return static_cast<uint64_t>(n); };
  const int64_t y_bytes = dtype_bytes(y.dtype), index_bytes = dtype_bytes(index.dtype);
  uint64_t y_bits = reinterpret_cast<uintptr_t>(y.data), index_bits = reinterpret_cast<uintptr_t>(index.data);
  for (int d = 0; d < rows.rank; ++d) {
    y_bits |= bytes(rows.stride[kTakeY][d] * y_bytes);
    index_bits |= bytes(rows.stride[kTakeIndex][d] * index_bytes);
  }
  return cols % kStagedVector == 0 && widest_access(y_bits) >= std::min<int64_t>(16, kStagedVector * y_bytes) &&
         widest_access(index_bits) >= std::min<int64_t>(16, kStagedVector * index_bytes);
}

// Rows that are staged together: as they lie in x, and so that none of a group is in another place of the outer
// dimensions.
int32_t staged_group(const Layout<kTakeOperands>& rows, const hipops_tensor& x, int64_t size, int64_t cols) {
  if (rows.rank == 0 || rows.stride[kTakeX][0] != size) return 1;
  int64_t group = std::min(kStagedBytes / (size * dtype_bytes(x.dtype)), (kStagedElements + cols - 1) / cols);
  while (group > 1 && rows.rank > 1 && rows.size[0] % group != 0) --group;
  return static_cast<int32_t>(std::min(group, rows.size[0]));
}

// Whether staging is worth while is in the plan's block: it is 0 if not.
TakePlan plan_staged(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                     const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim, hipops_index_report* report) {
  Layout<kTakeOperands> rows;
  for (int d = dim - 1; d >= 0; --d) add_dimension(&rows, y.shape[d], {y.stride[d], x.stride[d], index_stride[d]});
  TakePlan plan{};
  TakeArgs& a = plan.args;
  a.walk = walk_of(rows);
  a.index = index_args(index, x.shape[dim], report);
  a.x = x.data;
  a.y = y.data;
  a.vector = 1;
  a.cols = y.shape[dim];
  a.cols_divisor = divisor_of(a.cols);
  a.vectors = allows_vectors(rows, y, index, a.cols);
  const bool is_short = is_short_row(x, dim);
  if (is_short && !a.vectors) return plan;
  a.group = staged_group(rows, x, x.shape[dim], a.cols);
  plan.kernel = kTakeFirstStaged + log2_up(dtype_bytes(y.dtype));
  const int64_t groups = (a.walk.count + a.group - 1) / a.group;
  const int64_t least = is_short ? kStagedElements / 2 : kLeastStagedElements;
  if (a.group * a.cols >= least && groups >= kLeastStagedGroups) plan.block = kStagedBlock;
  plan.grid = grid_for(groups * kStagedBlock, kStagedBlock);
  a.step = int64_t{plan.grid} * a.group;
  return plan;
}

// Rows shorter than this in units have too few to share among work-items.
constexpr int64_t kLeastRow = 16;
constexpr int64_t kLongestRow = int64_t{1} << 30;  // what 32 bits count
constexpr int64_t kLeastShifted = 256;             // bytes

// Turns a walk over units of so many bytes into one over rows.
void walk_over_rows(TakePlan* plan, int64_t unit) {
  TakeArgs& a = plan->args;
  Walk<kTakeOperands>& walk = a.walk;
  a.cols = walk.dim[0].size;
  walk.count /= a.cols;
  if (walk.rank == 1) {
    walk.dim[0].size = 1;
  } else {
    --walk.rank;
    for (int d = 0; d < walk.rank; ++d) walk.dim[d] = walk.dim[d + 1];
  }
  const bool shifted = unit < 8 && a.cols * unit >= kLeastShifted;
  const int64_t depth = shifted ? kShiftedDepth : unit == 16 ? kTakeRowsDepth : kTakeElementsDepth;
  const int64_t pieces = shifted ? shifted_pieces(a.cols, unit) : a.cols;
  a.lanes = shifted ? shifted_lanes(pieces) : std::min(log2_up((pieces + depth - 1) / depth), log2_up(kTakeBlock));
  a.parts = (pieces + (depth << a.lanes) - 1) / (depth << a.lanes);
  a.count = (walk.count * a.parts) << a.lanes;
  walk.small = walk.count * a.parts < int64_t{1} << 31;
  find_divisors(&walk);
  a.parts_divisor = divisor_of(a.parts);
  a.wide_parts_divisor = wide_divisor_of(a.parts);
  plan->kernel += shifted ? kTakeFirstShifted : kTakeFirstRows;
  plan->grid = grid_for(a.count, kTakeBlock);
  a.step = int64_t{plan->grid} * kTakeBlock;
}

}  // namespace

TakePlan plan_take(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                   const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim, hipops_index_report* report) {
  if (allows_staged(y, x, index_stride, dim)) {
    TakePlan plan = plan_staged(y, x, index, index_stride, dim, report);
    if (plan.block != 0) return plan;
  }
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
    a.walk.dim[d].stride[kTakeY] /= a.vector;
    a.walk.dim[d].stride[kTakeX] /= a.vector;
  }
  a.x_step = x_step / a.vector;
  a.index = index_args(index, x.shape[dim], report);
  a.x = empty ? y.data : x.data;
  a.y = y.data;

  plan.kernel = log2_up(unit);
  plan.block = kTakeBlock;
  const bool has_rows = layout.rank > 0 && layout.stride[kTakeY][0] == 1 && layout.stride[kTakeX][0] == 1 &&
                        layout.stride[kTakeIndex][0] == 0 && !empty;
  if (has_rows && a.walk.dim[0].size >= kLeastRow && a.walk.dim[0].size < kLongestRow) {
    walk_over_rows(&plan, unit);
    return plan;
  }
  plan.grid = grid_for((a.walk.count + kTakeDepth - 1) / kTakeDepth, kTakeBlock);
  a.step = int64_t{plan.grid} * kTakeBlock * kTakeDepth;
  return plan;
}

void share_index(const hipops_tensor& y, int32_t dim, TakeArgs* args) {
  args->length = y.shape[dim];
  args->run = 1;
  for (int d = dim + 1; d < y.rank; ++d) args->run *= y.shape[d];
  args->run_divisor = wide_divisor_of(args->run);
}

bool take_op_supports(hipops_dtype dtype, hipops_dtype index) {
  return dtype_bytes(dtype) != 0 && index_op_supports_second(index);
}

}  // namespace hipops
