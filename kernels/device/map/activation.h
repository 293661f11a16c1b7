// Activations, in f32. Results of 16 bits need 12 digits and get faster steps. The last bits of e^x are lost below
// 2^-126, so small powers carry a factor that the last product applies.
#pragma once

#include "device/core/math.h"
#include "device/map/contract.h"

namespace hipops {
namespace {

template <class T> constexpr bool needs_all_digits = sizeof(T) == 4;

template <class T>
HIPOPS_FN float quotient_for(float a, float b) {
  if constexpr (needs_all_digits<T>) return a / b;
  else return a * reciprocal_estimate(b);
}

template <int n>
HIPOPS_FN float polynomial(const float (&coefficient)[n], float x) {
  float sum = coefficient[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; --i) sum = fused_multiply_add(sum, x, coefficient[i]);
  return sum;
}

// e^x = power * factor. The factor is 1, or e^-64 for small powers. A small power is at most e^-16, so its products with
// the other numbers of the formula stay in range.
template <class T>
struct Power {
  float power, factor;
  explicit HIPOPS_METHOD Power(float x) {
    const bool is_small = x < -80.0f;
    factor = is_small ? 1.6038109e-28f : 1.0f;
    if constexpr (needs_all_digits<T>) power = exponential(is_small ? x + 64.0f : x);
    else power = exp2_fast(fused_multiply_add(x, 1.44269504f, is_small ? 92.332481f : 0.0f));
  }
  HIPOPS_METHOD float value() const { return power * factor; }
};

// x = value + rest, for results that need more digits than f32 has.
struct TwoFloats {
  float value, rest;
};

HIPOPS_FN TwoFloats product_in_two(float a, float b, float b_rest) {
  const float product = rounded_product(a, b);
  return {product, fused_multiply_add(a, b_rest, fused_multiply_add(a, b, -product))};
}

// The argument of the sigmoid that gelu_tanh is made of: sqrt(8 / pi) * (x + 0.044715 * x^3).
template <class T>
HIPOPS_FN TwoFloats gelu_argument(float x) {
  constexpr float kLinear = 1.59576917e+00f, kLinearRest = -4.53406806e-08f;
  constexpr float kCubic = 7.13548139e-02f, kCubicRest = 2.39883247e-09f;
  const float square = rounded_product(x, x);
  if constexpr (!needs_all_digits<T>) return {x * fused_multiply_add(square, kCubic, kLinear), 0.0f};
  const float square_rest = fused_multiply_add(x, x, -square);
  const TwoFloats cubic = product_in_two(square, kCubic, kCubicRest);
  const float factor = kLinear + cubic.value, rounded = factor - kLinear;
  const float lost = (kLinear - (factor - rounded)) + (cubic.value - rounded);
  return product_in_two(x, factor, lost + (cubic.rest + fused_multiply_add(square_rest, kCubic, kLinearRest)));
}

// a / (n + b), for 0 <= b <= n, in about twice f32's digits.
HIPOPS_FN TwoFloats quotient_in_two(TwoFloats a, float n, TwoFloats b) {
  const float sum = n + b.value, inverse = reciprocal_estimate(sum), quotient = a.value * inverse;
  const float rest = a.rest - quotient * ((b.value - (sum - n)) + b.rest);
  return {quotient, (fused_multiply_add(-quotient, sum, a.value) + rest) * inverse};
}

// v * other, rounded once. A zero keeps its sign.
HIPOPS_FN float rounded_once(TwoFloats v, float other) {
  const float product = v.value * other;
  const float exact = copysignf(fused_multiply_add(v.value, other, v.rest * other), product);
  return fabsf(product) < INFINITY ? exact : product;
}

// m * sigmoid(x) * other.
template <class T>
HIPOPS_FN float sigmoid_product(float m, TwoFloats x, float other) {
  const float size = fabsf(x.value);
  const Power<T> e(-size);
  const float factor = x.value < 0 ? e.factor : 1.0f;
  if constexpr (!needs_all_digits<T>) {
    const float inverse = reciprocal_estimate(fused_multiply_add(e.power, e.factor, 1.0f));
    return (x.value < 0 ? m * e.power : m) * inverse * other * factor;
  }
  float rest = size < 256.0f ? e.power * x.rest : 0.0f;  // otherwise it may be NaN
  rest = x.value < 0 ? rest : -rest;
  const TwoFloats power = {e.power, rest}, one = {1.0f, 0.0f};
  const TwoFloats sigmoid = quotient_in_two(x.value < 0 ? power : one, 1.0f, {e.value(), rest * e.factor});
  return rounded_once(product_in_two(m, sigmoid.value, sigmoid.rest), other) * factor;
}

// The tail of Phi for 16-bit types: see gelu_product().
HIPOPS_FN float tail16(float r) {
  constexpr float kTail16[] = {3.99235100e-01f, 7.90930450e-01f, 1.21775496e+00f,
                               1.33152461e+00f, -6.75397444e+00f, 5.01036501e+00f};
  return polynomial(kTail16, r) * r;
}

// The tail of Phi for a >= 1: Phi(-a) = e^(-a^2 / 2) * tail(a). It is r times a polynomial in r = 1 / (a + 2).
HIPOPS_FN TwoFloats gelu_tail(float a) {
  constexpr float kTail0 = 3.98960203e-01f, kTail[] = {7.96715915e-01f, 1.22902250e+00f, 3.08340609e-01f,
                                                       2.49432349e+00f, -3.23679047e+01f, 7.66984253e+01f,
                                                       -7.60829926e+01f, 2.76222420e+01f};
  const float shifted = a + 2.0f, r = reciprocal_estimate(shifted);
  // Applied to the tail, which is about r^1.5: the rounding errors of a + 2 and of r.
  const float error = fused_multiply_add(r, (shifted - 2.0f) - a, fused_multiply_add(-shifted, r, 1.0f));
  const float others = rounded_product(polynomial(kTail, r), r), tail = kTail0 + others;
  const TwoFloats result = product_in_two(r, tail, others - (tail - kTail0));
  return {result.value, fused_multiply_add(result.value, 1.5f * error, result.rest)};
}

// x * Phi(x) * other. From 1 on by the tail (16-bit types: from 0 on). Phi is 0.5 plus an odd polynomial up to 1.
template <class T>
HIPOPS_FN float gelu_product(float x, float other) {
  constexpr float kMiddle[] = {3.98942292e-01f, -6.64903596e-02f, 9.97332297e-03f,
                               -1.18632987e-03f, 1.13486349e-04f, -7.65419827e-06f};
  const float a = fminf(fabsf(x), 64.0f), square = rounded_product(x, x);
  Power<T> e(-0.5f * square);
  if constexpr (!needs_all_digits<T>) {
    const float p = e.power * tail16(reciprocal_estimate(a + 2.0f)), v = x * (x < 0 ? p : 1.0f - p * e.factor) * other;
    return x < 0 ? v * e.factor : v;
  }
  const float rest = square < 512.0f ? fused_multiply_add(x, x, -square) : 0.0f;  // otherwise it may be NaN
  TwoFloats phi = gelu_tail(a);
  phi = product_in_two(e.power, phi.value, fused_multiply_add(phi.value, -0.5f * rest, phi.rest));
  if (a < 1.0f) phi = {fused_multiply_add(polynomial(kMiddle, square), x, 0.5f), 0.0f};
  else if (x >= 0) phi = {1.0f - phi.value * e.factor, 0.0f};
  const TwoFloats v = product_in_two(x, phi.value, phi.rest);
  return rounded_once(v, other) * (x < 0 ? e.factor : 1.0f);
}

template <class T>
HIPOPS_FN float hyperbolic_tangent(float x) {
  constexpr float kSmall[] = {-3.33333343e-01f, 1.33333102e-01f, -5.39608561e-02f,
                              2.17822697e-02f, -8.38884246e-03f, 2.34500552e-03f};
  const float size = fabsf(x), square = x * x, e = Power<T>(-2.0f * size).value();
  const float small = fused_multiply_add(size * square, polynomial(kSmall, square), size);
  return copysignf(size < 0.6f ? small : 1.0f - quotient_for<T>(2.0f * e, 1.0f + e), x);
}

// e^x - 1, for x < 0.
template <class T>
HIPOPS_FN float exponential_minus_one(float x) {
  constexpr float kSmall[] = {5.00000000e-01f, 1.66666523e-01f, 4.16644178e-02f,
                              8.32001120e-03f, 1.35270250e-03f, 1.51825428e-04f};
  const float e = Power<T>(x).value();
  return x > -0.7f ? fused_multiply_add(x * x, polynomial(kSmall, x), x) : e - 1.0f;
}

// log(1 + e^x) * other, as max(x, 0) + log(1 + e^-|x|). The logarithm is 2 * artanh(e / (2 + e)).
template <class T>
HIPOPS_FN float softplus_product(float x, float other) {
  constexpr float kSeries[] = {3.33333343e-01f, 1.99998513e-01f, 1.42962843e-01f, 1.08516909e-01f, 1.16197452e-01f};
  const Power<T> e(-fabsf(x));
  TwoFloats half = quotient_in_two({e.value(), 0.0f}, 2.0f, {e.value(), 0.0f});
  const float square = half.value * half.value;
  half.rest = fused_multiply_add(half.value * square, polynomial(kSeries, square), half.rest);
  if (x >= 0) return (x + 2.0f * (half.value + half.rest)) * other;
  return e.factor == 1.0f ? 2.0f * rounded_once(half, other) : e.power * other * e.factor;
}

// Whether usual_sigmoid_product() computes the same for this argument: its power does not leave the range.
template <class T>
HIPOPS_FN bool is_usual(TwoFloats x) { return (needs_all_digits<T> ? -fabsf(x.value) : x.value) > -80.0f; }

// sigmoid_product() in fewer steps.
template <class T>
HIPOPS_FN float usual_sigmoid_product(float m, TwoFloats x, float other) {
  if constexpr (!needs_all_digits<T>) return m * reciprocal_estimate(1.0f + exp2_fast(x.value * -1.44269504f)) * other;
  const float power = exponential(-x.value), sum = 1.0f + fused_multiply_add(power, -x.rest, power);
  const float inverse = reciprocal_estimate(sum), quotient = m * inverse;
  return rounded_once({quotient, fused_multiply_add(-quotient, sum, m) * inverse}, other);
}

// gelu_product() for 16-bit types and x above kLeastUsualGelu, in fewer steps.
constexpr float kLeastUsualGelu = -12.0f;
HIPOPS_FN float usual_gelu_product(float x, float other) {
  const float r = reciprocal_estimate(fabsf(x) + 2.0f), scaled = x * 0.849321800f;  // sqrt(log2(e) / 2)
  const float p = exp2_fast(-scaled * scaled) * tail16(r);
  return x * (x < 0 ? p : 1.0f - p) * other;
}

// y = act(x) * other, of n neighbours. The kind is uniform.
template <class T, int n>
HIPOPS_FN void activate(const ActivationTerms& a, const float (&x)[n], const float (&other)[n], float (&y)[n]) {
  const auto each = [&](auto f) {
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = f(x[i], other[i]);
  };
  // m(x) * sigmoid(argument(x)) * other.
  const auto each_sigmoid = [&](auto m, auto argument) {
    bool all_usual = true;
#pragma unroll
    for (int i = 0; i < n; ++i) all_usual &= is_usual<T>(argument(x[i]));
    if (all_usual) each([=](float v, float u) { return usual_sigmoid_product<T>(m(v), argument(v), u); });
    else each([=](float v, float u) { return sigmoid_product<T>(m(v), argument(v), u); });
  };
  const auto itself = [](float v) { return v; };
  const float alpha = a.alpha, alpha_rest = a.alpha_rest;
  switch (a.kind) {
    case Activation::identity: return each([](float v, float u) { return v * u; });
    case Activation::relu: return each([](float v, float u) { return (v < 0 ? 0.0f : v) * u; });
    case Activation::relu_squared: return each([](float v, float u) { return (v < 0 ? 0.0f : v * v) * u; });
    case Activation::leaky_relu: return each([=](float v, float u) { return (v > 0 ? v : alpha * v) * u; });
    case Activation::abs: return each([](float v, float u) { return fabsf(v) * u; });
    case Activation::neg: return each([](float v, float u) { return -v * u; });
    case Activation::sqr: return each([](float v, float u) { return v * v * u; });
    case Activation::sigmoid:
      return each_sigmoid([](float) { return 1.0f; }, [](float v) { return TwoFloats{v, 0.0f}; });
    case Activation::swish:
      return each_sigmoid(itself, [=](float v) {
        if constexpr (!needs_all_digits<T>) return TwoFloats{v * alpha, 0.0f};
        return product_in_two(v, alpha, alpha_rest);
      });
    case Activation::gelu_tanh: return each_sigmoid(itself, [](float v) { return gelu_argument<T>(v); });
    case Activation::gelu:
      if constexpr (!needs_all_digits<T>) {
        bool all_usual = true;
#pragma unroll
        for (int i = 0; i < n; ++i) all_usual &= x[i] > kLeastUsualGelu;
        if (all_usual) return each([](float v, float u) { return usual_gelu_product(v, u); });
      }
      return each([](float v, float u) { return gelu_product<T>(v, u); });
    case Activation::tanh: return each([](float v, float u) { return hyperbolic_tangent<T>(v) * u; });
    case Activation::elu:
      return each([=](float v, float u) { return (v >= 0 ? v : alpha * exponential_minus_one<T>(v)) * u; });
    case Activation::softplus: return each([](float v, float u) { return softplus_product<T>(v, u); });
    default:  // exp
      return each([](float v, float u) {
        const Power<T> e(v);
        return e.power * u * e.factor;
      });
  }
}

}  // namespace
}  // namespace hipops
