// A row over its root mean square, for all values that the type has.
#pragma once

#include "device/core/math.h"
#include "device/core/wave.h"
#include "device/rows/contract.h"

namespace hipops {
namespace {

// What a norm needs once a row, computed once a call.
template <class C>
struct RmsTerms {
  C eps, inverse_cols;
};

template <class C> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kLeastNormal = 0x1p-126f, kLeastMean = 0x1p-100f, kLift = 0x1p64f, kDrop = 0x1p-64f;
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kLeastNormal = 0x1p-1022, kLeastMean = 0x1p-900, kLift = 0x1p512, kDrop = 0x1p-512;
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
template <class C>
struct ScaledSquare {
  C scale;
  HIPOPS_METHOD C operator()(C v) const { return (v * scale) * (v * scale); }
};

// 1 / sqrt(mean(x^2) + eps), as what x is multiplied by first, a power of two, and then.
template <class C>
struct RowScale {
  C power, factor;

  // Where the squares, or their sum with eps, leave the type's range, all are taken again, of x scaled. terms_of() are the
  // RmsTerms, asked for when they are needed: gfx9 has few scalar registers.
  template <class View, class F>
  static HIPOPS_METHOD RowScale of(const View& view, F terms_of) {
    const C squares = view.sum(Square());
    return of_squares(squares, view, terms_of());
  }
  template <class View>
  static HIPOPS_METHOD RowScale of_squares(C squares, const View& view, const RmsTerms<C>& terms) {
    using F = FloatFormat<C>;
    const C mean = fused_multiply_add(squares, terms.inverse_cols, terms.eps);
    const bool is_in_range = mean >= F::kLeastMean && mean < C(INFINITY);
    const RowScale ordinary = {1, inverse_square_root(mean)};
    if (__builtin_expect(ballot(!is_in_range) == 0, 1)) return ordinary;
    const int of_x = exponent_of(view.reduce(Maximum(), Magnitude()));
    const int of_eps = exponent_of(terms.eps) / 2 + 1, most = F::kBias - 1;
    int e = of_x > of_eps || terms.eps == C(0) ? of_x : of_eps;
    e = e < most ? e : most;
    const C power = power_of_two<C>(-e);
    const C scaled = view.sum(ScaledSquare<C>{power}) * terms.inverse_cols + terms.eps * power * power;
    return is_in_range ? ordinary : RowScale{power, inverse_square_root(scaled)};
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

  // Times weights. What is normalized to a denormal number would have lost digits that a large weight shows: that is
  // multiplied by powers of two meanwhile. f16 has no elements so small.
  template <class T, int n>
  HIPOPS_METHOD void normalize(const C (&x)[n], const C (&weight)[n], C (&out)[n]) const {
    using F = FloatFormat<C>;
    normalize(x, out);
    C least = Magnitude()(out[0]);
#pragma unroll
    for (int i = 1; i < n; ++i) least = Magnitude()(out[i]) < least ? Magnitude()(out[i]) : least;
    if (__builtin_expect(least >= F::kLeastNormal || is_f16<T>, 1)) {
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] *= weight[i];
    } else {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const C lifted = x[i] * power * (factor * F::kLift);
        out[i] = Magnitude()(lifted) < F::kLeastNormal * F::kLift ? lifted * (weight[i] * F::kDrop)
                                                                  : lifted * F::kDrop * weight[i];
      }
    }
  }
};

// What an element of T keeps of values.
template <class T, class C, int n>
HIPOPS_FN void round_to(C (&v)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = C(widen(narrow<T>(v[i])));
}

// The norm's last step, by its flags; the weight is 1 where it is not `there`.
template <class T, class C, int n>
HIPOPS_FN void weigh(const RowScale<C>& scale, const C (&x)[n], C (&weight)[n], bool there, int32_t flags, C (&out)[n]) {
  if (__builtin_expect(there && (flags & weight_plus_one), 0)) {
#pragma unroll
    for (int i = 0; i < n; ++i) weight[i] += C(1);
  }
  if (__builtin_expect(flags & round_before_weight, 0)) {
    scale.normalize(x, out);
    round_to<T>(out);
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] *= weight[i];
  } else {
    scale.template normalize<T>(x, weight, out);
  }
}

}  // namespace
}  // namespace hipops
