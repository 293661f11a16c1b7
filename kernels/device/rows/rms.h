// Rows divided by their root mean square, for all values of the type.
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

// The exponent of v >= 0. A denormal number has the exponent of the smallest normal one.
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

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};
struct Magnitude {
  HIPOPS_METHOD float operator()(float v) const { return fabsf(v); }
  HIPOPS_METHOD double operator()(double v) const { return fabs(v); }
};
HIPOPS_FN float smaller(float a, float b) { return fminf(a, b); }
HIPOPS_FN double smaller(double a, double b) { return fmin(a, b); }

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

// Lowers `least` to the smallest magnitude in v. T: the type of the row. Elements of f16 are never that small.
template <class T, class C, int n>
HIPOPS_FN void lower_to_magnitudes(C* least, const C (&v)[n]) {
  if constexpr (!is_f16<T>) *least = smaller(*least, least_magnitude(v));
}

template <class T, class C, int n>
HIPOPS_FN void round_to(C (&v)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = C(widen(narrow<T>(v[i])));
}

template <class C>
struct ScaledSquare {
  C scale;
  HIPOPS_METHOD C operator()(C v) const { return (v * scale) * (v * scale); }
};

// The exponent e of the scale 2^-e: of the largest magnitude, or about sqrt(eps)'s if larger. 2^-e must be normal.
template <class C, class View>
HIPOPS_FN int scaling_exponent(const View& view, C eps) {
  const int of_x = exponent_of(view.reduce(Maximum(), Magnitude())), of_eps = exponent_of(eps) / 2 + 1;
  const int e = of_x > of_eps || eps == C(0) ? of_x : of_eps, most = FloatFormat<C>::kBias - 1;
  return e < most ? e : most;
}
// 2^e for e <= 0, but not below the smallest normal number.
template <class C>
HIPOPS_FN C power_at_least_normal(int e) {
  const int least = 1 - FloatFormat<C>::kBias;
  return power_of_two<C>(e > least ? e : least);
}

// The sum of squares of a row, or of some of its elements. Elements are scaled by 2^-exponent.
template <class C>
struct SumOfSquares {
  WideSum<C> sum;
  int32_t exponent;

  // If the sum exceeds kMostSum, or the mean plus eps is below kLeastMean, squares of scaled elements are summed.
  template <class View>
  static HIPOPS_METHOD SumOfSquares of(const View& view, const NormTerms<C>& terms) {
    using F = FloatFormat<C>;
    C squares = view.reduce(Sum(), Square());
    int exponent = 0;
    const bool in_range = fused_multiply_add(squares, terms.inverse_cols, terms.eps) >= F::kLeastMean && squares <= F::kMostSum;
    if (__builtin_expect(ballot(!in_range) != 0, 0)) {
      const int e = scaling_exponent(view.second_pass(), terms.eps);
      const C scaled = view.second_pass().reduce(Sum(), ScaledSquare<C>{power_of_two<C>(-e)});
      if (!in_range) squares = scaled, exponent = e;
    }
    return {WideSum<C>::of(squares), exponent};
  }

  template <class Parts>
  static HIPOPS_METHOD SumOfSquares merged(const Parts& parts) {
    const int e = int(parts.reduce(Maximum(), [](const SumOfSquares& p, int64_t) { return C(p.exponent); }));
    const auto scaled = [e](const SumOfSquares& p, int64_t) {
      const C power = power_at_least_normal<C>(p.exponent - e);
      return p.sum * power * power;  // two products: power * power may be too small for C
    };
    return {parts.reduce(Sum(), scaled), e};
  }
};

// y = x * power * factor, with power = 2^-exponent and factor = 1 / sqrt(mean((x * power)^2) + eps * power^2).
template <class C>
struct RowScale {
  C power, factor;

  static HIPOPS_METHOD RowScale of(const SumOfSquares<C>& squares, const NormTerms<C>& terms) {
    const C power = power_of_two<C>(-squares.exponent);
    const C mean = fused_multiply_add(squares.sum.value(), terms.inverse_cols, terms.eps * power * power);
    return {power, inverse_square_root(mean)};
  }

  // Multiplies by the weights, following a norm's flags. Without weights, each is 1.
  template <class T, int n>
  HIPOPS_METHOD void apply_weight(const C (&x)[n], C (&weight)[n], bool has_weight, int32_t flags, C (&out)[n], C* least) const {
    C normalized[n];
#pragma unroll
    for (int i = 0; i < n; ++i) normalized[i] = x[i] * factor;
    lower_to_magnitudes<T>(least, normalized);
    if (__builtin_expect(flags == 0, 1)) {
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = normalized[i] * weight[i];
    } else {
      add_one(weight, has_weight, flags);
      if (flags & round_before_weight) round_to<T>(normalized);
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = normalized[i] * weight[i];
    }
  }
  template <class T, int n>
  HIPOPS_METHOD bool loses_digits(const C (&x)[n], bool has_weight, int32_t flags) const {
    bool small = false;
#pragma unroll
    for (int i = 0; i < n; ++i) small |= x[i] != C(0) && Magnitude()(x[i] * factor) < FloatFormat<C>::kLeastNormal;
    return small && has_weight && !(flags & round_before_weight);
  }
  // For scaled rows and denormal results: numbers are multiplied by kLift until the weight is applied, to keep their
  // digits. `power` is multiplied by kLift if it is small, otherwise `factor`: a large power * kLift would overflow.
  template <class T, int n>
  HIPOPS_METHOD void apply_weight_extreme(const C (&x)[n], C (&weight)[n], bool has_weight, int32_t flags, C (&out)[n]) const {
    using F = FloatFormat<C>;
    add_one(weight, has_weight, flags);
    const C lift_power = power < C(1) ? F::kLift : C(1), lift_factor = F::kLift / lift_power;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C lifted = x[i] * (power * lift_power) * (factor * lift_factor), normalized = lifted * F::kDrop;
      if (flags & round_before_weight) out[i] = C(widen(narrow<T>(normalized))) * weight[i];
      else out[i] = Magnitude()(lifted) < F::kLeastNormal * F::kLift ? lifted * (weight[i] * F::kDrop) : normalized * weight[i];
    }
  }

 private:
  template <int n>
  static HIPOPS_METHOD void add_one(C (&weight)[n], bool has_weight, int32_t flags) {
    if (__builtin_expect(has_weight && (flags & weight_plus_one), 0)) {
#pragma unroll
      for (int i = 0; i < n; ++i) weight[i] += C(1);
    }
  }
};

// The common functions of ops that norm by a root mean square (an op is explained in row_kernel.h). A second output, if
// there is one, gets the normed row's input.
template <class T, class Args_>
struct RmsOp {
  using Args = Args_;
  using C = compute_t<T>;
  using Largest = WideSum<C>;
  using Part = SumOfSquares<C>;
  static constexpr int kColumns = 1;
  static constexpr bool kMaps = false, kHasExtremes = true, kHasLeast = true;
  static HIPOPS_METHOD C absent_column(int) { return 1; }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) { return Part::of(view, terms_of(reload_arguments(a), C())); }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD RowScale<C> finalize(const Args& a, const Part& part) { return RowScale<C>::of(part, terms_of(a, C())); }

  static HIPOPS_METHOD bool is_extreme(const RowScale<C>& scale) { return scale.power != C(1); }
  template <int n>
  static HIPOPS_METHOD bool loses_digits(const Args& a, const RowScale<C>& scale, const C (&x)[n]) {
    return scale.template loses_digits<T>(x, a.columns[0].data != nullptr, a.flags);
  }
  // Whether apply_extreme() is right for x. It rounds other denormal results twice: lifted, then dropped (not f16's).
  template <int n>
  static HIPOPS_METHOD bool may_lift(const Args& a, const RowScale<C>& scale, const C (&x)[n]) {
    return is_f16<T> || is_extreme(scale) || loses_digits(a, scale, x);
  }
  template <int n, int outputs>
  static HIPOPS_METHOD void apply(const Args& a, const RowScale<C>& scale, const C (&x)[n], C (&column)[2][n],
                                  C (&out)[outputs][n], C* least) {
    keep(x, out);
    scale.template apply_weight<T>(x, column[0], a.columns[0].data != nullptr, a.flags, out[0], least);
  }
  template <int n, int outputs>
  static HIPOPS_METHOD void apply_extreme(const Args& a, const RowScale<C>& scale, const C (&x)[n], C (&column)[2][n],
                                          C (&out)[outputs][n]) {
    keep(x, out);
    scale.template apply_weight_extreme<T>(x, column[0], a.columns[0].data != nullptr, a.flags, out[0]);
  }

 private:
  template <int n, int outputs>
  static HIPOPS_METHOD void keep(const C (&x)[n], C (&out)[outputs][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      if constexpr (outputs == 2) out[1][i] = x[i];
  }
};

}  // namespace
}  // namespace hipops
