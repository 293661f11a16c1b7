// Activations by their definitions, and the params that the ops with an activation share.
#pragma once

#include <cmath>
#include <limits>

#include "parity/ops/describe.h"

namespace hipops::parity {

inline const std::vector<hipops_dtype> kActivationDtypes = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16};

inline ParamSpec kind_param() { return {"kind", true, false, {8, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16}}; }
inline ParamSpec alpha_param() { return {"alpha", false, false, {1.702, 0.01, 1.0, -0.5}}; }
inline hipops_activation_kind kind_of(const Arguments& a) {
  return static_cast<hipops_activation_kind>(a.integer("kind"));
}

inline long double sigmoid(long double x) {
  const long double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

inline long double activation(hipops_activation_kind kind, long double alpha, long double x) {
  switch (kind) {
    case HIPOPS_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case HIPOPS_ACTIVATION_RELU_SQUARED: return x < 0 ? 0 : x * x;
    case HIPOPS_ACTIVATION_LEAKY_RELU: return x > 0 ? x : alpha * x;
    case HIPOPS_ACTIVATION_ABS: return std::fabs(x);
    case HIPOPS_ACTIVATION_NEG: return -x;
    case HIPOPS_ACTIVATION_SQR: return x * x;
    case HIPOPS_ACTIVATION_SIGMOID: return sigmoid(x);
    case HIPOPS_ACTIVATION_SILU: return x * sigmoid(x);
    case HIPOPS_ACTIVATION_SWISH: return x * sigmoid(alpha * x);
    case HIPOPS_ACTIVATION_QUICK_GELU: return x * sigmoid(1.702L * x);
    case HIPOPS_ACTIVATION_GELU_TANH:
      return x * sigmoid(std::sqrt(8 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x));
    case HIPOPS_ACTIVATION_GELU: return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
    case HIPOPS_ACTIVATION_TANH: return std::tanh(x);
    case HIPOPS_ACTIVATION_ELU: return x >= 0 ? x : alpha * std::expm1(x);
    case HIPOPS_ACTIVATION_SOFTPLUS: return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
    case HIPOPS_ACTIVATION_EXP: return std::exp(x);
    default: return x;
  }
}

// The activation as the ops compute it: outside of f32's range it is a number of f32. Kinds that are made of e^x
// keep their digits below it.
inline long double activation_in_f32(hipops_activation_kind kind, long double alpha, long double x) {
  const long double y = activation(kind, alpha, x);
  const bool rounds = kind == HIPOPS_ACTIVATION_LEAKY_RELU || kind == HIPOPS_ACTIVATION_ELU ||
                      kind == HIPOPS_ACTIVATION_SQR || kind == HIPOPS_ACTIVATION_RELU_SQUARED;
  const long double in_f32 = decode(HIPOPS_F32, encode(HIPOPS_F32, static_cast<double>(y)));
  return std::isinf(in_f32) || (rounds && std::fabs(y) < std::numeric_limits<float>::min()) ? in_f32 : y;
}

}  // namespace hipops::parity
