#include "map/activation.h"

#include <cmath>

#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {

bool supports_activation(hipops_dtype dtype, hipops_dtype second) {
  return second == HIPOPS_NONE && is_float(dtype) && dtype != HIPOPS_F64;
}

hipops_status check_activation(const char* op, const hipops_tensor& x, hipops_activation_kind kind, double alpha) {
  if (!supports_activation(x.dtype, HIPOPS_NONE))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected f32, f16 or bf16", op, dtype_name(x.dtype));
  if (kind < HIPOPS_ACTIVATION_IDENTITY || kind > HIPOPS_ACTIVATION_EXP)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: kind is %d, expected a hipops_activation_kind from 0 (identity) to %d (exp)",
                op, static_cast<int>(kind), HIPOPS_ACTIVATION_EXP);
  if (!std::isfinite(static_cast<float>(alpha)))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: alpha is %g, expected a finite number of f32's range", op, alpha);
  return HIPOPS_SUCCESS;
}

ActivationTerms activation_terms(hipops_activation_kind kind, double alpha) {
  constexpr Activation kKernelKind[] = {
      Activation::identity, Activation::relu,      Activation::relu_squared, Activation::leaky_relu, Activation::abs,
      Activation::neg,      Activation::sqr,       Activation::sigmoid,      Activation::swish,      Activation::swish,
      Activation::swish,    Activation::gelu_tanh, Activation::gelu,         Activation::tanh,       Activation::elu,
      Activation::softplus, Activation::exp};
  static_assert(sizeof kKernelKind / sizeof kKernelKind[0] == HIPOPS_ACTIVATION_EXP + 1, "one for each kind");
  if (kind == HIPOPS_ACTIVATION_SILU) alpha = 1;
  if (kind == HIPOPS_ACTIVATION_QUICK_GELU) alpha = 1.702;
  const float high = static_cast<float>(alpha);
  return {kKernelKind[kind], high, static_cast<float>(alpha - static_cast<double>(high))};
}

}  // namespace hipops
