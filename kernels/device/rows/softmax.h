// The functions that softmax and softmax_ext are made of.
#pragma once

#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

// The exactness that results of type T need of exponentials, their sum, and the division. Exponential(maximum) returns
// exponentials times a factor that is the same for all values of a row: Exponential::kScale, if the maximum is 0. `exp`, for
// tiles, returns them times kScale.
template <class T>
struct Precision {  // f16, bf16: f32 has digits to spare
  using SumType = float;
  static constexpr float kScale = kExpScale;
  static HIPOPS_METHOD float exp(float x, float m) { return exp_difference_fast(x, m); }
  static HIPOPS_METHOD float of_vector(float sum) { return sum; }

  struct Exponential {
    static constexpr float kScale = kExpScale;
    float maximum;
    HIPOPS_METHOD float operator()(float x) const { return exp(x, maximum); }
  };
  struct Divide {
    float inverse;
    explicit HIPOPS_METHOD Divide(const WideSum<float>& sum) : inverse(1.0f / sum.value()) {}
    HIPOPS_METHOD float operator()(float v) const { return v * inverse; }
  };
};

template <class C>
struct FullPrecision {
  using SumType = WideSum<C>;
  static constexpr C kScale = 1;
  static HIPOPS_METHOD C exp(C x, C m) { return exp_difference(x, m); }
  static HIPOPS_METHOD SumType of_vector(C sum) { return SumType::of(sum); }

  // Multiplies by the inverse, which is two numbers, and rounds once: two operations for each element, not a division's
  // ten.
  struct Divide {
    C inverse, rest;
    Divide() = default;
    explicit HIPOPS_METHOD Divide(const WideSum<C>& sum) : inverse(C(1) / sum.high()) {
      rest = (fused_multiply_add(-inverse, sum.high(), C(1)) - inverse * sum.low()) * inverse;
    }
    HIPOPS_METHOD C operator()(C v) const { return fused_multiply_add(v, inverse, v * rest); }
  };
};
template <> struct Precision<f32> : FullPrecision<float> {
  using Exponential = ScaledExponential<float>;
};

// The sum of a row on chip, of numbers up to 2^65. Each number is split into a multiple of 2^31 and a small rest; the
// multiples' sum is exact (the extraction of AccSum, by Rump, Ogita and Oishi). It needs two operations, WideSum eight. A
// plain sum would add an error of half an ULP for each level of its tree, if one number is most of the sum.
template <class C>
struct ExtractedSum {
  C high, low;

  static HIPOPS_METHOD ExtractedSum of(C v) {
    constexpr C kGrid = 0x1p83;  // for up to 2^17 numbers, the most in a row on chip
    const C high = (v + kGrid) - kGrid;
    return {high, v - high};
  }
  HIPOPS_METHOD operator WideSum<C>() const {
    const C sum = high + low;
    return {sum, low - (sum - high)};
  }
  friend HIPOPS_METHOD ExtractedSum operator+(const ExtractedSum& a, const ExtractedSum& b) {
    return {a.high + b.high, a.low + b.low};
  }
};
template <class C>
struct WholeWave<ExtractedSum<C>, SumByMatrix> {
  using Each = WholeWave<C, SumByMatrix>;
  static constexpr bool kExists = Each::kExists, kInF64 = false;
  static HIPOPS_METHOD ExtractedSum<C> of_eight(const ExtractedSum<C>& v) {
    return {Each::of_eight(v.high), Each::of_eight(v.low)};
  }
  static HIPOPS_METHOD ExtractedSum<C> of(const ExtractedSum<C>& v) { return {Each::of(v.high), Each::of(v.low)}; }
};
template <> struct Precision<f64> : FullPrecision<double> {
  using SumType = ExtractedSum<double>;
  using Exponential = ScaledExponential<double>;
  static HIPOPS_METHOD SumType of_vector(double sum) { return SumType::of(sum); }
};

// The exponential of x under a reference that may be -inf, times kScale: elements that are all -inf add nothing.
template <class T>
struct TileExponential {
  static constexpr compute_t<T> kScale = Precision<T>::kScale;
  compute_t<T> reference;
  explicit HIPOPS_METHOD TileExponential(compute_t<T> m) : reference(m == -compute_t<T>(INFINITY) ? 0 : m) {}
  HIPOPS_METHOD compute_t<T> operator()(compute_t<T> x) const { return Precision<T>::exp(x, reference); }
};
template <>
struct TileExponential<f32> : ScaledExponential<float> {
  explicit HIPOPS_METHOD TileExponential(float m) : ScaledExponential(m == -INFINITY ? 0 : m) {}
};

template <class T, class Arguments>
struct SoftmaxOp : RowOp {
  using Args = Arguments;
  using C = compute_t<T>;
  using P = Precision<T>;
  using Largest = WideSum<C>;
  // The sum of exponentials under the reference: the maximum of a row on chip; otherwise nearly the maximum.
  struct Part {
    C reference = -C(INFINITY);
    WideSum<C> sum{};
  };
  struct Row {
    TileExponential<T> exponential;
    typename P::Divide divide;
  };
  static constexpr bool kMaps = true, kAdds = true;

  template <class View>
  static HIPOPS_METHOD Part part(const Args&, const View& view) {
    const C maximum = view.reduce(Maximum(), Identity());
    return {maximum, sum_under(view, maximum)};
  }

  // Adds a tile's elements. A maximum that is larger by at most kRise does not become the reference. Otherwise a row that
  // rises steadily would scale its sum at every tile, by a factor that is rounded the same way each time.
  template <class View>
  static HIPOPS_METHOD void add_under(Part& all, const View& view, C largest) {
    constexpr C kRise = 32;  // exponentials of that do not overflow, nor does the sum of any number of them
    if (largest > all.reference + kRise) all = {largest, all.sum * factor_of(all.reference, TileExponential<T>(largest))};
    all.sum = all.sum + sum_under(view, all.reference);
  }
  template <class View>
  static HIPOPS_METHOD void add(const Args&, Part& all, int64_t, const View& view) { add_under(all, view, view.reduce(Maximum(), Identity())); }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) {
    const C reference = parts.reduce(Maximum(), [](const Part& p, int64_t) { return p.reference; });
    const TileExponential<T> power(reference);  // a part of -inf only has the sum 0; such a row becomes NaN at the division
    return {reference, parts.reduce(Sum(), [power](const Part& p, int64_t) { return p.sum * factor_of(p.reference, power); })};
  }
  static HIPOPS_METHOD Row finalize(const Args&, const Part& part) { return {TileExponential<T>(part.reference), typename P::Divide(part.sum)}; }

  static HIPOPS_METHOD C mapped(const Row& row, C x) { return row.exponential(x); }

  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const C (&x)[n], C (&)[1][n], C (&out)[1][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = row.divide(x[i]);
  }

 protected:
  template <class View>
  using ExponentialOf = typename Choose<View::kKeepsMapped, typename P::Exponential, TileExponential<T>>::type;

  static HIPOPS_METHOD C factor_of(C reference, const TileExponential<T>& power) { return power(reference) / TileExponential<T>::kScale; }
  // The sum of exponentials, which replace the elements of a row on chip.
  template <class View>
  static HIPOPS_METHOD WideSum<C> sum_under(const View& view, C reference) {
    using Exponential = ExponentialOf<View>;
    constexpr bool kPlain = View::kKeepsMapped || sizeof(T) == 2;
    const auto of_vector = [](C sum) {
      if constexpr (kPlain) return P::of_vector(sum);
      else return WideSum<C>::of(sum);
    };
    if constexpr (View::kKeepsMapped) {
      view.map(Exponential{reference});
      return wide(view.reduce(SumByMatrix(), Identity(), of_vector));
    } else {
      return wide(view.reduce(SumByMatrix(), Exponential{reference}, of_vector));
    }
  }
  static HIPOPS_METHOD WideSum<C> wide(C sum) { return WideSum<C>::of(sum); }
  static HIPOPS_METHOD WideSum<C> wide(const WideSum<C>& sum) { return sum; }
  static HIPOPS_METHOD WideSum<C> wide(const ExtractedSum<C>& sum) { return WideSum<C>(sum); }
};

}  // namespace
}  // namespace hipops
