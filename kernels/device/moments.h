// A row's mean and variance out of one meeting of the waves that share it, rather than two.
#pragma once

#include "device/row_tile.h"

namespace hipops {
namespace {

// The sum of elements, and that of their squares.
template <class S, class Q = S>
struct Moments {
  S sum;
  Q squares;

  friend HIPOPS_METHOD Moments operator+(const Moments& a, const Moments& b) {
    return {a.sum + b.sum, a.squares + b.squares};
  }
};

#if defined(HIPOPS_NVIDIA)
template <class W>
struct WholeWave<Moments<W>, SumByMatrix> {
  using Each = WholeWave<W, SumByMatrix>;
  static constexpr bool kExists = Each::kExists, kInF64 = false;
  static HIPOPS_METHOD Moments<W> of_eight(const Moments<W>& v) {
    return {Each::of_eight(v.sum), Each::of_eight(v.squares)};
  }
  static HIPOPS_METHOD Moments<W> of(const Moments<W>& v) { return {Each::of(v.sum), Each::of(v.squares)}; }
};
#endif

// Squared deviations from the mean, found as sum(x^2) - n mean^2, are off by as many more digits as mean^2 has more than
// the variance: good enough where mean^2 is at most so many variances, as results of 16 bits have no place for f32's last
// digits. Elsewhere they are to be taken of differences to the mean.
template <class T> constexpr float kVariances = 0.25f;
template <> [[maybe_unused]] constexpr float kVariances<f16> = 8;
template <> [[maybe_unused]] constexpr float kVariances<bf16> = 64;

template <class T, class C>
HIPOPS_FN bool are_moments_enough(C mean, C squares, C elements) {
  return mean * mean * elements <= C(kVariances<T>) * squares && squares < C(INFINITY);
}

}  // namespace
}  // namespace hipops
