#include "cumsum.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>

#include "index/indices.h"
#include "kernel_names.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {

extern Op op_cumsum;

namespace {

constexpr const char* kName = "cumsum";
constexpr const char* kKernels[] = {HIPOPS_CUMSUM_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

enum Mode { lines, columns };
struct Variant {
  hipops_dtype dtype;
  Mode mode;
};
#define VARIANT(name, dtype, T, mode) {dtype, mode},
constexpr Variant kVariants[] = {HIPOPS_CUMSUM_KERNELS(VARIANT)};
#undef VARIANT

bool is_integer(hipops_dtype dtype) {
  return dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}
bool supports(hipops_dtype dtype, hipops_dtype second) {
  return second == HIPOPS_NONE && (is_float(dtype) || is_integer(dtype));
}

// Signed and unsigned integers have the same kernels.
Variant variant_of(hipops_dtype dtype, Mode mode) {
  if (dtype == HIPOPS_I64 || (is_integer(dtype) && mode == columns)) dtype = u64;
  return {dtype == HIPOPS_I32 ? u32 : dtype, mode};
}

struct Tensors {
  Argument y, x;
  int32_t dim;
};

// The checks that use no address. hipops_cumsum_workspace_bytes makes them, too.
hipops_status check(const Tensors& t) {
  if (hipops_status status = check_output(t.y)) return status;
  if (hipops_status status = check_tensor(t.x)) return status;
  const hipops_dtype dtype = t.x.tensor->dtype;
  if (!supports(dtype, HIPOPS_NONE))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "cumsum: x.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64",
                dtype_name(dtype));
  if (hipops_status status = check_rank(t.x, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_dim(kName, t.dim, t.x)) return status;
  if (!is_integer(dtype) || dtype == HIPOPS_I64) {
    if (hipops_status status = check_same_dtype(t.y, t.x)) return status;
  } else if (t.y.tensor->dtype != dtype && t.y.tensor->dtype != HIPOPS_I64) {
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "cumsum: y.dtype is %s, expected %s (x.dtype) or i64",
                dtype_name(t.y.tensor->dtype), dtype_name(dtype));
  }
  return check_same_shape(t.y, t.x);
}

int64_t power_up(int64_t n) { return int64_t{1} << log2_up(n); }

// The lines of a call. Chunks follow from their length alone, so that no device changes the order of sums.
struct Lines {
  Layout<kCumsumOperands> layout;  // of the other dimensions, sorted by x's strides
  int64_t length, x_step, y_step, count;
  int64_t vector, y_vector;       // elements of x that are an access; of y that begin at a multiple of 16 bytes
  bool are_contiguous, are_whole, x_is_aligned, are_neighbours;
  int64_t chunk, chunks, sum_bytes;

  int64_t stored_bytes() const {
    const int64_t most = are_contiguous ? CumsumLimits::kMostSplitLines : CumsumLimits::kMostSplitColumns;
    return chunks == 1 || count >= most ? 0 : chunks * count * sum_bytes;
  }
};

Lines lines_of(const Tensors& t) {
  using L = CumsumLimits;
  const hipops_tensor &x = *t.x.tensor, &y = *t.y.tensor;
  const int64_t x_bytes = dtype_bytes(x.dtype), y_bytes = dtype_bytes(y.dtype);
  Lines l{};
  l.length = x.shape[t.dim];
  l.x_step = step_of(x, t.dim);
  l.y_step = step_of(y, t.dim);
  l.vector = cumsum_vector(static_cast<int>(x_bytes));
  l.y_vector = std::min(l.vector, kWideAccess / y_bytes);
  l.sum_bytes = x.dtype == HIPOPS_F64 ? 16 : 8;

  int order[HIPOPS_MAX_RANK], rank = 0;
  for (int d = x.rank; d-- > 0;)
    if (d != t.dim) order[rank++] = d;
  std::stable_sort(order, order + rank,
                   [&](int a, int b) { return std::llabs(step_of(x, a)) < std::llabs(step_of(x, b)); });
  l.count = 1;
  for (int i = 0; i < rank; ++i) {
    add_dimension(&l.layout, x.shape[order[i]], {y.stride[order[i]], x.stride[order[i]]});
    l.count *= x.shape[order[i]];
  }

  // Numbers that must be multiples of a vector: of x, of y, and of y less x.
  const int64_t x_first = static_cast<int64_t>(bits_of(x.data)) / x_bytes, y_first = static_cast<int64_t>(bits_of(y.data)) / y_bytes;
  int64_t in_x = x_first, in_y = y_first, apart = y_first - x_first;
  bool neighbours = l.layout.rank > 0;
  for (int k = 0; k < kCumsumOperands && neighbours; ++k) neighbours = l.layout.stride[k][0] == 1;
  for (int i = neighbours ? 1 : 0; i < l.layout.rank; ++i) {
    in_x |= l.layout.stride[kCumsumX][i];
    in_y |= l.layout.stride[kCumsumY][i];
    apart |= l.layout.stride[kCumsumY][i] - l.layout.stride[kCumsumX][i];
  }
  const auto are_multiples = [&](int64_t x_bits, int64_t y_bits, int64_t size) {
    return ((x_bits | size) & (l.vector - 1)) == 0 && (y_bits & (l.y_vector - 1)) == 0;
  };
  l.are_neighbours = neighbours && are_multiples(in_x | l.x_step, in_y | l.y_step, l.layout.size[0]);
  l.are_whole = !neighbours && are_multiples(in_x, in_y, l.length);
  l.x_is_aligned = l.are_whole || (!neighbours && (apart & (l.vector - 1)) == 0);
  l.are_contiguous = l.x_step == 1 && l.y_step == 1 && (l.are_whole || l.length >= L::kLeastVectors * l.vector);

  if (l.are_contiguous) {
    const int64_t tile = int64_t{kCumsumBlock} * kCumsumDepth * l.vector;
    const int64_t tiles = divided_up(l.length + l.vector - 1, tile);  // at any alignment
    l.chunk = tile * divided_up(tiles, L::kMostChunks);
    l.chunks = divided_up(l.length + l.vector - 1, l.chunk);
  } else {
    const int64_t least = std::max(divided_up(l.length, L::kMostColumnChunks), L::kLeastChunkRows);
    l.chunk = divided_up(least, kCumsumRows) * kCumsumRows;
    l.chunks = divided_up(l.length, l.chunk);
  }
  return l;
}

// How a launch divides lines: units, which are all chunks of some lines, or one of `chunks` chunks.
void plan_lines(const Lines& l, const DeviceNumbers& device, CumsumArgs* a, int64_t chunks) {
  a->parts = chunks;
  a->parts_divisor = wide_divisor_of(chunks);
  a->units = l.count * chunks;
  const int64_t vectors = divided_up(l.length + (l.are_whole ? 0 : l.vector - 1), l.vector);
  // Up to 64 vectors are 32 lanes with two, more are steps of 32 lanes with four. A chunk has all lanes of a block.
  a->is_short = vectors <= 2 * kCumsumLanes;
  a->has_pairs = a->is_short && vectors > kCumsumLanes;
  int64_t lanes = std::min<int64_t>(a->is_short ? power_up(vectors) : kCumsumLanes, kCumsumLanes);
  if (!a->is_short) {
    // The steps that a device needs one after another. More lanes have barriers, so they must save more than an eighth.
    const int64_t steps = divided_up(vectors, kCumsumLanes * kCumsumDepth);
    const int64_t together = CumsumLimits::kBlocksAUnit * device.units * kCumsumBlock;
    const auto time = [&](int64_t n) { return divided_up(l.count * n, together) * divided_up(steps, n / kCumsumLanes); };
    for (int64_t more = 2 * lanes; more <= kCumsumBlock; more *= 2)
      if (a->sums || 8 * time(more) < 7 * time(lanes)) lanes = more;
  }
  a->lanes = static_cast<int32_t>(lanes);
  a->rows = kCumsumBlock / a->lanes;
  const int64_t deep = kCumsumDepth / (a->has_pairs ? 2 : 1);
  a->deep = a->is_short && l.count >= CumsumLimits::kBlocksAUnit * device.units * a->rows * deep ? deep : 1;
  a->rows *= a->deep;
}
void plan_columns(const Lines& l, const DeviceNumbers& device, CumsumArgs* a, int64_t chunks) {
  using L = CumsumLimits;
  const int64_t vector = l.are_neighbours ? l.vector : 1, vectors = l.count / vector;
  const int64_t least = l.are_neighbours ? L::kLeastWideLanes : L::kLeastLanes;
  const int64_t most = std::min<int64_t>(kCumsumBlock, kCumsumColumns / vector);
  // More groups of lanes than this have no elements.
  const int64_t groups = power_up(divided_up(std::min(l.length, l.chunk), kCumsumRows));
  const int64_t fewest = std::clamp(kCumsumBlock / groups, least, most);
  int64_t lanes = std::clamp(power_up(vectors), fewest, most);
  while (lanes > fewest && divided_up(vectors, lanes) * chunks < device.units) lanes /= 2;
  a->result_bits = log2_up(lanes);
  a->is_wide = l.are_neighbours;
  a->tiles = divided_up(vectors, lanes);
  a->tiles_divisor = wide_divisor_of(a->tiles);
  a->units = a->tiles * chunks;
  a->rows = 1;
}

hipops_status launch_cumsum(const Tensors& t, const Lines& l, const DeviceFacts& device, void* workspace, void* stream) {
  const PlanOptions options = plan_options();
  const hipops_tensor &x = *t.x.tensor, &y = *t.y.tensor;
  CumsumArgs args{};
  args.x = x.data;
  args.y = y.data;
  args.lines = walk_of(l.layout, l.are_contiguous || !l.are_neighbours ? 1 : l.vector);
  args.length = l.length;
  args.x_step = l.x_step;
  args.y_step = l.y_step;
  args.chunk = l.chunk;
  args.chunks = l.chunks;
  args.line_step = l.are_contiguous ? l.chunks : 1;
  args.chunk_step = l.are_contiguous ? 1 : l.count;
  args.sign = x.dtype == HIPOPS_I32 ? uint64_t{1} << 31 : 0;
  args.is_widened = y.dtype != x.dtype;
  args.bytes = dtype_bytes(x.dtype);
  args.are_whole = l.are_whole;
  args.x_is_aligned = l.x_is_aligned;

  const auto plan = l.are_contiguous ? plan_lines : plan_columns;
  plan(l, device, &args, 1);
  const bool are_few = l.are_contiguous ? l.count < device.units : args.units < device.units;
  const bool is_split = workspace && l.stored_bytes() != 0 && are_few;
  if (is_split) args.sums = workspace;
  const Variant wanted = variant_of(x.dtype, l.are_contiguous ? lines : columns);
  const int kernel = place_of(kVariants, [&](const Variant& v) { return v.dtype == wanted.dtype && v.mode == wanted.mode; });
  for (const bool only_sums : {true, false}) {
    if (only_sums && !is_split) continue;
    args.only_sums = only_sums;
    plan(l, device, &args, !is_split ? 1 : only_sums ? l.chunks - 1 : l.chunks);  // no result needs the last chunk's sum
    const uint32_t grid = options.grid_for(divided_up(args.units, args.rows) * kCumsumBlock, kCumsumBlock);
    args.step = int64_t{grid} * args.rows;
    if (hipops_status status =
            launch(op_cumsum, device, kernel, {grid, kCumsumBlock}, &args, sizeof args, stream))
      return status;
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

Op op_cumsum = {kName, kKernels, kKernelCount, supports};

}  // namespace hipops

hipops_status hipops_cumsum(const hipops_tensor* y, const hipops_tensor* x, int32_t dim, void* workspace,
                            int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const Tensors t{{kName, "y", y}, {kName, "x", x}, dim};
  if (hipops_status status = check(t)) return status;
  if (hipops_status status = check_overlap(t.y, t.x, kInPlace)) return status;
  const bool is_nothing = is_empty(*x);
  const Lines l = is_nothing ? Lines{} : lines_of(t);
  const int64_t needed = is_nothing ? 0 : l.stored_bytes();
  if (hipops_status status = check_workspace(kName, workspace, workspace_bytes, needed, {t.y, t.x})) return status;
  if (is_nothing) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_cumsum, &device)) return status;
  return launch_cumsum(t, l, *device, workspace, stream);
}

hipops_status hipops_cumsum_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x, int32_t dim, int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[2];
  const Tensors t{{kName, "y", without_data(y, &copy[0])}, {kName, "x", without_data(x, &copy[1])}, dim};
  if (hipops_status status = check(t)) return status;
  if (hipops_status status = check_bytes(kName, bytes)) return status;
  *bytes = is_empty(*x) ? 0 : lines_of(t).stored_bytes();
  return HIPOPS_SUCCESS;
}
