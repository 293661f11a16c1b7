// A row over its root mean square, for all values that the type has.
#pragma once

#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/rows/contract.h"

namespace hipops {
namespace {

template <class Args>
HIPOPS_FN const NormTerms<float>& terms_of(const Args& a, float) { return a.terms; }
template <class Args>
HIPOPS_FN const NormTerms<double>& terms_of(const Args& a, double) { return a.terms_in_f64; }

template <class C> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kLeastNormal = 0x1p-126f, kLeastMean = 0x1p-100f, kMostSum = 0x1p100f, kLift = 0x1p64f, kDrop = 0x1p-64f;
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kLeastNormal = 0x1p-1022, kLeastMean = 0x1p-900, kMostSum = 0x1p900, kLift = 0x1p512, kDrop = 0x1p-512;
};
// Of a number that is not negative; of denormal ones the least that normal ones have.
template <class C>
HIPOPS_FN int exponent_of(C v) {
  using F = FloatFormat<C>;
  const int e = int(bit_cast<typename F::Bits>(v) >> F::kMantissa);
  return (e > 0 ? e : 1) - F::kBias;
}
template <class C>
HIPOPS_FN C power_of_two(int e) {
  using F = FloatFormat<C>;
  return bit_cast<C>(typename F::Bits(e + F::kBias) << F::kMantissa);
}

template <class T> constexpr bool is_f16 = false;
template <> [[maybe_unused]] constexpr bool is_f16<f16> = true;

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};
struct Magnitude {
  HIPOPS_METHOD float operator()(float v) const { return fabsf(v); }
  HIPOPS_METHOD double operator()(double v) const { return fabs(v); }
};
HIPOPS_FN float smaller(float a, float b) { return fminf(a, b); }
HIPOPS_FN double smaller(double a, double b) { return fmin(a, b); }

// The least of a vector's magnitudes.
template <class C, int n>
HIPOPS_FN C least_magnitude(const C (&v)[n]) {
  C least[n];
#pragma unroll
  for (int i = 0; i < n; ++i) least[i] = Magnitude()(v[i]);
#pragma unroll
  for (int half = n / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) least[i] = smaller(least[i], least[i + half]);
  }
  return least[0];
}

template <class C>
struct ScaledSquare {
  C scale;
  HIPOPS_METHOD C operator()(C v) const { return (v * scale) * (v * scale); }
};

// The power of two by which elements are scaled whose squares leave the type's range, or that are small beside eps.
template <class C, class View>
HIPOPS_FN int exponent_for(const View& view, C eps) {
  const int of_x = exponent_of(view.reduce(Maximum(), Magnitude())), of_eps = exponent_of(eps) / 2 + 1;
  const int e = of_x > of_eps || eps == C(0) ? of_x : of_eps, most = FloatFormat<C>::kBias - 1;
  return e < most ? e : most;
}
// 2^(2 e), or nearly 0.
template <class C>
HIPOPS_FN C square_of_power(int e) {
  const int least = 1 - FloatFormat<C>::kBias;
  return power_of_two<C>(2 * e > least ? 2 * e : least);
}

// The sum of the squares of a row, or of a part of it, each element taken times 2^-exponent.
template <class C>
struct SumOfSquares {
  WideSum<C> sum;
  int32_t exponent;

  // Where the squares, or their mean with eps, leave the type's range, all are taken again, scaled.
  template <class View>
  static HIPOPS_METHOD SumOfSquares of(const View& view, const NormTerms<C>& terms) {
    using F = FloatFormat<C>;
    C squares = view.reduce(Sum(), Square());
    int exponent = 0;
    const bool in_range = fused_multiply_add(squares, terms.inverse_cols, terms.eps) >= F::kLeastMean && squares <= F::kMostSum;
    if (__builtin_expect(ballot(!in_range) != 0, 0)) {
      const int e = exponent_for(view, terms.eps);
      const C scaled = view.reduce(Sum(), ScaledSquare<C>{power_of_two<C>(-e)});
      if (!in_range) squares = scaled, exponent = e;
    }
    return {WideSum<C>::of(squares), exponent};
  }

  template <class Parts>
  static HIPOPS_METHOD SumOfSquares merged(const Parts& parts) {
    const int e = int(parts.reduce(Maximum(), [](const SumOfSquares& p, int64_t) { return C(p.exponent); }));
    return {parts.reduce(Sum(), [e](const SumOfSquares& p, int64_t) { return p.sum * square_of_power<C>(p.exponent - e); }), e};
  }
};

// 1 / sqrt(mean(x^2) + eps), as what x is multiplied by first, a power of two, and then.
template <class C>
struct RowScale {
  C power, factor;

  static HIPOPS_METHOD RowScale of(const SumOfSquares<C>& squares, const NormTerms<C>& terms) {
    const C power = power_of_two<C>(-squares.exponent);
    const C mean = fused_multiply_add(squares.sum.value(), terms.inverse_cols, terms.eps * power * power);
    return {power, inverse_square_root(mean)};
  }

  template <int n>
  HIPOPS_METHOD void normalize(const C (&x)[n], C (&out)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] = x[i] * factor;
    if (__builtin_expect(power != C(1), 0)) {
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = x[i] * power * factor;
    }
  }

  // Times weights, of what is normalized to numbers that may be denormal: those have lost digits that a large weight
  // shows, and are multiplied by powers of two meanwhile.
  template <int n>
  HIPOPS_METHOD void weigh_small(const C (&x)[n], const C (&weight)[n], C (&out)[n]) const {
    using F = FloatFormat<C>;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C lifted = x[i] * power * (factor * F::kLift);
      out[i] = Magnitude()(lifted) < F::kLeastNormal * F::kLift ? lifted * (weight[i] * F::kDrop) : lifted * F::kDrop * weight[i];
    }
  }
};

// Whether one of x that is not 0 has become a denormal number. f16 has no elements so small.
template <class T, class C, int n>
HIPOPS_FN bool has_small(const C (&x)[n], const C (&normalized)[n]) {
  constexpr C kLeast = FloatFormat<C>::kLeastNormal;
  if (__builtin_expect(is_f16<T> || least_magnitude(normalized) >= kLeast, 1)) return false;
  bool small = false;
#pragma unroll
  for (int i = 0; i < n; ++i) small = small || (x[i] != C(0) && Magnitude()(normalized[i]) < kLeast);
  return small;
}

// What an element of T keeps of values.
template <class T, class C, int n>
HIPOPS_FN void round_to(C (&v)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = C(widen(narrow<T>(v[i])));
}

// The norm's last step, by its flags; the weight is 1 where it is not `there`. Whether weigh_small is to be taken instead.
template <class T, bool kSmall, class C, int n>
HIPOPS_FN bool weigh(const RowScale<C>& scale, const C (&x)[n], C (&weight)[n], bool there, int32_t flags, C (&out)[n]) {
  if (__builtin_expect(there && (flags & weight_plus_one), 0)) {
#pragma unroll
    for (int i = 0; i < n; ++i) weight[i] += C(1);
  }
  if constexpr (kSmall) {
    scale.weigh_small(x, weight, out);
    return false;
  }
  scale.normalize(x, out);
  bool small = has_small<T>(x, out);
  if (__builtin_expect(flags & round_before_weight, 0)) {
    round_to<T>(out);
    small = false;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) out[i] *= weight[i];
  return small && there;
}

}  // namespace
}  // namespace hipops
