#include "rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "error.h"
#include "tensor.h"

namespace hipops {
namespace {

// The names that the variant lists use, as host constants.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;

constexpr int kWideBytes = 16;  // the widest access there is

constexpr int bytes_of(hipops_dtype dtype) { return dtype == f64 ? 8 : dtype == f32 ? 4 : 2; }

constexpr RowVariant variant(hipops_dtype dtype, int threads, int vectors, int block, RowAccess access, RowMode mode) {
  int length = access == any || access == staged ? 1 : kWideBytes / bytes_of(dtype);
  int64_t longest = int64_t{threads} * vectors * length;
  if (access == edged) longest += length - 1;  // those are never all in vectors
  return {dtype, threads, vectors, block, access, mode == streaming, length, mode == streaming ? INT64_MAX : longest};
}

// Blocks that a launch may have: work-items stay under 2^32 with 1024 a block. Larger work loops over rows.
constexpr int64_t kMostBlocks = int64_t{1} << 21;

bool is_whole(int64_t bytes) { return bytes % kWideBytes == 0; }
bool is_aligned(const hipops_tensor& t) { return reinterpret_cast<uintptr_t>(t.data) % kWideBytes == 0; }
bool has_no_gaps(const hipops_tensor* weights) { return !weights || weights->shape[0] <= 1 || weights->stride[0] == 1; }

}  // namespace

#define VARIANT(name, dtype, threads, vectors, block, access, mode) \
  variant(dtype, threads, vectors, block, access, mode),
constexpr RowVariant row_variants[kRowVariants] = {HIPOPS_ROW_KERNELS(VARIANT, )};
#undef VARIANT

namespace {

// The variants of a float dtype, which are neighbours; found when compiled, as this is on every call's way.
struct Variants {
  int first = 0, end = 0;
  int64_t longest_staged = 0;

  constexpr explicit Variants(hipops_dtype dtype) {
    while (row_variants[first].dtype != dtype) ++first;
    for (end = first; end < kRowVariants && row_variants[end].dtype == dtype; ++end)
      if (row_variants[end].access == staged) longest_staged = row_variants[end].longest;
  }
};

const Variants& variants_of(hipops_dtype dtype) {
  static constexpr Variants in_f32{f32}, in_f16{f16}, in_bf16{bf16}, in_f64{f64};
  return dtype == f32 ? in_f32 : dtype == f16 ? in_f16 : dtype == bf16 ? in_bf16 : in_f64;
}

}  // namespace

hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (!is_float(x->dtype))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected f32, f16, bf16 or f64", op,
                dtype_name(x->dtype));
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, in)) return status;
  return check_overlap(out, in, true);
}

hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y) {
  if (!weights) return HIPOPS_SUCCESS;
  Argument a{op, name, weights};
  if (hipops_status status = check_tensor(a)) return status;
  if (hipops_status status = check_rank(a, 1, 1)) return status;
  if (weights->dtype != x.dtype && weights->dtype != HIPOPS_F32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s (x.dtype)%s", op, name,
                dtype_name(weights->dtype), dtype_name(x.dtype), x.dtype == HIPOPS_F32 ? "" : " or f32");
  int last = x.rank - 1;
  if (weights->shape[0] != x.shape[last])
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[0] is %lld, expected %lld (x.shape[%d])", op, name,
                static_cast<long long>(weights->shape[0]), static_cast<long long>(x.shape[last]), last);
  return check_overlap({op, "y", &y}, a, false);
}

hipops_status check_eps(const char* op, double eps) {
  if (std::isfinite(eps) && eps >= 0) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: eps is %g, expected a finite number of 0 or more", op, eps);
}

RowGeometry row_geometry(const hipops_tensor& y, const hipops_tensor& x) {
  RowGeometry g{};
  int last = x.rank - 1;
  g.cols = x.shape[last];
  g.x_stride = x.stride[last];
  g.y_stride = y.stride[last];
  g.rows = 1;
  // From the innermost outer dimension out; one that continues the steps of the one before, in x and in y, is merged
  // with it.
  for (int d = last - 1; d >= 0; --d) {
    if (x.shape[d] == 1) continue;
    g.rows *= x.shape[d];
    int n = g.outer_rank;
    if (n > 0 && x.stride[d] == g.outer_x_stride[n - 1] * g.outer_size[n - 1] &&
        y.stride[d] == g.outer_y_stride[n - 1] * g.outer_size[n - 1]) {
      g.outer_size[n - 1] *= x.shape[d];
      continue;
    }
    g.outer_size[n] = x.shape[d];
    g.outer_x_stride[n] = x.stride[d];
    g.outer_y_stride[n] = y.stride[d];
    ++g.outer_rank;
  }
  if (g.outer_rank == 0) g.outer_size[0] = 1, g.outer_rank = 1;
  return g;
}

RowAccess row_access(const hipops_tensor& y, const hipops_tensor& x, const RowGeometry& g, const hipops_tensor* weight,
                     const hipops_tensor* bias) {
  if (g.cols > 1 && (g.x_stride != 1 || g.y_stride != 1)) return any;
  int64_t bytes = dtype_bytes(x.dtype);
  bool whole = is_whole(g.cols * bytes) && is_aligned(x) && is_aligned(y);
  for (int d = 0; d < g.outer_rank && whole; ++d)
    whole = is_whole(g.outer_x_stride[d] * bytes) && is_whole(g.outer_y_stride[d] * bytes);
  bool weights_without_gaps = has_no_gaps(weight) && has_no_gaps(bias);
  if (whole && weights_without_gaps && (!weight || is_aligned(*weight)) && (!bias || is_aligned(*bias))) return wide;
  bool one_piece =
      g.outer_rank == 1 && (g.rows == 1 || (g.outer_x_stride[0] == g.cols && g.outer_y_stride[0] == g.cols));
  if (one_piece && g.cols <= variants_of(x.dtype).longest_staged) return staged;
  return x.dtype == HIPOPS_F64 || !weights_without_gaps ? any : edged;
}

namespace {

bool shares_blocks(const RowVariant& v) { return v.threads < v.block; }

// Work-items of a block of the variant for rows of so many columns; 0 where they do not fit.
int threads_of(const RowVariant& v, int64_t cols, int wave) {
  if (cols > v.longest) return 0;
  if (v.streaming || shares_blocks(v)) return v.block;
  int64_t vectors = v.access == edged ? std::max<int64_t>(cols / v.length, 1) : (cols + v.length - 1) / v.length;
  int64_t waves = ((vectors + v.vectors - 1) / v.vectors + wave - 1) / wave;
  return static_cast<int>(waves * wave);
}

// Of the variants whose blocks have one row each, the one of least cost is taken. Where there are rows for all units,
// many vectors a work-item are best, as long as few work-items idle. Where there are not, a row's own time counts,
// which two are best for.
double cost_of(const RowVariant& v, int64_t cols, int threads, bool few_rows) {
  if (v.streaming) return HUGE_VAL;
  if (few_rows) return std::abs(v.vectors - 2);
  constexpr double kFewIdle = 1.125;
  return std::max(static_cast<double>(threads) * v.vectors * v.length / static_cast<double>(cols), kFewIdle);
}

int choose(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceFacts& device) {
  int best = -1;
  double lowest = HUGE_VAL;
  const Variants& variants = variants_of(dtype);
  for (int i = variants.first; i < variants.end; ++i) {
    const RowVariant& v = row_variants[i];
    if (v.access != access) continue;
    int threads = threads_of(v, geometry.cols, device.wave_size);
    if (threads == 0) continue;
    if (shares_blocks(v)) return i;  // the first that holds the row
    double cost = cost_of(v, geometry.cols, threads, geometry.rows <= device.units);
    if (best < 0 || cost < lowest) best = i, lowest = cost;
  }
  return best;
}

// Blocks that go over many rows, as many as run at a time: see for_each_row_ahead; and staged ones, so that they load
// their weights once.
int64_t most_blocks(const RowVariant& v, int threads, const DeviceFacts& device, RowsAhead ahead) {
  constexpr int kSmallestWave = 32, kMostWaves = 64;
  if (v.streaming) return kMostBlocks;
  int resident = v.access == staged             ? kMostWaves * kSmallestWave
                 : ahead != nullptr && ahead(v) ? resident_threads(v.vectors) * (device.wave_size / kSmallestWave)
                                                : 0;
  return resident == 0 ? kMostBlocks : int64_t{device.units} * std::max(resident / threads, 1);
}

}  // namespace

std::atomic<int> forced_row_kernel{-1};

RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceFacts& device,
                  RowsAhead ahead) {
  int kernel = forced_row_kernel.load(std::memory_order_relaxed);
  if (kernel < 0) kernel = choose(dtype, geometry, access, device);
  const RowVariant& v = row_variants[kernel];
  int64_t rows_per_block = v.block / v.threads;
  int threads = threads_of(v, geometry.cols, device.wave_size);
  int64_t blocks = within_grid_limit(
      std::min((geometry.rows + rows_per_block - 1) / rows_per_block, most_blocks(v, threads, device, ahead)));
  return {kernel, static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), blocks * rows_per_block};
}

RowCandidates row_candidates(const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                             const hipops_tensor* weight, const hipops_tensor* bias) {
  const RowGeometry geometry = row_geometry(y, x);
  const RowAccess access = row_access(y, x, geometry, weight, bias);
  RowCandidates candidates;
  candidates.chosen = plan_rows(x.dtype, geometry, access, device).kernel;
  for (int i = 0; i < kRowVariants; ++i) {
    const RowVariant& v = row_variants[i];
    if (v.dtype == x.dtype && v.access == access && threads_of(v, geometry.cols, device.wave_size) > 0)
      candidates.kernel[candidates.count++] = i;
  }
  return candidates;
}

hipops_status launch_rows(Op& op, RowsAhead ahead, hipops_dtype dtype, RowAccess access, RowGeometry* geometry,
                          const void* args, size_t bytes, void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(&device)) return status;
  RowPlan plan = plan_rows(dtype, *geometry, access, *device, ahead);
  geometry->row_step = plan.row_step;
  geometry->threads = static_cast<int32_t>(plan.block);
  return launch(op, plan.kernel, plan.grid, plan.block, args, bytes, stream);
}

NormScalars norm_scalars(double eps, int64_t cols) {
  double n = static_cast<double>(cols);
  return {{static_cast<float>(eps), static_cast<float>(n), 1 / static_cast<float>(n)}, {eps, n, 1 / n}};
}

bool row_op_supports(hipops_dtype dtype, hipops_dtype weights) {
  return is_float(dtype) && (weights == HIPOPS_NONE || weights == dtype || weights == HIPOPS_F32);
}

}  // namespace hipops
