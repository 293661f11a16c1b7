#include "map/activation.h"

#include <cmath>

#include "tensor/error.h"

namespace hipops {

hipops_status check_activation(const Argument& x, std::initializer_list<Argument> outputs, std::initializer_list<Argument> inputs,
                               hipops_activation_kind kind, double alpha) {
  const char* op = x.op;
  const auto is_absent = [&](const Argument& output) { return !output.tensor && outputs.size() > 1; };
  if (hipops_status status = check_tensor(x)) return status;
  for (const Argument& a : outputs)
    if (!is_absent(a))
      if (hipops_status status = check_output(a)) return status;
  for (const Argument& a : inputs)
    if (hipops_status status = check_tensor(a)) return status;
  if (hipops_status status = check_float_but_f64(x)) return status;
  if (kind < HIPOPS_ACTIVATION_IDENTITY || kind > HIPOPS_ACTIVATION_EXP)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: kind is %d, expected a hipops_activation_kind from 0 (identity) to %d (exp)",
                op, static_cast<int>(kind), HIPOPS_ACTIVATION_EXP);
  if (!std::isfinite(static_cast<float>(alpha)))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: alpha is %g, expected a finite number of f32's range", op, alpha);
  for (const auto& list : {outputs, inputs})
    for (const Argument& a : list) {
      if (is_absent(a)) continue;
      if (hipops_status status = check_same_dtype(a, x)) return status;
      if (hipops_status status = check_same_shape(a, x)) return status;
    }
  for (const Argument& a : outputs) {
    if (is_absent(a)) continue;
    if (hipops_status status = check_overlap(a, x, kInPlace)) return status;
    for (const Argument& input : inputs)
      if (hipops_status status = check_overlap(a, input, kInPlace)) return status;
    for (const Argument* other = outputs.begin(); other != &a; ++other)
      if (!is_absent(*other))
        if (hipops_status status = check_overlap(a, *other)) return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_gate(const char* op, double limit, uint32_t flags) {
  if (!(limit >= 0)) return fail(HIPOPS_INVALID_ARGUMENT, "%s: limit is %g, expected 0 (none) or more", op, limit);
  if (flags & ~HIPOPS_UP_PLUS_ONE)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: flags is 0x%x, expected 0 or HIPOPS_UP_PLUS_ONE (0x40)", op, flags);
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
