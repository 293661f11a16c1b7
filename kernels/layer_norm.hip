// layer_norm: y = (x - mean) / sqrt(var + eps) * weight + bias, over the last dimension; var = mean((x - mean)^2).
//
//   x, y          [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, bias  [cols], each optional, in x's type or f32
//   bytes         rows * cols * 2 * sizeof(element) must move; weight and bias stay in the cache
//   range         |x - mean| up to 1e18 (f64: 1e153): the squares are summed as they are
//
// The variance is taken of the row on chip, from differences to the mean, never as E[x^2] - mean^2. The mean is kept as two numbers: rounded
// to one, it would be off by more than the results can bear where x is close to it, or where it is thousands of standard deviations.
//
// resident variants read a row once and keep it in registers: up to 16384 16-bit elements, 8192 f32, 4096 f64, or 1024 where the
// elements have gaps between them. Short rows share a wave, so that every lane has its 16 bytes in flight; a long row has a block.
// streaming variants read longer rows three times, after the first out of the L2 cache as far as it holds them.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/layer_norm.hip -o layer_norm.co
#include "layer_norm.h"

#include "device/row.h"

namespace hipops {
namespace {

// Sums of x. Elements of 16 bits leave f32 room for the carries of a vector, so only the sums of vectors are kept as two numbers.
template <class T> struct InVector : Identity {};
template <class T> struct OfVector {
  HIPOPS_METHOD SplitSum<float> operator()(float v) const { return SplitSum<float>::of(v); }
};
template <class C> struct SplitAtOnce {
  HIPOPS_METHOD SplitSum<C> operator()(C v) const { return SplitSum<C>::of(v); }
};
template <> struct InVector<f32> : SplitAtOnce<float> {};
template <> struct InVector<f64> : SplitAtOnce<double> {};
template <> struct OfVector<f32> : Identity {};
template <> struct OfVector<f64> : Identity {};

template <class Shape>
HIPOPS_FN SplitSum<typename Shape::Compute> sum_of(const RowTile<Shape>& tile) {
  using T = typename Shape::Element;
  return tile.reduce(Sum(), InVector<T>(), OfVector<T>());
}

template <class C>
struct Mean {
  C high, low;

  HIPOPS_METHOD Mean(const SplitSum<C>& sum, int64_t cols) {
    C n = C(cols);
    high = sum.high / n;
    low = (fused_multiply_add(-high, n, sum.high) + sum.low) / n;  // the division's remainder
  }
  HIPOPS_METHOD C operator()(C x) const { return (x - high) - low; }  // x less the mean
};

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};

// What x less the mean is multiplied by.
template <class C>
HIPOPS_FN C row_scale(const LayerNormArgs& a, C sum_of_squares) {
  return inverse_square_root(sum_of_squares / C(a.geometry.cols) + C(a.eps));
}

template <class Shape>
struct Affine {
  using C = typename Shape::Compute;
  Weights<Shape> weight, bias;

  explicit HIPOPS_METHOD Affine(const LayerNormArgs& a)
      : weight(a.weight, a.weights_are_f32 != 0, a.weight_stride, 1), bias(a.bias, a.weights_are_f32 != 0, a.bias_stride, 0) {}

  // Stores the tile, which holds x less the mean.
  HIPOPS_METHOD void store(const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base, C scale) const {
    tile.store(rows, base, [&](int64_t col, const auto& x, auto& y) {
      constexpr int n = sizeof(x) / sizeof(C);
      C w[n], b[n];
      weight.load(col, w);
      bias.load(col, b);
#pragma unroll
      for (int i = 0; i < n; ++i) y[i] = fused_multiply_add(x[i] * scale, w[i], b[i]);
    });
  }
};

template <class Shape>
HIPOPS_FN void layer_norm_resident(const LayerNormArgs& a) {
  using C = typename Shape::Compute;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Affine<Shape> affine(a);
  Reduce<SplitSum<C>, Shape::kThreads, Shape::kBlock> reduce;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    RowTile<Shape> tile;
    tile.load(rows, 0, C(0));
    tile.transform(rows, 0, Mean<C>(reduce(sum_of(tile), Sum()), rows.cols()));
    affine.store(tile, rows, 0, row_scale(a, reduce(tile.reduce(Sum(), Square()), Sum())));
  }
}

template <class Shape>
HIPOPS_FN void layer_norm_streaming(const LayerNormArgs& a) {
  using C = typename Shape::Compute;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Affine<Shape> affine(a);
  Reduce<SplitSum<C>, Shape::kThreads, Shape::kBlock> reduce;
  RowTile<Shape> tile;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    SplitSum<C> sum = SplitSum<C>::of(0);
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, C(0));
      sum = sum + sum_of(tile);
    }
    Mean<C> less_mean(reduce(sum, Sum()), rows.cols());

    SplitSum<C> squares = SplitSum<C>::of(0);
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, C(0));
      tile.transform(rows, base, less_mean);
      squares = squares + SplitSum<C>::of(tile.reduce(Sum(), Square()));
    }
    C scale = row_scale(a, reduce(squares.value(), Sum()));

    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, C(0));
      tile.transform(rows, base, less_mean);
      affine.store(tile, rows, base, scale);
    }
  }
}

}  // namespace

#define KERNEL(name, T, threads, vectors, block, access, mode) \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(LayerNormArgs) a) { layer_norm_##mode<RowShape<T, threads, vectors, block, access>>(a); }
HIPOPS_LAYER_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(layer_norm, LayerNormArgs, HIPOPS_LAYER_NORM_KERNELS)

}  // namespace hipops
