// Mean and variance of a row: the sums they are made of, and how they are made.
#pragma once

#include "device/rows/norm.h"

namespace hipops {
namespace {

// In f64 it takes registers that there are not where a block has several rows and a lane four vectors: aligned ones
// spilled. (Edged and staged ones go with them; they were not measured.)
template <class Shape>
using RowSum = WideSum<typename Shape::Compute, sums_in_f64<typename Shape::Compute> &&
                                                    !(Shape::kRowsPerBlock > 1 && Shape::kVectors > 3)>;

// The sum of x. Elements of 16 bits, unless they differ much in size (docs/ops/layer_norm.md), leave f32 room for the carries
// of a vector, so only the sums of vectors are wide.
template <class Shape>
HIPOPS_FN auto sum_of(const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base) {
  const auto wide = [](typename Shape::Compute v) { return RowSum<Shape>::of(v); };
  if constexpr (sizeof(typename Shape::Element) == 2) return tile.reduce(rows, base, Sum(), Identity(), wide);
  else return tile.reduce(rows, base, Sum(), wide, Identity());
}

// The mean as two numbers, and what is left of x without it.
template <class T, class C = compute_t<T>>
struct Mean {
  C high, low;

  template <class S, class Terms>
  HIPOPS_METHOD Mean(const S& sum, const Terms& terms) {
    // The quotient, rounded once: an estimate, and what it missed of the sum (Markstein). `low` is what that has missed
    // in turn.
    C estimate = sum.high() * terms.inverse_cols;
    high = fused_multiply_add(missed(sum.high(), estimate, terms), terms.inverse_cols, estimate);
    // Rounded by itself: where all x are equal, what is left of them without the mean is 0.
    low = rounded_product(missed(sum.high(), high, terms) + sum.low(), terms.inverse_cols);
  }
  HIPOPS_METHOD C deviation(C x) const { return (x - high) - low; }
  // (x - mean) * scale in two roundings, the first of which is none where x is close to the mean.
  struct Scaled {
    C high, scale, low;
    HIPOPS_METHOD C operator()(C x) const { return fused_multiply_add(x - high, scale, low); }
  };
  HIPOPS_METHOD Scaled scaled(C scale) const { return {high, scale, -low * scale}; }
  HIPOPS_METHOD C variance(C mean_of_squares) const { return mean_of_squares; }
  // How much larger the squared deviations from another mean are, for each element.
  HIPOPS_METHOD C square_apart(const Mean& other) const {
    C d = (high - other.high) + (low - other.low);
    return d * d;
  }
};

// Elements of 16 bits bear it that `low` is taken away of the variance once a row.
template <class T>
struct Mean16 : Mean<f32> {
  using Mean<f32>::Mean;
  HIPOPS_METHOD float deviation(float x) const { return x - high; }
  HIPOPS_METHOD float square_apart(const Mean16& other) const {
    float d = high - other.high;
    return d * (d + 2 * low);
  }
  HIPOPS_METHOD float variance(float mean_of_squares) const {
    return fmaxf(fused_multiply_add(-low, low, mean_of_squares), 0.0f);
  }
};
template <> struct Mean<f16> : Mean16<f16> { using Mean16<f16>::Mean16; };
template <> struct Mean<bf16> : Mean16<bf16> { using Mean16<bf16>::Mean16; };

template <class M>
struct SquaredDeviation {
  const M& mean;
  template <class C> HIPOPS_METHOD C operator()(C x) const {
    C d = mean.deviation(x);
    return d * d;
  }
};

// ---- Both sums in one meeting of the waves that share a row, where each sum by itself would take one.

// The sum of elements, and that of their squares.
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

// A work-item's part of the sum, as above, and of the sum of squares.
template <class Shape>
HIPOPS_FN auto moments_of(const RowTile<Shape>& tile, const Rows<Shape>& rows) {
  using C = typename Shape::Compute;
  using W = RowSum<Shape>;
  if constexpr (sizeof(typename Shape::Element) == 2) {
    return tile.reduce(
        rows, 0, Sum(), [](C x) { return Moments<C>{x, x * x}; },
        [](const Moments<C>& of_vector) { return Moments<W, C>{W::of(of_vector.sum), of_vector.squares}; });
  } else {
    return tile.reduce(rows, 0, Sum(), [](C x) { return Moments<W, C>{W::of(x), x * x}; });
  }
}

// Squared deviations from the mean, found as sum(x^2) - n mean^2, are off by as many more digits as mean^2 has more than
// the variance: good enough where mean^2 is at most so many variances, as results of 16 bits have no place for f32's last
// digits. Elsewhere they are to be taken of differences to the mean.
template <class T> constexpr float kVariances = 0.25f;
template <> [[maybe_unused]] constexpr float kVariances<f16> = 32;
template <> [[maybe_unused]] constexpr float kVariances<bf16> = 256;

template <class T, class C>
HIPOPS_FN bool are_moments_enough(C mean, C squares, C elements) {
  return mean * mean * elements <= C(kVariances<T>) * squares && squares < C(INFINITY);
}

// A work-item's part of those, of a row that it reads again: a second use of what it has in registers would take more of
// them, for all rows. Nothing of the row has been stored by then.
template <class Shape, class M>
HIPOPS_FN auto squares_read_again(const M& mean, const Rows<Shape>& rows) {
  constexpr int kAtOnce = 4;
  static_assert(Shape::kVectors % kAtOnce == 0, "whole steps");
  using C = typename Shape::Compute;
  const SquaredDeviation<M> squared{mean};
  const int left = rows.left(0);
  C sum = 0;
#pragma unroll 1
  for (int first = 0; first < Shape::kVectors && rows.column(first) < left; first += kAtOnce) {
    Packed<typename Shape::Element, Shape::kLength> x[kAtOnce];
#pragma unroll
    for (int v = 0; v < kAtOnce; ++v) x[v] = rows.load(0, rows.column(rows.column(first + v) < left ? first + v : first));
#pragma unroll
    for (int v = 0; v < kAtOnce; ++v) {
      C of_vector = 0;
#pragma unroll
      for (int i = 0; i < Shape::kLength; ++i) of_vector += squared(C(widen(x[v][i])));
      if (rows.column(first + v) < left) sum += of_vector;
    }
  }
#pragma unroll
  for (int e = 0; e < Shape::kEdges; ++e)
    if (rows.edge(e) >= 0) sum += squared(C(widen(rows.load_edge(rows.edge(e)))));
  return sum;
}

}  // namespace
}  // namespace hipops
