#include "rows/rows.h"

#include <cmath>
#include <limits>

#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

bool is_whole(int64_t bytes) { return bytes % kWideAccess == 0; }
bool is_aligned(const hipops_tensor& t) { return bits_of(t.data) % bits_of(kWideAccess) == 0; }
bool has_no_gaps(const hipops_tensor* weights) { return !weights || weights->shape[0] <= 1 || weights->stride[0] == 1; }

}  // namespace

hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_float(in)) return status;
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, in)) return status;
  return check_overlap(out, in, true);
}

hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y) {
  if (!weights) return HIPOPS_SUCCESS;
  const Argument a{op, name, weights}, in{op, "x", &x};
  if (hipops_status status = check_tensor(a)) return status;
  if (hipops_status status = check_rank(a, 1, 1)) return status;
  if (hipops_status status = check_same_dtype_or_f32(a, in)) return status;
  if (hipops_status status = check_same_size(a, 0, in, x.rank - 1)) return status;
  return check_overlap({op, "y", &y}, a, false);
}

hipops_status check_eps(const char* op, double eps, const hipops_tensor& x) {
  if (!std::isfinite(eps) || eps < 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: eps is %g, expected a finite number of 0 or more", op, eps);
  constexpr double kLeast = std::numeric_limits<float>::denorm_min(), kMost = std::numeric_limits<float>::max();
  if (x.dtype == HIPOPS_F64 || eps == 0 || (eps >= kLeast && eps <= kMost)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: eps is %g, expected 0, or %g to %g, which f32 has (x.dtype is %s)", op, eps,
              kLeast, kMost, dtype_name(x.dtype));
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
    if (g.outer_rank > 0) {
      RowDimension& inner = g.outer[g.outer_rank - 1];
      if (x.stride[d] == inner.x_stride * inner.size && y.stride[d] == inner.y_stride * inner.size) {
        inner.size *= x.shape[d];
        continue;
      }
    }
    g.outer[g.outer_rank++] = {x.stride[d], y.stride[d], x.shape[d], {}};
  }
  if (g.outer_rank == 0) g.outer[g.outer_rank++].size = 1;
  g.in_rounds = g.rows;
  for (int d = 0; d + 1 < g.outer_rank; ++d) g.outer[d].divisor = wide_divisor_of(g.outer[d].size);
  return g;
}

RowAccess row_access(const hipops_tensor& y, const hipops_tensor& x, const RowGeometry& g, const hipops_tensor* weight,
                     const hipops_tensor* bias) {
  if (g.cols > 1 && (g.x_stride != 1 || g.y_stride != 1)) return any;
  int64_t bytes = dtype_bytes(x.dtype);
  bool whole = is_whole(g.cols * bytes) && is_aligned(x) && is_aligned(y);
  for (int d = 0; d < g.outer_rank && whole; ++d)
    whole = is_whole(g.outer[d].x_stride * bytes) && is_whole(g.outer[d].y_stride * bytes);
  bool weights_without_gaps = has_no_gaps(weight) && has_no_gaps(bias);
  if (whole && weights_without_gaps && (!weight || is_aligned(*weight)) && (!bias || is_aligned(*bias))) return wide;
  bool one_piece =
      g.outer_rank == 1 && (g.rows == 1 || (g.outer[0].x_stride == g.cols && g.outer[0].y_stride == g.cols));
  if (one_piece && g.cols <= longest_staged(x.dtype)) return staged;
  // Of f64 shorter rows have but few pairs.
  const bool in_pairs = x.dtype != HIPOPS_F64 || g.cols > longest_staged(x.dtype);
  return in_pairs && weights_without_gaps ? edged : any;
}

NormTerms<float> norm_terms(double eps, int64_t cols) {
  const float n = static_cast<float>(cols);
  return {static_cast<float>(eps), n, 1 / n};
}

OtherNormTerms other_norm_terms(double eps, int64_t cols) {
  const double n = static_cast<double>(cols);
  return {static_cast<float>(n - double{static_cast<float>(cols)}), {eps, n, 1 / n}};
}

}  // namespace hipops
