// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   bytes    rows * cols * 2 * sizeof(element) must move
//   limits   a row that is all -inf, or holds +inf or a NaN, is NaN
//
// resident variants read a row once and keep it in registers, and take each exponential once: two an element would cost more time
// than the bytes. Up to 16384 16-bit elements, 8192 f32, 4096 f64, or 1024 where the elements have gaps between them. Short rows
// share a wave; a long row has a block.
// streaming variants read longer rows twice: once for maximum and sum together, the sum being rescaled when the maximum grows.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/softmax.hip -o softmax.co
#include "softmax.h"

#include "device/row.h"

namespace hipops {
namespace {

// How exactly results of type T need exponentials, their sum, and the division by it.
template <class T>
struct Precision {  // f16, bf16: f32 has digits to spare
  using SumType = float;
  static HIPOPS_METHOD float exp(float x, float m) { return exp_difference_fast(x, m); }
  static HIPOPS_METHOD float sum_of(float v) { return v; }

  struct Divide {
    float inverse;
    explicit HIPOPS_METHOD Divide(float sum) : inverse(1.0f / sum) {}
    HIPOPS_METHOD float operator()(float v) const { return v * inverse; }
  };
};

template <class C>
struct FullPrecision {
  using SumType = SplitSum<C>;
  static HIPOPS_METHOD C exp(C x, C m) { return exp_difference(x, m); }
  static HIPOPS_METHOD SumType sum_of(C v) { return SumType::of(v); }

  // Times the inverse, kept as two numbers: rounded once, for two operations an element where a division is ten.
  struct Divide {
    C inverse, rest;
    explicit HIPOPS_METHOD Divide(const SumType& sum) : inverse(C(1) / sum.high) {
      rest = (fused_multiply_add(-inverse, sum.high, C(1)) - inverse * sum.low) * inverse;
    }
    HIPOPS_METHOD C operator()(C v) const { return fused_multiply_add(v, inverse, v * rest); }
  };
};
template <> struct Precision<f32> : FullPrecision<float> {};
template <> struct Precision<f64> : FullPrecision<double> {};

template <class Shape>
HIPOPS_FN void softmax_resident(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Reduce<typename P::SumType, Shape::kThreads, Shape::kBlock> reduce;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    RowTile<Shape> tile;
    tile.load(rows, 0, -C(INFINITY));
    C maximum = reduce(tile.reduce(Maximum(), Identity()), Maximum());
    tile.transform_all([maximum](C x) { return P::exp(x, maximum); });
    typename P::Divide divide(reduce(tile.reduce(Sum(), P::sum_of), Sum()));
    tile.store(rows, 0, [divide](int64_t, const auto& x, auto& y) {
      constexpr int n = sizeof(x) / sizeof(C);
#pragma unroll
      for (int i = 0; i < n; ++i) y[i] = divide(x[i]);
    });
  }
}

template <class Shape>
HIPOPS_FN void softmax_streaming(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  const C lowest = -C(INFINITY);
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Reduce<SplitSum<C>, Shape::kThreads, Shape::kBlock> reduce;
  RowTile<Shape> tile;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    C maximum = lowest;
    SplitSum<C> sum = SplitSum<C>::of(0);
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, lowest);
      C larger = Maximum()(maximum, tile.reduce(Maximum(), Identity()));
      if (larger > maximum) {
        C factor = P::exp(maximum, larger);
        sum = {sum.high * factor, sum.low * factor};
        maximum = larger;
      }
      // -inf - -inf is no number: while all that was seen is -inf, it counts for nothing.
      C reference = maximum == lowest ? C(0) : maximum;
      tile.transform_all([reference](C x) { return P::exp(x, reference); });
      sum = sum + SplitSum<C>::of(tile.reduce(Sum(), Identity()));
    }
    C of_row = reduce(maximum, Maximum());
    C factor = P::exp(maximum, of_row);  // NaN where of_row is -inf, and so will be the row
    sum = reduce(SplitSum<C>{sum.high * factor, sum.low * factor}, Sum());
    typename FullPrecision<C>::Divide divide(sum);
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, lowest);
      tile.store(rows, base, [of_row, divide](int64_t, const auto& x, auto& y) {
        constexpr int n = sizeof(x) / sizeof(C);
#pragma unroll
        for (int i = 0; i < n; ++i) y[i] = divide(P::exp(x[i], of_row));
      });
    }
  }
}

}  // namespace

#define KERNEL(name, T, threads, vectors, block, access, mode) \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(SoftmaxArgs) a) { softmax_##mode<RowShape<T, threads, vectors, block, access>>(a); }
HIPOPS_SOFTMAX_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(softmax, SoftmaxArgs, HIPOPS_SOFTMAX_KERNELS)

}  // namespace hipops
