#include "rows.h"

#include <algorithm>
#include <cmath>

#include "error.h"
#include "tensor.h"

namespace hipops {
namespace {

// The names that the variant lists use, as host constants.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr bool resident = false, streaming = true;

constexpr int bytes_of(hipops_dtype dtype) { return dtype == f64 ? 8 : dtype == f32 ? 4 : 2; }

constexpr RowVariant variant(hipops_dtype dtype, int threads, int vectors, int block, int bytes, bool streams) {
  int length = bytes ? bytes / bytes_of(dtype) : 1;
  return {dtype, threads, vectors, block, bytes != 0, streams, length, streams ? INT64_MAX : int64_t{threads} * vectors * length};
}

// Blocks that a launch may have: work-items stay under 2^32 with 1024 a block. Larger work loops over rows.
constexpr int64_t kMostBlocks = int64_t{1} << 21;

constexpr uintptr_t kWideBytes = 16;

bool is_multiple(const void* pointer, uintptr_t of) { return reinterpret_cast<uintptr_t>(pointer) % of == 0; }

}  // namespace

#define VARIANT(name, dtype, threads, vectors, block, bytes, mode) variant(dtype, threads, vectors, block, bytes, mode),
constexpr RowVariant row_variants[kRowVariants] = {HIPOPS_ROW_KERNELS(VARIANT, )};
#undef VARIANT

hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (!is_float(x->dtype))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected f32, f16, bf16 or f64", op, dtype_name(x->dtype));
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
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s (x.dtype)%s", op, name, dtype_name(weights->dtype),
                dtype_name(x.dtype), x.dtype == HIPOPS_F32 ? "" : " or f32");
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
  // From the innermost outer dimension out; one that continues the steps of the one before, in x and in y, is merged with it.
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

bool allows_wide_rows(const hipops_tensor& y, const hipops_tensor& x, const RowGeometry& g) {
  int bytes = dtype_bytes(x.dtype);
  auto whole = [bytes](int64_t elements) { return elements * bytes % static_cast<int64_t>(kWideBytes) == 0; };
  if (g.cols > 1 && (g.x_stride != 1 || g.y_stride != 1)) return false;
  if (!whole(g.cols) || !is_multiple(x.data, kWideBytes) || !is_multiple(y.data, kWideBytes)) return false;
  for (int d = 0; d < g.outer_rank; ++d)
    if (!whole(g.outer_x_stride[d]) || !whole(g.outer_y_stride[d])) return false;
  return true;
}

bool allows_wide_vector(const hipops_tensor* weights) {
  return !weights || (is_multiple(weights->data, kWideBytes) && weights->stride[0] == 1);
}

RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, bool wide_access) {
  int kernel = 0;
  while (row_variants[kernel].dtype != dtype || row_variants[kernel].wide != wide_access || row_variants[kernel].longest < geometry.cols)
    ++kernel;
  const RowVariant& v = row_variants[kernel];
  int64_t rows_per_block = v.block / v.threads;
  int64_t blocks = std::min((geometry.rows + rows_per_block - 1) / rows_per_block, kMostBlocks);
  return {kernel, static_cast<uint32_t>(blocks), static_cast<uint32_t>(v.block), blocks * rows_per_block};
}

bool row_op_supports(hipops_dtype dtype, hipops_dtype weights) {
  return is_float(dtype) && (weights == HIPOPS_NONE || weights == dtype || weights == HIPOPS_F32);
}

}  // namespace hipops
