#include "rows/checks.h"

#include <cmath>
#include <limits>

#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {

hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_float(in)) return status;
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, in)) return status;
  return check_overlap(out, in, kInPlace);
}

hipops_status check_residual(const char* op, const hipops_tensor* y, const hipops_tensor* residual_out, const hipops_tensor* x,
                             const hipops_tensor* residual) {
  const Argument of_y{op, "y", y}, of_x{op, "x", x}, of_residual{op, "residual", residual};
  if (hipops_status status = check_rows(op, y, x)) return status;
  if (x->dtype == HIPOPS_F64)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected f32, f16 or bf16", op, dtype_name(x->dtype));
  if (hipops_status status = check_tensor(of_residual)) return status;
  if (hipops_status status = check_same_dtype(of_residual, of_x)) return status;
  if (hipops_status status = check_same_shape(of_residual, of_x)) return status;
  if (hipops_status status = check_overlap(of_y, of_residual, kInPlace)) return status;
  if (!residual_out) return HIPOPS_SUCCESS;
  const Argument of_out{op, "residual_out", residual_out};
  if (hipops_status status = check_output(of_out)) return status;
  if (hipops_status status = check_same_dtype(of_out, of_x)) return status;
  if (hipops_status status = check_same_shape(of_out, of_x)) return status;
  if (hipops_status status = check_overlap(of_out, of_x, kInPlace)) return status;
  if (hipops_status status = check_overlap(of_out, of_residual, kInPlace)) return status;
  return check_overlap(of_out, of_y);
}
bool supports_floats_but_f64(hipops_dtype dtype, hipops_dtype second) {
  return dtype != HIPOPS_F64 && supports_floats(dtype, second);
}
bool supports_floats_alone(hipops_dtype dtype, hipops_dtype second) { return second == HIPOPS_NONE && is_float(dtype); }

hipops_status check_apart(const Argument& output, const Argument& other) {
  return output.tensor && other.tensor ? check_overlap(output, other) : HIPOPS_SUCCESS;
}

hipops_status check_gradients(const Argument& dx, const Argument& dy, const Argument& like) {
  if (hipops_status status = check_tensor(like)) return status;
  if (hipops_status status = check_output(dx)) return status;
  if (hipops_status status = check_tensor(dy)) return status;
  if (hipops_status status = check_float(like)) return status;
  if (hipops_status status = check_rank(like, 1, HIPOPS_MAX_RANK)) return status;
  for (const Argument* a : {&dx, &dy}) {
    if (hipops_status status = check_same_dtype(*a, like)) return status;
    if (hipops_status status = check_same_shape(*a, like)) return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y) {
  if (!weights) return HIPOPS_SUCCESS;
  const Argument a{op, name, weights}, in{op, "x", &x};
  if (hipops_status status = check_tensor(a)) return status;
  if (hipops_status status = check_rank(a, 1, 1)) return status;
  if (hipops_status status = check_same_dtype_or_f32(a, in)) return status;
  if (hipops_status status = check_same_size(a, 0, in, x.rank - 1)) return status;
  return check_overlap({op, "y", &y}, a);
}

hipops_status check_row_scalar(const Argument& a, const Argument& x) {
  const hipops_dtype dtype = x.tensor->dtype == HIPOPS_F64 ? HIPOPS_F64 : HIPOPS_F32;
  if (a.tensor->dtype != dtype)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s (x.dtype is %s)", a.op, a.name,
                dtype_name(a.tensor->dtype), dtype_name(dtype), dtype_name(x.tensor->dtype));
  return check_shape_of_rows(a, x);
}

hipops_status check_shape_of_rows(const Argument& a, const Argument& x) {
  const int last = x.tensor->rank - 1;
  if (hipops_status status = check_rank(a, last, last + 1)) return status;
  for (int d = 0; d < last; ++d)
    if (hipops_status status = check_same_size(a, d, x, d)) return status;
  if (a.tensor->rank > last && a.tensor->shape[last] != 1)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[%d] is %lld, expected 1, or one dimension less", a.op, a.name, last,
                static_cast<long long>(a.tensor->shape[last]));
  return HIPOPS_SUCCESS;
}

hipops_status check_given_scalars(std::initializer_list<Argument> scalars, const Argument& x, const Argument& y) {
  for (const Argument& a : scalars) {
    if (!a.tensor) continue;
    if (hipops_status status = check_tensor(a)) return status;
    if (hipops_status status = check_row_scalar(a, x)) return status;
    if (hipops_status status = check_apart(y, a)) return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_row_scalars(std::initializer_list<Argument> scalars, std::initializer_list<Argument> others) {
  const Argument& x = *others.begin();
  const int last = x.tensor->rank - 1;
  for (const Argument& a : scalars) {
    if (!a.tensor) continue;
    if (hipops_status status = check_output(a)) return status;
    if (hipops_status status = check_row_scalar(a, x)) return status;
    if (x.tensor->shape[last] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is 0, expected 1 or more with %s", a.op, last, a.name);
  }
  for (const Argument& a : scalars)
    for (const auto& list : {others, scalars})
      for (const Argument& other : list)
        if (&other != &a)
          if (hipops_status status = check_apart(a, other)) return status;
  return HIPOPS_SUCCESS;
}

hipops_status check_eps(const char* op, double eps, const hipops_tensor& x) {
  if (!std::isfinite(eps) || eps < 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: eps is %g, expected a finite number of 0 or more", op, eps);
  constexpr double kLeast = std::numeric_limits<float>::denorm_min(), kMost = std::numeric_limits<float>::max();
  if (x.dtype == HIPOPS_F64 || eps == 0 || (eps >= kLeast && eps <= kMost)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: eps is %g, expected 0, or %g to %g, the range of f32 (x.dtype is %s)", op, eps,
              kLeast, kMost, dtype_name(x.dtype));
}

hipops_status check_flags(const char* op, uint32_t flags, uint32_t known, const char* names) {
  if ((flags & ~known) == 0) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: flags is 0x%x, expected 0 or some of %s", op, flags, names);
}

}  // namespace hipops
