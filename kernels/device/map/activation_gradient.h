// Derivatives of activations, in f32. Close to a zero of a derivative its terms cancel: there they are known to a part of
// an ULP of the larger one, as 1 + x * sigmoid(-x) of silu, whose product x * sigmoid(-x) is not rounded.
#pragma once

#include "device/map/activation.h"

namespace hipops {
namespace {

// sigmoid(-|x|) = low * factor, and 1 - sigmoid(-|x|).
template <class T>
struct Sigmoids {
  TwoFloats low, high;
  float factor;
  explicit HIPOPS_METHOD Sigmoids(TwoFloats x) {
    const Power<T> e(-fabsf(x.value));
    factor = e.factor;
    float rest = fabsf(x.value) < 256.0f ? e.power * x.rest : 0.0f;  // otherwise it may be NaN
    rest = x.value < 0 ? rest : -rest;
    low = quotient_in_two({e.power, rest}, 1.0f, {e.value(), rest * factor});
    const float whole = low.value * factor;
    high.value = 1.0f - whole;
    high.rest = ((1.0f - high.value) - whole) - low.rest * factor;
  }
};

// sigmoid'(x) * factor * other.
template <class T>
HIPOPS_FN float sigmoid_slope(float x, float factor, float other) {
  if constexpr (!needs_all_digits<T>) {
    const Power<T> e(-fabsf(x));
    const float inverse = reciprocal_estimate(1.0f + e.value());
    return e.power * inverse * inverse * other * (e.factor * factor);
  }
  const Sigmoids<T> s({x, 0.0f});
  TwoFloats product = product_in_two(s.high.value, s.low.value, s.low.rest);
  product.rest = fused_multiply_add(s.high.rest, s.low.value, product.rest);
  return rounded_once(product, other) * (s.factor * factor);
}

// The derivative of x * sigmoid(u(x)), times other. w is x * u'(x), of u's sign: s * (1 + w * (1 - s)).
template <class T>
HIPOPS_FN float swish_slope(TwoFloats u, TwoFloats w, float other) {
  const Sigmoids<T> s(u);
  if (!(fabsf(u.value) < 256.0f)) w = {copysignf(256.0f, u.value), 0.0f};  // the power is 0, and w may be infinite
  const bool is_low = u.value < 0;
  const float of_other = is_low ? s.high.value : s.low.value * s.factor;
  const float rest = is_low ? s.high.rest : s.low.rest * s.factor;
  const float m = fused_multiply_add(w.value, of_other, 1.0f) + fused_multiply_add(w.value, rest, w.rest * of_other);
  const TwoFloats own = is_low ? s.low : s.high;
  return rounded_once(product_in_two(m, own.value, own.rest), other) * (is_low ? s.factor : 1.0f);
}

// swish_slope() for 16-bit types, and |u| up to 80, in fewer steps.
HIPOPS_FN float usual_swish_slope(float u, float w, float other) {
  const float e = exp2_fast(u * -1.44269504f), s = reciprocal_estimate(1.0f + e);
  return fused_multiply_add(e * s * w, s, s) * other;
}

// x * u'(x) of gelu_tanh's argument u: 3 * u - 2 * sqrt(8 / pi) * x.
template <class T>
HIPOPS_FN TwoFloats gelu_argument_slope(float x, TwoFloats u) {
  constexpr float kTwice = -3.19153833e+00f, kTwiceRest = 9.06813612e-08f;
  const TwoFloats thrice = product_in_two(u.value, 3.0f, 0.0f);
  return {fused_multiply_add(x, kTwice, thrice.value), fused_multiply_add(x, kTwiceRest, fused_multiply_add(u.rest, 3.0f, thrice.rest))};
}

// (Phi(x) + x * phi(x)) * other. For a = |x|, phi(a) = density * e^(-a^2 / 2), and Phi(-a) has the same power
// (gelu_product). So d = power * (tail(a) - density * a) is the derivative of -a, and 1 - d of a. Up to 1 the derivative
// is 0.5 plus an odd polynomial.
template <class T>
HIPOPS_FN float gelu_slope(float x, float other) {
  constexpr float kDensity = 3.98942292e-01f, kDensityRest = -1.13351701e-08f;
  constexpr float kCubic[] = {-2.65961528e-01f, 5.98414056e-02f, -9.49868839e-03f,
                              1.15380925e-03f, -1.11714449e-04f, 7.62548689e-06f};
  const float a = fminf(fabsf(x), 64.0f), square = rounded_product(x, x);
  const Power<T> e(-0.5f * square);
  if constexpr (!needs_all_digits<T>) {
    const float d = e.power * fused_multiply_add(a, -kDensity, tail16(reciprocal_estimate(a + 2.0f)));
    return x < 0 ? d * other * e.factor : (1.0f - d * e.factor) * other;
  }
  const float rest = square < 512.0f ? fused_multiply_add(x, x, -square) : 0.0f;  // otherwise it may be NaN
  const TwoFloats tail = gelu_tail(a), line = product_in_two(a, kDensity, kDensityRest);
  const float difference = tail.value - line.value, lost = tail.value - (difference + line.value);
  TwoFloats d = product_in_two(e.power, difference, lost + (tail.rest - line.rest) - 0.5f * rest * difference);
  if (a < 1.0f) {
    const float cubic = x * fused_multiply_add(square, polynomial(kCubic, square), 2.0f * kDensityRest);
    d = {fused_multiply_add(x, 2.0f * kDensity, 0.5f) + cubic, 0.0f};
  } else if (x >= 0) {
    d = {1.0f - d.value * e.factor, 0.0f};
  }
  return rounded_once(d, other) * (x < 0 ? e.factor : 1.0f);
}

// y = act'(x) * other, of n neighbours. The kind is uniform.
template <class T, int n>
HIPOPS_FN void activate_backward(const ActivationTerms& a, const float (&x)[n], const float (&other)[n], float (&y)[n]) {
  const auto each = [&](auto f) {
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = f(x[i], other[i]);
  };
  // The derivative of x * sigmoid(argument(x)); w(x, argument) is x times the argument's derivative.
  const auto each_swish = [&](auto argument, auto w) {
    if constexpr (!needs_all_digits<T>) {
      bool all_usual = true;
#pragma unroll
      for (int i = 0; i < n; ++i) all_usual &= fabsf(argument(x[i]).value) < 80.0f;
      if (all_usual)
        return each([=](float v, float u) {
          const TwoFloats of_v = argument(v);
          return usual_swish_slope(of_v.value, w(v, of_v).value, u);
        });
    }
    each([=](float v, float u) {
      const TwoFloats of_v = argument(v);
      return swish_slope<T>(of_v, w(v, of_v), u);
    });
  };
  const float alpha = a.alpha, alpha_rest = a.alpha_rest;
  switch (a.kind) {
    case Activation::identity: return each([](float, float u) { return u; });
    case Activation::relu: return each([](float v, float u) { return v <= 0 ? 0.0f : u; });
    case Activation::relu_squared: return each([](float v, float u) { return v <= 0 ? 0.0f : v * u * 2.0f; });
    case Activation::leaky_relu: return each([=](float v, float u) { return v > 0 ? u : alpha * u; });
    case Activation::abs: return each([](float v, float u) { return v > 0 ? u : v < 0 ? -u : 0.0f * u; });
    case Activation::neg: return each([](float, float u) { return -u; });
    case Activation::sqr: return each([](float v, float u) { return v * u * 2.0f; });
    case Activation::sigmoid: return each([](float v, float u) { return sigmoid_slope<T>(v, 1.0f, u); });
    case Activation::tanh: return each([](float v, float u) { return sigmoid_slope<T>(2.0f * v, 4.0f, u); });
    case Activation::swish:
      return each_swish(
          [=](float v) {
            if constexpr (!needs_all_digits<T>) return TwoFloats{v * alpha, 0.0f};
            return product_in_two(v, alpha, alpha_rest);
          },
          [](float, TwoFloats u) { return u; });
    case Activation::gelu_tanh:
      return each_swish([](float v) { return gelu_argument<T>(v); }, [](float v, TwoFloats u) { return gelu_argument_slope<T>(v, u); });
    case Activation::gelu: return each([](float v, float u) { return gelu_slope<T>(v, u); });
    case Activation::softplus:
      return each([](float v, float u) { return sigmoid_product<T>(1.0f, {v, 0.0f}, u); });
    default:  // elu, exp
      return each([=](float v, float u) {
        if (a.kind == Activation::elu && v > 0) return u;
        const Power<T> e(v);
        return (a.kind == Activation::elu ? rounded_once(product_in_two(e.power, alpha, alpha_rest), u) : e.power * u) * e.factor;
      });
  }
}

}  // namespace
}  // namespace hipops
