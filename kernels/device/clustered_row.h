// Rows that a cluster shares.
#pragma once

#include "device/row_tile.h"

namespace hipops {
namespace {

// Whether the next row's loads are under way while a row is worked on. On AMD they are another block's, of which there
// is room for two.
#if defined(HIPOPS_AMD)
constexpr bool next_row_ahead = false;
#else
constexpr bool next_row_ahead = true;
#endif

template <class Shape, class F>
HIPOPS_FN void for_each_clustered_row(const RowGeometry& geometry, const void* x, void* y, F f) {
  if constexpr (next_row_ahead) {
    for_each_row_ahead<Shape>(geometry, x, y, f);
  } else {
    for_each_row<Shape>(geometry, x, y, f);
  }
}

// Weights that stay with a block for all its rows, in the shared memory that its launch brings, where it does: from the
// L2 cache they would be as many bytes as the row itself, again for each row. They lie there as the block's vectors do
// in a row that begins at an aligned address, each of kVectors pieces with one vector more: where a row begins
// elsewhere, its vectors straddle two of those. `which` tells those of one kernel apart.
template <class Shape, int which>
class KeptWeights {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;

  HIPOPS_METHOD KeptWeights(const Weights<Shape>& weights, const void* data, const RowGeometry& g)
      : weights_(weights), data_(static_cast<const T*>(data)), g_(&g) {
#if defined(HIPOPS_NVIDIA)
    if (!kept()) return;
    const Rows<Shape> rows(g, nullptr, nullptr);
    const int vectors = g.threads + 1;
#pragma unroll 1
    for (int i = int(thread_index()); i < Shape::kVectors * vectors; i += g.threads) {
      const int v = i / vectors;
      const int64_t col = rows.column(v) + int64_t(i - v * vectors - int(thread_index())) * kLength;
      Vector<T, kLength> some = {};
      if (Shape::kWide && col < g.cols) some = load_vector<kLength>(data_ + col);
      for (int e = 0; !Shape::kWide && e < kLength; ++e)
        if (col + e < g.cols) some.element[e] = data_[col + e];
      launch_shared<Kept>()[which * Shape::kVectors * vectors + i] = some;
    }
    barrier();
#endif
  }

  template <int v, int e, int n, class C>
  HIPOPS_METHOD void get(const Place<v, e>& place, C (&out)[n]) const {
#if defined(HIPOPS_NVIDIA)
    if constexpr (v >= 0) {
      if (kept()) {
        const Kept* at =
            launch_shared<Kept>() + (which * Shape::kVectors + v) * (g_->threads + 1) + int(thread_index());
        const Packed<T, n> raw =
            Shape::kWide ? Packed<T, n>(at[0]) : straddling(at[0], at[1], int(place.col) % kLength);
#pragma unroll
        for (int i = 0; i < n; ++i) out[i] = C(widen(raw[i]));
        return;
      }
    }
#endif
    weights_.get(place, out);
  }

 private:
#if defined(HIPOPS_NVIDIA)
  using Kept = Vector<T, kLength>;

  HIPOPS_METHOD bool kept() const { return g_->weights_kept && data_ != nullptr; }

  // The vector that begins with element `from` of the first of two.
  static HIPOPS_METHOD Packed<T, kLength> straddling(const Kept& first, const Kept& second, int from) {
    uint4 a = bit_cast<uint4>(first), b = bit_cast<uint4>(second);
    const int words = from * int(sizeof(T)) / 4;
    if (words & 2) a.x = a.z, a.y = a.w, a.z = b.x, a.w = b.y, b.x = b.z, b.y = b.w;
    if (words & 1) a.x = a.y, a.y = a.z, a.z = a.w, a.w = b.x, b.x = b.y;
    if (sizeof(T) == 2 && from % 2 == 1) {
      a.x = __funnelshift_r(a.x, a.y, 16), a.y = __funnelshift_r(a.y, a.z, 16);
      a.z = __funnelshift_r(a.z, a.w, 16), a.w = __funnelshift_r(a.w, b.x, 16);
    }
    return Packed<T, kLength>(a.x, a.y, a.z, a.w);
  }
#endif

  Weights<Shape> weights_;
  const T* data_;
  const RowGeometry* g_;
};

}  // namespace
}  // namespace hipops
