// strided_copy, and copy2d, which is the same for two dimensions told by their pitch.
#include "strided_copy.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>

#include "copy_plan.h"
#include "error.h"
#include "kernel_names.h"
#include "overlap.h"
#include "runtime/runtime.h"
#include "strided.h"
#include "tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_STRIDED_COPY_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

enum Mode { any, rows, tile, square };

struct Variant {
  int bits;
  Mode mode;
};
#define VARIANT(name, bits, mode) {bits, mode},
constexpr Variant kVariants[] = {HIPOPS_STRIDED_COPY_KERNELS(VARIANT)};
#undef VARIANT

int kernel_of(int64_t unit, Mode mode) {
  int kernel = 0;
  while (kVariants[kernel].bits != unit * 8 || kVariants[kernel].mode != mode) ++kernel;
  return kernel;
}

constexpr int64_t kWideAccess = 16;

// A tile of a dimension that is shorter than this has more idle work-items than it spares accesses.
constexpr int64_t kLeastTiled = 16;

constexpr int64_t kMostTiles = int64_t{1} << 31;  // that divisors can tell

// What is to be copied, in units of `unit` bytes. Dimension 0 is innermost in y, whose strides ascend from there and
// are positive.
struct Copy {
  char* y;
  const char* x;
  int64_t unit;
  Layout<kCopyOperands> layout;
  int64_t head = 0, tail = 0;
};

uint64_t bits_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
uint64_t bits_of(int64_t bytes) { return static_cast<uint64_t>(bytes); }

// The dimensions in the order of y, each walked in the direction in which y ascends.
Copy ordered(const hipops_tensor& y, const hipops_tensor& x) {
  Copy copy{static_cast<char*>(y.data), static_cast<const char*>(x.data), dtype_bytes(x.dtype), {}};
  struct Dimension {
    int64_t size, stride[kCopyOperands];
  } dimension[kMaxRank];  // by stride in y
  int rank = 0;
  for (int d = 0; d < x.rank; ++d) {
    if (x.shape[d] == 1) continue;
    Dimension next{x.shape[d], {y.stride[d], x.stride[d]}};
    if (next.stride[kCopyY] < 0) {
      copy.y += next.stride[kCopyY] * (next.size - 1) * copy.unit;
      copy.x += next.stride[kCopyX] * (next.size - 1) * copy.unit;
      for (int64_t& stride : next.stride) stride = -stride;
    }
    int at = rank++;
    for (; at > 0 && dimension[at - 1].stride[kCopyY] > next.stride[kCopyY]; --at) dimension[at] = dimension[at - 1];
    dimension[at] = next;
  }
  for (int d = 0; d < rank; ++d) add_dimension(&copy.layout, dimension[d].size, dimension[d].stride);
  if (copy.layout.rank == 0) {
    copy.layout.rank = 1;
    copy.layout.size[0] = copy.layout.stride[kCopyY][0] = copy.layout.stride[kCopyX][0] = 1;
  }
  return copy;
}

// Without gaps and of any number of bytes: whole units from where y is aligned to them, and single bytes before and
// after.
void widen_run(Copy* copy) {
  int64_t bytes = copy->layout.size[0] * copy->unit;
  int64_t unit = widest_access(bits_of(copy->x) ^ bits_of(copy->y));  // alike in all lower bits
  int64_t head = static_cast<int64_t>((~bits_of(copy->y) + 1) % static_cast<uint64_t>(unit));
  if (head + unit > bytes) return;
  copy->unit = unit;
  copy->head = head;
  copy->layout.size[0] = (bytes - head) / unit;
  copy->tail = (bytes - head) % unit;
  copy->x += head;
  copy->y += head;
}

// Rows without gaps, of one length: the widest units that all of them are made of.
void widen_rows(Copy* copy) {
  Layout<kCopyOperands>& layout = copy->layout;
  uint64_t bits = bits_of(copy->x) | bits_of(copy->y) | bits_of(layout.size[0] * copy->unit);
  for (int d = 1; d < layout.rank; ++d)
    for (const auto& stride : layout.stride) bits |= bits_of(stride[d] * copy->unit);
  int64_t elements = widest_access(bits) / copy->unit;
  layout.size[0] /= elements;
  for (int d = 1; d < layout.rank; ++d)
    for (auto& stride : layout.stride) stride[d] /= elements;
  copy->unit *= elements;
  if (layout.size[0] > 1) return;
  // A row is one unit.
  --layout.rank;
  for (int d = 0; d < layout.rank; ++d) {
    layout.size[d] = layout.size[d + 1];
    for (auto& stride : layout.stride) stride[d] = stride[d + 1];
  }
}

// The dimension that is innermost in x; 0 where it is y's as well, and where x has none: it repeats there what it has.
int innermost_in_x(const Layout<kCopyOperands>& layout) {
  int innermost = 0;
  for (int d = 0; d < layout.rank; ++d) {
    int64_t stride = std::abs(layout.stride[kCopyX][d]);
    if (stride != 0 && stride < std::abs(layout.stride[kCopyX][innermost])) innermost = d;
  }
  return innermost;
}

// Whether lines may be read and written by 16 bytes along both.
bool allows_squares(const Copy& copy, int along) {
  const Layout<kCopyOperands>& layout = copy.layout;
  if (layout.stride[kCopyY][0] != 1 || layout.stride[kCopyX][along] != 1) return false;
  uint64_t bits =
      bits_of(copy.x) | bits_of(copy.y) | bits_of(layout.size[0] * copy.unit) | bits_of(layout.size[along] * copy.unit);
  for (int d = 0; d < layout.rank; ++d) {
    if (d != 0) bits |= bits_of(layout.stride[kCopyY][d] * copy.unit);
    if (d != along) bits |= bits_of(layout.stride[kCopyX][d] * copy.unit);
  }
  return widest_access(bits) == kWideAccess;
}

// The walk over tiles of dimensions 0 and `along`, for each place of the others.
Walk<kCopyOperands> walk_of_tiles(const Layout<kCopyOperands>& layout, int along, int64_t edge) {
  Layout<kCopyOperands> tiles;
  auto add = [&](int d, int64_t step) {
    tiles.size[tiles.rank] = (layout.size[d] + step - 1) / step;
    for (int k = 0; k < kCopyOperands; ++k) tiles.stride[k][tiles.rank] = layout.stride[k][d] * step;
    ++tiles.rank;
  };
  add(0, edge);
  add(along, edge);
  for (int d = 1; d < layout.rank; ++d)
    if (d != along) add(d, 1);
  return walk_of(tiles);
}

// The walk over squares of `edge` elements along dimension 0, for each place of all but `along`.
Walk<kCopyOperands> walk_of_squares(const Layout<kCopyOperands>& layout, int along, int64_t edge) {
  Layout<kCopyOperands> squares;
  for (int d = 0; d < layout.rank; ++d) {
    if (d == along) continue;
    const int64_t step = d == 0 ? edge : 1;
    add_dimension(&squares, layout.size[d] / step,
                  {layout.stride[kCopyY][d] * step, layout.stride[kCopyX][d] * step});
  }
  return walk_of(squares);
}

CopyPlan plan_any(const Copy& copy) {
  CopyPlan plan{kernel_of(copy.unit, any), 0, kCopyBlock, {}};
  plan.args.x = copy.x;
  plan.args.y = copy.y;
  plan.args.walk = walk_of(copy.layout);
  plan.args.head = static_cast<int32_t>(copy.head);
  plan.args.tail = static_cast<int32_t>(copy.tail);
  plan.grid = grid_for((plan.args.walk.count + kCopyDepth - 1) / kCopyDepth, kCopyBlock);
  plan.args.step = int64_t{plan.grid} * kCopyBlock * kCopyDepth;
  return plan;
}

// Rows shorter than this in units have too few to share among work-items; longer ones than this 32 bits do not count.
constexpr int64_t kLeastRow = 16, kLongestRow = int64_t{1} << 30;

CopyPlan plan_rows(const Copy& copy) {
  CopyPlan plan = {kernel_of(copy.unit, rows), 0, kCopyBlock, {}};
  StridedCopyArgs& args = plan.args;
  args.x = copy.x;
  args.y = copy.y;
  args.cols = copy.layout.size[0];
  Layout<kCopyOperands> outer;
  for (int k = 0; k < kCopyOperands; ++k) args.stride[k][0] = copy.layout.stride[k][0];
  for (int d = 1; d < copy.layout.rank; ++d)
    add_dimension(&outer, copy.layout.size[d], {copy.layout.stride[kCopyY][d], copy.layout.stride[kCopyX][d]});
  args.walk = walk_of(outer);
  const int64_t depth = copy.unit == kWideAccess ? kCopyDepth : kCopyElementsDepth;
  while (depth << args.lanes < args.cols && 1 << args.lanes < kCopyBlock) ++args.lanes;
  args.parts = (args.cols + (depth << args.lanes) - 1) / (depth << args.lanes);
  args.count = (args.walk.count * args.parts) << args.lanes;
  args.walk.small = args.walk.count * args.parts < int64_t{1} << 31;
  if (args.walk.small) args.parts_divisor = divisor_of(args.parts);
  plan.grid = grid_for(args.count, kCopyBlock);
  args.step = int64_t{plan.grid} * kCopyBlock;
  return plan;
}

// What is copied by tiles of dimensions 0 and `along`.
CopyPlan plan_of_two(const Copy& copy, int along, Mode mode) {
  CopyPlan plan{kernel_of(copy.unit, mode), 0, kCopyBlock, {}};
  plan.args.x = copy.x;
  plan.args.y = copy.y;
  const int dimension[] = {0, along};
  for (int i = 0; i < 2; ++i) {
    plan.args.size[i] = copy.layout.size[dimension[i]];
    for (int k = 0; k < kCopyOperands; ++k) plan.args.stride[k][i] = copy.layout.stride[k][dimension[i]];
  }
  return plan;
}

CopyPlan plan_tiles(const Copy& copy, int along) {
  CopyPlan plan = plan_of_two(copy, along, tile);
  plan.args.walk = walk_of_tiles(copy.layout, along, copy_tile_edge(static_cast<int>(copy.unit * 8)));
  plan.grid = grid_for(plan.args.walk.count * kCopyBlock, kCopyBlock);
  plan.args.step = plan.grid;
  return plan;
}

// Squares that a tile has across, as a power of 2: 16 of 256, or what leaves fewer work-items idle; at least 4 where
// there are as many, for they share lines.
int across_of(int64_t line) {
  auto padded = [&](int across) { return (((line - 1) >> across) + 1) << across; };
  int best = 4;
  for (int across = 3; across >= 0 && int64_t{1} << across >= std::min<int64_t>(line, 4); --across)
    if (padded(across) < padded(best)) best = across;
  return best;
}

CopyPlan plan_squares(const Copy& copy, int along) {
  const int64_t edge = kWideAccess / copy.unit;
  CopyPlan plan = plan_of_two(copy, along, square);
  StridedCopyArgs& args = plan.args;
  const int64_t first = args.size[0] / edge, line = args.size[1] / edge;
  args.walk = walk_of_squares(copy.layout, along, edge);
  args.line = static_cast<int32_t>(line);
  args.across = across_of(line);
  const int64_t in_tile = kCopyBlock >> args.across, tiles = (args.walk.count + in_tile - 1) / in_tile;
  args.size[0] = std::max<int64_t>(first / in_tile, 1);
  args.size[1] = ((line - 1) >> args.across) + 1;
  args.tiles = (tiles + args.size[0] - 1) / args.size[0] * args.size[0] * args.size[1];
  if (args.tiles >= kMostTiles) return plan;
  for (int i = 0; i < 2; ++i) args.divisor[i] = divisor_of(args.size[i]);
  plan.grid = grid_for(args.tiles * kCopyBlock, kCopyBlock);
  args.step = plan.grid;
  return plan;
}

hipops_status check(const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{"strided_copy", "y", y}, in{"strided_copy", "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, in)) return status;
  return check_overlap(out, in, false);
}

hipops_status check_shape(hipops_dtype dtype, int64_t rows, int64_t cols, int64_t y_stride) {
  if (dtype_bytes(dtype) == 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: dtype is %d, expected a hipops_dtype from %d (f32) to %d (u64)",
                static_cast<int>(dtype), HIPOPS_F32, HIPOPS_U64);
  if (rows < 0) return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: rows is %" PRId64 ", expected 0 or more", rows);
  if (cols < 0) return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: cols is %" PRId64 ", expected 0 or more", cols);
  if (rows > 1 && y_stride < cols)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: y_stride is %" PRId64 ", expected %" PRId64 " (cols) or more",
                y_stride, cols);
  return HIPOPS_SUCCESS;
}

// One of copy2d's pointers, as a tensor.
hipops_status check_memory(const char* name, const hipops_tensor& t) {
  ByteRange range;
  if (!byte_range(t, &range))
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: rows, cols and %s_stride reach outside the address space from %s",
                name, name);
  if (!t.data)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "copy2d: %s is NULL, expected memory of %" PRId64 " rows of %" PRId64 " elements", name, t.shape[0],
                t.shape[1]);
  if (bits_of(t.data) % static_cast<uint64_t>(dtype_bytes(t.dtype)) != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: %s is %p, expected a multiple of %d (an element of %s)", name, t.data,
                dtype_bytes(t.dtype), dtype_name(t.dtype));
  return HIPOPS_SUCCESS;
}

bool supports(hipops_dtype dtype, hipops_dtype second) { return dtype_bytes(dtype) != 0 && second == HIPOPS_NONE; }

}  // namespace

CopyPlan plan_copy(const hipops_tensor& y, const hipops_tensor& x) {
  Copy copy = ordered(y, x);
  if (copy.layout.stride[kCopyY][0] == 1 && copy.layout.stride[kCopyX][0] == 1)
    copy.layout.rank == 1 ? widen_run(&copy) : widen_rows(&copy);
  const Layout<kCopyOperands>& layout = copy.layout;
  int along = innermost_in_x(layout);
  if (along != 0 && copy.unit < kWideAccess) {
    if (allows_squares(copy, along) && layout.size[along] < kMostTiles) {
      CopyPlan plan = plan_squares(copy, along);
      if (plan.args.tiles < kMostTiles) return plan;
    }
    if (layout.size[0] >= kLeastTiled && layout.size[along] >= kLeastTiled) {
      CopyPlan plan = plan_tiles(copy, along);
      if (plan.args.walk.small) return plan;
    }
  }
  if (layout.rank > 1 && layout.size[0] >= kLeastRow && layout.size[0] < kLongestRow) return plan_rows(copy);
  return plan_any(copy);
}

Op op_strided_copy = {"strided_copy", kKernels, kKernelCount, supports};

}  // namespace hipops

namespace {

hipops_status copy(const hipops_tensor& y, const hipops_tensor& x, void* stream) {
  hipops::CopyPlan plan = hipops::plan_copy(y, x);
  return hipops::launch(hipops::op_strided_copy, plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args,
                        stream);
}

}  // namespace

hipops_status hipops_strided_copy(const hipops_tensor* y, const hipops_tensor* x, void* stream) {
  if (hipops_status status = hipops::check(y, x)) return status;
  if (hipops::element_count(*x) == 0) return HIPOPS_SUCCESS;
  return copy(*y, *x, stream);
}

hipops_status hipops_copy2d(void* y, const void* x, hipops_dtype dtype, int64_t rows, int64_t cols, int64_t y_stride,
                            int64_t x_stride, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_shape(dtype, rows, cols, y_stride)) return status;
  if (rows == 0 || cols == 0) return HIPOPS_SUCCESS;
  hipops_tensor out{y, dtype, 2, {rows, cols}, {y_stride, 1}},
      in{const_cast<void*>(x), dtype, 2, {rows, cols}, {x_stride, 1}};
  if (hipops_status status = check_memory("y", out)) return status;
  if (hipops_status status = check_memory("x", in)) return status;
  if (hipops_status status = check_overlap({"copy2d", "y", &out}, {"copy2d", "x", &in}, false)) return status;
  return copy(out, in, stream);
}
