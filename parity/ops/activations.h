// Activations by their definitions, and the params that the ops with an activation share.
#pragma once

#include <algorithm>
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

// A derivative, and the magnitude of its larger term if terms cancel, otherwise 0.
struct Slope {
  long double value, scale = 0;
};

// The derivative of x * sigmoid(u), where w is x times the derivative of u.
inline Slope swish_slope(long double x, long double u, long double w) {
  const long double s = sigmoid(u), t = sigmoid(-u);
  if (std::isinf(u)) return {u > 0 ? 1.0L : -0.0L};
  return {std::isnan(x) ? x : s * (1 + w * t), std::max(s, s * t * std::fabs(w))};
}

// The derivative of `activation`, in f32's range.
inline Slope activation_slope(hipops_activation_kind kind, long double alpha, long double x) {
  const long double pi = std::acos(-1.0L), c = std::sqrt(8 / pi);
  switch (kind) {
    case HIPOPS_ACTIVATION_NEG: return {-1};
    case HIPOPS_ACTIVATION_LEAKY_RELU: return {x > 0 ? 1 : alpha};
    case HIPOPS_ACTIVATION_ABS: return {x > 0 ? 1.0L : x < 0 ? -1.0L : 0.0L};
    case HIPOPS_ACTIVATION_RELU: return {x <= 0 ? 0.0L : 1.0L};
    case HIPOPS_ACTIVATION_RELU_SQUARED: return {x <= 0 ? 0 : 2 * x};
    case HIPOPS_ACTIVATION_SQR: return {2 * x};
    case HIPOPS_ACTIVATION_SIGMOID: return {sigmoid(x) * sigmoid(-x)};
    case HIPOPS_ACTIVATION_SILU: return swish_slope(x, x, x);
    case HIPOPS_ACTIVATION_SWISH: return swish_slope(x, alpha * x, alpha * x);
    case HIPOPS_ACTIVATION_QUICK_GELU: return swish_slope(x, 1.702L * x, 1.702L * x);
    case HIPOPS_ACTIVATION_GELU_TANH: {
      const long double cubic = 0.044715L * x * x * x;
      return swish_slope(x, c * (x + cubic), c * (x + 3 * cubic));
    }
    case HIPOPS_ACTIVATION_GELU: {
      if (std::isinf(x)) return {x > 0 ? 1.0L : -0.0L};
      const long double area = std::erfc(-x / std::sqrt(2.0L)) / 2, line = x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
      return {area == 0 ? line : area + line, std::max(area, std::fabs(line))};
    }
    case HIPOPS_ACTIVATION_TANH: return {4 * sigmoid(2 * x) * sigmoid(-2 * x)};
    case HIPOPS_ACTIVATION_ELU: return {x > 0 ? 1 : alpha * std::exp(x)};
    case HIPOPS_ACTIVATION_SOFTPLUS: return {sigmoid(x)};
    case HIPOPS_ACTIVATION_EXP: return {activation_in_f32(kind, alpha, x)};
    default: return {1};
  }
}

// dy * the derivative. 0 where relu is flat, for any dy.
inline Slope gradient_of(hipops_activation_kind kind, long double alpha, long double x, long double dy) {
  const bool is_relu = kind == HIPOPS_ACTIVATION_RELU || kind == HIPOPS_ACTIVATION_RELU_SQUARED;
  if (is_relu && x <= 0) return {0};
  const Slope slope = activation_slope(kind, alpha, x);
  return {slope.value * dy, std::isfinite(dy) && std::isfinite(slope.scale) ? std::fabs(slope.scale * dy) : 0};
}

// ---- Past 2^31 elements and 4 GiB

struct LargeRows {
  const char* name;
  hipops_dtype dtype;
  Shape shape, stride;
  int64_t elements;  // of x's memory
};

inline std::vector<LargeRows> large_rows(int64_t giant) {
  const int64_t rows = giant / 96 + 5, odd = giant / 201 + 3;
  return {{"run", HIPOPS_BF16, {1, giant + 7}, {1, 1}, giant + 7},
          {"run", HIPOPS_F32, {1, giant + 7}, {1, 1}, giant + 7},
          {"pitched", HIPOPS_BF16, {rows, 96}, {104, 1}, rows * 104},
          {"odd_rows", HIPOPS_F16, {odd, 201}, {203, 1}, odd * 203},
          {"transposed", HIPOPS_F32, {3, giant / 3}, {1, 3}, giant}};
}

// x and up are views of one memory, in which up is `up` elements after x. y has a memory of its own.
struct LargeGated {
  const char* name;
  hipops_dtype dtype;
  Shape shape, stride, y_stride;
  int64_t up, elements, y_elements;
};

// `odd`: the rows of 201 elements.
inline std::vector<LargeGated> large_gated(int64_t giant, int64_t odd) {
  const int64_t rows = giant / 192 + 5;
  return {{"halves", HIPOPS_BF16, {rows, 96}, {192, 1}, {96, 1}, 96, rows * 192, rows * 96},
          {"halves_odd", HIPOPS_F16, {odd, 201}, {402, 1}, {201, 1}, 201, odd * 402, odd * 201},
          {"interleaved", HIPOPS_BF16, {rows, 96}, {192, 2}, {96, 1}, 1, rows * 192, rows * 96},
          {"interleaved", HIPOPS_F32, {rows, 96}, {192, 2}, {96, 1}, 1, rows * 192, rows * 96}};
}

template <class C>
void add_large_cases(const char* op, const std::vector<C>& all, void (*run)(large::Stage&, const C&),
                     std::vector<large::LargeCase>* cases) {
  for (const C& c : all)
    cases->push_back({op, c.dtype, large::large_name(c.name, c.dtype), c.shape, [=](large::Stage& stage) { run(stage, c); }});
}

}  // namespace hipops::parity
