// Rows divided by their root mean square, for all values of the type.
#pragma once

#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/rows/extreme_rows.h"
#include "device/rows/row_op.h"

namespace hipops {
namespace {

template <class Args>
HIPOPS_FN const NormTerms<float>& terms_of(const Args& a, float) { return a.terms; }
template <class Args>
HIPOPS_FN const NormTerms<double>& terms_of(const Args& a, double) { return a.terms_in_f64; }

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};
template <class T, class C, int n>
HIPOPS_FN void round_to(C (&v)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) v[i] = C(widen(narrow<T>(v[i])));
}

// h = x + residual, following a norm's flags.
template <class T, class C, int n>
HIPOPS_FN void add_residual(int32_t flags, const C (&in)[2][n], C (&h)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) h[i] = in[0][i] + in[1][i];
  if (__builtin_expect(flags & round_sum, 0)) round_to<T>(h);
}

template <class C>
struct ScaledSquare {
  C scale;
  HIPOPS_METHOD C operator()(C v) const { return (v * scale) * (v * scale); }
};

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
      const int e = scaling_exponent(view.extreme_pass(), terms.eps);
      const C scaled = view.extreme_pass().reduce(Sum(), ScaledSquare<C>{power_of_two<C>(-e)});
      if (!in_range) squares = scaled, exponent = e;
    }
    return {WideSum<C>::of(squares), exponent};
  }

  template <class Parts>
  static HIPOPS_METHOD SumOfSquares merged(const Parts& parts) {
    if constexpr (Parts::kInOrder) {
      if (__builtin_expect(parts.a.exponent == parts.b.exponent, 1)) return {parts.a.sum + parts.b.sum, parts.a.exponent};
    }
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
  int32_t flags;

  static HIPOPS_METHOD RowScale of(const SumOfSquares<C>& squares, const NormTerms<C>& terms, int32_t flags) {
    const C power = power_of_two<C>(-squares.exponent);
    const C mean = fused_multiply_add(squares.sum.value(), terms.inverse_cols, terms.eps * power * power);
    return {power, inverse_square_root(mean), flags};
  }

  template <int n>
  static HIPOPS_METHOD void add_one(C (&weight)[n], bool has_weight, int32_t flags) {
    if (__builtin_expect(has_weight && (flags & weight_plus_one), 0)) {
#pragma unroll
      for (int i = 0; i < n; ++i) weight[i] += C(1);
    }
  }
};

// The common functions of ops that norm by a root mean square (an op is explained in row_op.h).
template <class T, class Args_>
struct RmsOp : RowOp {
  using Args = Args_;
  using C = compute_t<T>;
  using Largest = WideSum<C>;
  using Part = SumOfSquares<C>;
  using Extremes = RmsExtremes<T>;
  static constexpr int kColumns = 1, kScalars = 1;  // rstd
  static HIPOPS_METHOD C absent_column(int) { return 1; }
  static HIPOPS_METHOD bool is_plain(const RowScale<C>& row) { return row.flags == 0; }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) { return Part::of(view, terms_of(reload_arguments(a), C())); }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD RowScale<C> finalize(const Args& a, const Part& part) { return RowScale<C>::of(part, terms_of(a, C()), a.flags); }

  static HIPOPS_METHOD void scalars(const RowScale<C>& scale, C (&out)[1]) { out[0] = scale.power * scale.factor; }

  // Multiplies by the weights, following a norm's flags. Without weights, each is 1.
  template <int n, int outputs>
  static HIPOPS_METHOD void apply(const Args& a, const RowScale<C>& scale, const C (&x)[n], C (&column)[2][n],
                                  C (&out)[outputs][n]) {
    // nvcc: launches without flags have code of their own. Code for all flags stores values of unaligned rows to the stack.
    if (bounds_set_registers && __builtin_expect(scale.flags == 0, 1)) {
#pragma unroll
      for (int i = 0; i < n; ++i) out[0][i] = x[i] * scale.factor * column[0][i];
      return;
    }
    C normalized[n];
#pragma unroll
    for (int i = 0; i < n; ++i) normalized[i] = x[i] * scale.factor;
    if (__builtin_expect(scale.flags != 0, 0)) {
      scale.add_one(column[0], a.columns[0].data != nullptr, scale.flags);
      if (scale.flags & round_before_weight) round_to<T>(normalized);
    }
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = normalized[i] * column[0][i];
  }
};

}  // namespace
}  // namespace hipops
