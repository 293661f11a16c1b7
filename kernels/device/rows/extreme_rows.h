// Rows for which apply() of an op loses digits: their sums are beyond limits, or values before the weight are denormal.
// Only an op that names its Extremes runs code of this file. Extremes is a struct of
//
//   kExist                              true
//   is_extreme(row)                     whether Op::apply() fails for the row
//   apply(args, row, x, columns, out)   does the same without a loss. A wave with an extreme row computes all its
//                                       rows so, but not vectors x for which
//   may_lift(args, row, x)              returns false
//   kByElement                          whether elements decide, too. Then also
//   least(row, x)                       returns the smallest magnitude of a value before its weight. If that is denormal,
//   loses_digits(args, row, x)          decides for each vector whether apply() must compute it
//
// A row's bits never depend on other rows of its wave. All numbers are multiplied by kLift until the weight is applied.
#pragma once

#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/rows/results.h"

namespace hipops {
namespace {

struct Magnitude {
  HIPOPS_METHOD float operator()(float v) const { return fabsf(v); }
  HIPOPS_METHOD double operator()(double v) const { return fabs(v); }
};
HIPOPS_FN float smaller(float a, float b) { return fminf(a, b); }
HIPOPS_FN double smaller(double a, double b) { return fmin(a, b); }

// ---- For the row kernel.

// Whether a kernel has only the copy of the code that runs Extremes::apply(). gfx9 has no registers for two copies.
template <class Shape>
constexpr bool has_one_copy = !Shape::kOnChip && !bounds_set_registers;
// Whether may_lift() decides: lanes of a wave have different rows, or one copy computes all rows. In the second case,
// with kByElement, Extremes::apply() computes every element: a wave has one row, so bits depend on no other.
template <class Extremes, class Shape>
constexpr bool mixes_rows =
    Shape::kLanes < wave_size || Shape::kLanesAsNeeded || (has_one_copy<Shape> && !Extremes::kByElement);

// Whether loses_digits() holds in the wave. `least` is also 0 if an x is 0.
template <class Op, class Shape, class Rows, class Row>
HIPOPS_FN bool loses_digits(const typename Op::Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row) {
  using C = typename Shape::Compute;
  bool loses = false;
  tile.recompute_derived(a);
  tile.for_each_vector(rows, base, [&](int, typename Rows::Column col, const C (&elements)[Shape::kLength]) {
    if (rows.contains(col)) loses |= Op::Extremes::loses_digits(a, row, elements);
  });
  const C edge[1] = {tile.edge()};
  if (Rows::kHasEdges && base == 0 && rows.edge() >= 0) loses |= Op::Extremes::loses_digits(a, row, edge);
  return ballot(loses) != 0;
}

template <class Op>
struct WatchedResults {
  static constexpr bool kAreRare = false;
  typename Op::C least = typename Op::C(INFINITY);

  template <class Args, class Row, class C, int n, int columns>
  HIPOPS_METHOD void operator()(const Args& a, const Row& row, const C (&x)[n], C (&column)[columns][n],
                                C (&out)[Op::kOutputs][n]) {
    if constexpr (Op::Extremes::kByElement) least = smaller(least, Op::Extremes::least(row, x));
    PlainResults<Op>()(a, row, x, column, out);
  }
};
template <class Op, class Shape>
struct ExtremeResults {
  static constexpr bool kAreRare = true;

  template <class Args, class Row, class C, int n, int columns>
  HIPOPS_METHOD void operator()(const Args& a, const Row& row, const C (&x)[n], C (&column)[columns][n],
                                C (&out)[Op::kOutputs][n]) const {
    if constexpr (mixes_rows<typename Op::Extremes, Shape>) {
      if (!Op::Extremes::may_lift(a, row, x)) return PlainResults<Op>()(a, row, x, column, out);
    }
    copy_input<Op>(x, out);
    Op::Extremes::apply(a, row, x, column, out);
  }
};

// Stores the results of a tile. Waves with extreme rows or lost digits get ExtremeResults.
template <class Op, class Shape, class Rows, class Row, class Columns>
HIPOPS_FN void store_with_extremes(const typename Op::Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base,
                                   const Row& row, const Columns& columns) {
  using C = typename Shape::Compute;
  ExtremeResults<Op, Shape> extreme;
  if constexpr (!has_one_copy<Shape>) {
    tile.recompute_widened();
    if (__builtin_expect(ballot(Op::Extremes::is_extreme(row)) == 0, 1)) {
      WatchedResults<Op> watched;
      store_results(a, tile, rows, base, row, columns, watched);
      if constexpr (!Op::Extremes::kByElement) return;
      else if (__builtin_expect(ballot(watched.least < FloatFormat<C>::kLeastNormal) == 0, 1)) return;
      else if (!loses_digits(a, tile, rows, base, row)) return;
    }
    tile.recompute_derived(a);
  }
  store_results(a, tile, rows, base, row, columns, extreme);
}

// Computes the results of some elements of a row that one lane computes.
template <class Op, class Row, class C, int n, int columns>
HIPOPS_FN void apply_with_extremes(const typename Op::Args& a, const Row& row, const C (&x)[n], C (&column)[columns][n],
                                   C (&out)[Op::kOutputs][n]) {
  using Extremes = typename Op::Extremes;
  C same[columns][n];  // apply() may change weights
  __builtin_memcpy(same, column, sizeof same);
  C least = C(INFINITY);
  if constexpr (Extremes::kByElement) least = Extremes::least(row, x);
  PlainResults<Op>()(a, row, x, column, out);
  bool extreme = Extremes::is_extreme(row);
  if constexpr (Extremes::kByElement) extreme |= least < FloatFormat<C>::kLeastNormal && Extremes::loses_digits(a, row, x);
  if (__builtin_expect(extreme, 0)) Extremes::apply(a, row, x, same, out);
}

// ---- For sums. Elements of extreme rows are scaled by a power of two.

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
// 1 / power, of a normal power of two with a normal inverse.
template <class C>
HIPOPS_FN C inverse_power(C power) { return power_of_two<C>(-exponent_of(power)); }
// 2^e for e <= 0, but not below the smallest normal number.
template <class C>
HIPOPS_FN C power_at_least_normal(int e) {
  const int least = 1 - FloatFormat<C>::kBias;
  return power_of_two<C>(e > least ? e : least);
}

// The exponent e of the scale 2^-e: of the largest magnitude, or about sqrt(eps)'s if larger. 2^-e must be normal.
template <class C, class View>
HIPOPS_FN int scaling_exponent(const View& view, C eps) {
  const int of_x = exponent_of(view.reduce(Maximum(), Magnitude())), of_eps = exponent_of(eps) / 2 + 1;
  const int e = of_x > of_eps || eps == C(0) ? of_x : of_eps, most = FloatFormat<C>::kBias - 1;
  return e < most ? e : most;
}

// ---- For results.

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
HIPOPS_FN bool is_lifted_denormal(C lifted) { return Magnitude()(lifted) < FloatFormat<C>::kLeastNormal * FloatFormat<C>::kLift; }

// Factors whose product is kLift, for a power of two and another constant of a row. `power` is multiplied by kLift if it
// is small, otherwise the constant: a large power * kLift would overflow.
template <class C>
struct Lift {
  C of_power, of_constant;
  explicit HIPOPS_METHOD Lift(C power)
      : of_power(power < C(1) ? FloatFormat<C>::kLift : C(1)), of_constant(FloatFormat<C>::kLift / of_power) {}
};

// Rows of x * power * factor, with weights and flags of a norm (rms.h).
template <class T>
struct RmsExtremes {
  using C = compute_t<T>;
  static constexpr bool kExist = true, kByElement = !is_f16<T>;  // f16 has no elements so small

  template <class Row>
  static HIPOPS_METHOD bool is_extreme(const Row& row) { return row.power != C(1); }
  template <class Row, int n>
  static HIPOPS_METHOD C least(const Row& row, const C (&x)[n]) {
    C normalized[n];
#pragma unroll
    for (int i = 0; i < n; ++i) normalized[i] = x[i] * row.factor;
    return least_magnitude(normalized);
  }
  template <class Args, class Row, int n>
  static HIPOPS_METHOD bool loses_digits(const Args& a, const Row& row, const C (&x)[n]) {
    const bool has_weight = a.columns[0].data != nullptr;
    const int32_t flags = a.flags;
    bool small = false;
#pragma unroll
    for (int i = 0; i < n; ++i) small |= x[i] != C(0) && Magnitude()(x[i] * row.factor) < FloatFormat<C>::kLeastNormal;
    return small && has_weight && !(flags & round_before_weight);
  }
  // Other denormal results would be rounded twice, lifted, then dropped (not f16's).
  template <class Args, class Row, int n>
  static HIPOPS_METHOD bool may_lift(const Args& a, const Row& row, const C (&x)[n]) {
    return is_f16<T> || is_extreme(row) || loses_digits(a, row, x);
  }
  template <class Args, class Row, int n, int outputs>
  static HIPOPS_METHOD void apply(const Args& a, const Row& row, const C (&x)[n], C (&column)[2][n], C (&out)[outputs][n]) {
    using F = FloatFormat<C>;
    const bool has_weight = a.columns[0].data != nullptr;
    const int32_t flags = a.flags;
    Row::add_one(column[0], has_weight, flags);
    const Lift<C> lift(row.power);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C weight = column[0][i];
      const C lifted = x[i] * (row.power * lift.of_power) * (row.factor * lift.of_constant), normalized = lifted * F::kDrop;
      if (flags & round_before_weight) out[0][i] = C(widen(narrow<T>(normalized))) * weight;
      else out[0][i] = is_lifted_denormal(lifted) ? lifted * (weight * F::kDrop) : normalized * weight;
    }
  }
};

// Rows of ((x - mean) * scale) * power, with weight and bias (moments.h).
template <class T>
struct NormalizationExtremes {
  using C = compute_t<T>;
  static constexpr bool kExist = true, kByElement = false;

  // Elements may be normalized to denormal numbers only if the mean is tiny: otherwise a deviation is 0, or not smaller
  // than the last digits of the mean.
  template <class Row>
  static HIPOPS_METHOD bool is_extreme(const Row& row) {
    return row.power != C(1) || (!is_f16<T> && Magnitude()(row.high) * row.scale < FloatFormat<C>::kDrop);
  }
  // In other rows the mean times 2^64 may overflow, even if it cancels the element. f16 has no such elements.
  template <class Args, class Row, int n>
  static HIPOPS_METHOD bool may_lift(const Args&, const Row& row, const C (&)[n]) { return is_f16<T> || is_extreme(row); }
  template <class Args, class Row, int n, int outputs>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const C (&x)[n], C (&column)[3][n], C (&out)[outputs][n]) {
    using F = FloatFormat<C>;
    const Lift<C> lift(row.power);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C weight = column[0][i], bias = column[1][i], scale = row.scale * lift.of_constant;
      const C deviation = x[i] * (row.power * lift.of_power) - row.high * lift.of_power;
      const C lifted = fused_multiply_add(deviation, scale, -row.low * lift.of_power * scale);
      out[0][i] = is_lifted_denormal(lifted) ? fused_multiply_add(lifted, weight * F::kDrop, bias)
                                             : fused_multiply_add(lifted * F::kDrop, weight, bias);
    }
  }
};

}  // namespace
}  // namespace hipops
