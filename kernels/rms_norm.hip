// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight   [cols], optional, in x's type or f32
//   bytes    rows * cols * 2 * sizeof(element) must move; the weights stay in the cache
//   range    |x| up to 1e18 (f64: 1e153): the squares are summed as they are
//
// resident variants read a row once and keep it in registers: up to 16384 16-bit elements, 8192 f32, 4096 f64, or 1024 where the
// elements have gaps between them. Short rows share a wave, so that every lane has its 16 bytes in flight; a long row has a block.
// streaming variants read longer rows twice, the second time out of the L2 cache as far as it holds them.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rms_norm.hip -o rms_norm.co
#include "rms_norm.h"

#include "device/row.h"

namespace hipops {
namespace {

template <class Shape>
HIPOPS_FN Weights<Shape> weight_of(const RmsNormArgs& a) {
  return {a.weight, a.weight_is_f32 != 0, a.weight_stride, 1};
}

// What each element of a row is multiplied by.
template <class C>
HIPOPS_FN C row_scale(const RmsNormArgs& a, C sum_of_squares) {
  return inverse_square_root(sum_of_squares / C(a.geometry.cols) + C(a.eps));
}

template <class Shape>
HIPOPS_FN void store_scaled(const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base, const Weights<Shape>& weight,
                            typename Shape::Compute scale) {
  using C = typename Shape::Compute;
  tile.store(rows, base, [&](int64_t col, const auto& x, auto& y) {
    constexpr int n = sizeof(x) / sizeof(C);
    C w[n];
    weight.load(col, w);
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = x[i] * scale * w[i];
  });
}

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};

template <class Shape>
HIPOPS_FN void rms_norm_resident(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Weights<Shape> weight = weight_of<Shape>(a);
  Reduce<C, Shape::kThreads, Shape::kBlock> reduce;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    RowTile<Shape> tile;
    tile.load(rows, 0, C(0));
    C sum = reduce(tile.reduce(Sum(), Square()), Sum());
    store_scaled(tile, rows, 0, weight, row_scale(a, sum));
  }
}

template <class Shape>
HIPOPS_FN void rms_norm_streaming(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Weights<Shape> weight = weight_of<Shape>(a);
  Reduce<C, Shape::kThreads, Shape::kBlock> reduce;
  RowTile<Shape> tile;
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    SplitSum<C> sum = SplitSum<C>::of(0);
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, C(0));
      sum = sum + SplitSum<C>::of(tile.reduce(Sum(), Square()));
    }
    C scale = row_scale(a, reduce(sum.value(), Sum()));
    for (int64_t base = 0; base < rows.cols(); base += Shape::kTile) {
      tile.load(rows, base, C(0));
      store_scaled(tile, rows, base, weight, scale);
    }
  }
}

}  // namespace

#define KERNEL(name, T, threads, vectors, block, access, mode) \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(RmsNormArgs) a) { rms_norm_##mode<RowShape<T, threads, vectors, block, access>>(a); }
HIPOPS_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rms_norm, RmsNormArgs, HIPOPS_RMS_NORM_KERNELS)

}  // namespace hipops
