// Mean and variance of a row: the sums, how they are computed, and the normalization by them.
#pragma once

#include "device/rows/rms.h"

namespace hipops {
namespace {

// The mean of a row as two numbers, and deviations from it. One rounded number would be too far off where x is close to
// the mean, or where the mean is thousands of standard deviations.
template <class T, class C = compute_t<T>>
struct Mean {
  C high, low;

  HIPOPS_METHOD Mean(const WideSum<C>& sum, const NormTerms<C>& terms) {
    // The quotient: an estimate plus its remainder, rounded once (Markstein). `low` is the remainder of `high`.
    C estimate = sum.high() * terms.inverse_cols;
    high = fused_multiply_add(remainder_of(sum.high(), estimate, terms), terms.inverse_cols, estimate);
    // The product is rounded by itself. So a row of equal elements has deviations of exactly 0.
    low = rounded_product(remainder_of(sum.high(), high, terms) + sum.low(), terms.inverse_cols);
  }
  // For 16-bit elements, `low` is not subtracted from each element. about_mean() corrects the sum of squares instead.
  HIPOPS_METHOD C deviation(C x) const { return sizeof(T) == 2 ? x - high : (x - high) - low; }
  // The sum of squared deviations from the mean, if `squares` is the sum of squares of deviation().
  HIPOPS_METHOD C about_mean(C squares, C cols) const {
    if constexpr (sizeof(T) != 2) return squares;
    const C exact = fused_multiply_add(-low * cols, low, squares);
    return exact < C(0) ? C(0) : exact;
  }
  // (this mean - other)^2. If `other` is the mean of some elements, their squared deviations from this mean are larger
  // by this number, on average, than those from `other`.
  HIPOPS_METHOD C square_apart(const Mean& other) const {
    const C d = (high - other.high) + (low - other.low);
    return d * d;
  }

 private:
  static HIPOPS_METHOD C remainder_of(C sum, C quotient, const NormTerms<C>& terms) {
    return fused_multiply_add(-quotient, terms.cols_rest, fused_multiply_add(-quotient, terms.cols, sum));
  }
};

// The constants of `count` elements of a row.
template <class C>
HIPOPS_FN NormTerms<C> terms_of_count(int64_t count) {
  const C cols = C(count);
  return {C(0), C(1) / cols, cols, C(count - int64_t(cols))};
}

template <class M, class C>
struct SquaredDeviation {
  const M& mean;
  C power;
  HIPOPS_METHOD C operator()(C x) const {
    const C d = mean.deviation(x * power);
    return d * d;
  }
};

template <class S, class Q = S>
struct Moments {
  S sum;
  Q squares;

  friend HIPOPS_METHOD Moments operator+(const Moments& a, const Moments& b) {
    return {a.sum + b.sum, a.squares + b.squares};
  }
};

template <class W>
struct WholeWave<Moments<W>, SumByMatrix> {
  using Each = WholeWave<W, SumByMatrix>;
  static constexpr bool kExists = Each::kExists, kInF64 = false;
  static HIPOPS_METHOD Moments<W> of_eight(const Moments<W>& v) {
    return {Each::of_eight(v.sum), Each::of_eight(v.squares)};
  }
  static HIPOPS_METHOD Moments<W> of(const Moments<W>& v) { return {Each::of(v.sum), Each::of(v.squares)}; }
};

// The largest mean^2 / variance for which the variance may be computed by sum(x^2) - n mean^2. The larger the quotient,
// the more digits the difference loses. Beyond the limit, squared deviations are summed.
template <class T> constexpr float kVariances = 0.25f;
template <> [[maybe_unused]] constexpr float kVariances<f16> = 32;
template <> [[maybe_unused]] constexpr float kVariances<bf16> = 256;

template <class T, class C>
HIPOPS_FN bool are_moments_enough(C mean, C squares, C elements) {
  return mean * mean * elements <= C(kVariances<T>) * squares && squares < C(INFINITY);
}

// Sums over a row or some of it: of elements times 2^-exponent, and of squared deviations times 2^(-2 * exponent).
template <class T>
struct SumAndDeviations {
  using C = compute_t<T>;
  using Wide = WideSum<C>;
  using Squares = typename Choose<sizeof(C) == sizeof(double), C, Wide>::type;  // f64 has digits to spare
  Wide sum;
  Squares squares;
  int32_t exponent;

  // `terms`: constants of the row; `own`: constants of the elements in view. If a sum exceeds kMostSum, or the variance
  // plus eps is below kLeastMean, both sums are computed again, of scaled elements.
  template <class View>
  static HIPOPS_METHOD SumAndDeviations of(const View& view, const NormTerms<C>& terms, const NormTerms<C>& own) {
    using F = FloatFormat<C>;
    Wide sum;
    C squares;
    if constexpr (View::kReducesTogether && sizeof(T) <= 4) {
      const Moments<Wide> all = moments_of(view);
      sum = all.sum;
      const Mean<T> mean(sum, own);
      squares = fused_multiply_add(-mean.high * own.cols, mean.high, value_of(all.squares));
      const bool are_enough = are_moments_enough<T>(mean.high, squares, own.cols);
      if (__builtin_expect(ballot(!are_enough) != 0, 0)) {
        const C deviations = view.second_pass().reduce(SumByMatrix(), SquaredDeviation<Mean<T>, C>{mean, 1});
        if (!are_enough) squares = deviations;
      }
      squares = mean.about_mean(squares, own.cols);
    } else {
      sum = sum_of(view, C(1));
      squares = squares_about(Mean<T>(sum, own), view, C(1), own);
    }
    int exponent = 0;
    bool in_range = fused_multiply_add(squares, terms.inverse_cols, terms.eps) >= F::kLeastMean && squares <= F::kMostSum &&
                    Magnitude()(sum.high()) <= F::kMostSum;
    // merge() squares the differences between the parts' means.
    if constexpr (!View::kIsRow) in_range = in_range && sum.high() * sum.high() <= F::kMostSum;
    if (__builtin_expect(ballot(!in_range) != 0, 0)) {
      const int e = scaling_exponent(view.extreme_pass(), terms.eps);
      const C power = power_of_two<C>(-e);
      const Wide scaled = sum_of(view.extreme_pass(), power);
      const C scaled_squares = squares_about(Mean<T>(scaled, own), view.extreme_pass(), power, own);
      if (!in_range) sum = scaled, squares = scaled_squares, exponent = e;
    }
    return {sum, widened(squares), exponent};
  }

  template <class Parts>
  static HIPOPS_METHOD SumAndDeviations merged(const Parts& parts) {
    using P = SumAndDeviations;
    const int e = int(parts.reduce(Maximum(), [](const P& p, int64_t) { return C(p.exponent); }));
    const auto scaled = [e](const P& p) { return p.sum * power_at_least_normal<C>(p.exponent - e); };
    const Wide sum = parts.reduce(Sum(), [&](const P& p, int64_t) { return scaled(p); });
    const Mean<T> mean(sum, terms_of_count<C>(parts.elements()));
    const Squares squares = parts.reduce(Sum(), [&](const P& p, int64_t count) {
      const NormTerms<C> terms = terms_of_count<C>(count);
      const C apart = terms.cols * mean.square_apart(Mean<T>(scaled(p), terms));
      const C power = power_at_least_normal<C>(p.exponent - e);
      return p.squares * power * power + widened(apart);
    });
    return {sum, squares, e};
  }

 private:
  static HIPOPS_METHOD C value_of(const Wide& sum) { return sum.value(); }
  static HIPOPS_METHOD Squares widened(C v) {
    if constexpr (sizeof(C) == sizeof(double)) return v;
    else return Wide::of(v);
  }

  // A vector of 16-bit elements is summed in f32, which has room for the carries; vectors are added as wide sums.
  // Elements that differ much in size are the exception (docs/ops/layer_norm.md).
  template <class View>
  static HIPOPS_METHOD Wide sum_of(const View& view, C power) {
    if constexpr (sizeof(T) == 2) {
      return view.reduce(SumByMatrix(), [power](C x) { return x * power; }, [](C of_vector) { return Wide::of(of_vector); });
    } else {
      return view.reduce(SumByMatrix(), [power](C x) { return Wide::of(x * power); });
    }
  }
  template <class View>
  static HIPOPS_METHOD C squares_about(const Mean<T>& mean, const View& view, C power, const NormTerms<C>& own) {
    return mean.about_mean(view.second_pass().reduce(SumByMatrix(), SquaredDeviation<Mean<T>, C>{mean, power}), own.cols);
  }
  template <class View>
  static HIPOPS_METHOD Moments<Wide> moments_of(const View& view) {
    if constexpr (sizeof(T) == 2) {
      return view.reduce(
          SumByMatrix(), [](C x) { return Moments<C>{x, x * x}; },
          [](const Moments<C>& of_vector) { return Moments<Wide, C>{Wide::of(of_vector.sum), of_vector.squares}; },
          [](const Moments<Wide, C>& of_lane) { return Moments<Wide>{of_lane.sum, Wide::of(of_lane.squares)}; });
    } else {
      return view.reduce(
          SumByMatrix(), [](C x) { return Moments<Wide, C>{Wide::of(x), x * x}; },
          [](const Moments<Wide, C>& of_vector) { return Moments<Wide>{of_vector.sum, Wide::of(of_vector.squares)}; });
    }
  }
};

// (x - mean) / sqrt(var + eps) in two roundings, of x times a power of two. The first is exact if x is near the mean.
template <class T>
struct Normalization {
  using C = compute_t<T>;
  C power, high, low, scale;  // high and low are the mean

  static HIPOPS_METHOD Normalization of(const SumAndDeviations<T>& row, const NormTerms<C>& terms) {
    const C power = power_of_two<C>(-row.exponent);
    const Mean<T> mean(row.sum, terms);
    const C variance = value_of(row.squares) * terms.inverse_cols;
    const C eps = terms.eps * power * power, least = terms.eps > C(0) ? FloatFormat<C>::kLeastNormal : C(0);
    const C scale = inverse_square_root(variance + (eps > least ? eps : least));  // equal elements: 0; if eps is 0, NaN
    return {power, mean.high, mean.low, scale};
  }

  template <int n>
  HIPOPS_METHOD void apply(const C (&x)[n], const C (&weight)[n], const C (&bias)[n], C (&out)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] = fused_multiply_add(fused_multiply_add(x[i] - high, scale, -low * scale), weight[i], bias[i]);
  }

 private:
  static HIPOPS_METHOD C value_of(C sum) { return sum; }
  template <class W>
  static HIPOPS_METHOD C value_of(const W& sum) { return sum.value(); }
};

// The common functions of ops that norm by mean and variance (an op is explained in row_op.h).
template <class T, class Args_>
struct LayerNormOp : RowOp {
  using Args = Args_;
  using C = compute_t<T>;
  using Part = SumAndDeviations<T>;
  using Largest = typename Choose<sizeof(T) <= 4, Moments<WideSum<C>>, WideSum<C>>::type;
  using Extremes = NormalizationExtremes<T>;
  static constexpr int kColumns = 2, kScalars = 2;  // mean, rstd
  static HIPOPS_METHOD C absent_column(int i) { return i == 0 ? 1 : 0; }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) {
    const NormTerms<C>& terms = terms_of(reload_arguments(a), C());
    if constexpr (View::kIsRow) return Part::of(view, terms, terms);
    else return Part::of(view, terms, terms_of_count<C>(view.elements() > 0 ? view.elements() : 1));
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD Normalization<T> finalize(const Args& a, const Part& part) {
    return Normalization<T>::of(part, terms_of(a, C()));
  }

  static HIPOPS_METHOD void scalars(const Normalization<T>& row, C (&out)[2]) {
    out[0] = (row.high + row.low) * inverse_power(row.power);
    out[1] = row.power * row.scale;
  }
  template <int n, int outputs>
  static HIPOPS_METHOD void apply(const Args&, const Normalization<T>& row, const C (&x)[n], C (&column)[3][n],
                                  C (&out)[outputs][n]) {
    row.apply(x, column[0], column[1], out[0]);
  }
};

}  // namespace
}  // namespace hipops
