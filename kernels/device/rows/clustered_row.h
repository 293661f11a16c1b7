// Rows that a cluster shares.
#pragma once

#include "device/nvidia/edge_queue.h"

namespace hipops {
namespace {

// AMD's blocks of such rows are as large as their registers allow: each row's loads wait for the one before it, while
// other units' are under way, and nothing is kept that can be made anew.
constexpr bool short_of_registers = on_amd;

// 0. What is computed from it, as an address, is not kept from one row to the next.
HIPOPS_FN int64_t first_tile() {
#if defined(HIPOPS_AMD)
  if constexpr (!few_registers) {  // where there are the scalar ones for it
    int64_t base;
    asm volatile("s_mov_b64 %0, 0" : "=s"(base));
    return base;
  }
#endif
  return 0;
}

// A row whose values are widened anew, in place of `tile`.
template <class Shape>
HIPOPS_FN decltype(auto) widened_anew(const RowTile<Shape>& tile) {
  if constexpr (Shape::kClustered && short_of_registers && sizeof(typename Shape::Element) == 2) {
    RowTile<Shape> again = tile;
    again.keep_packed();
    return again;
  } else {
    return (tile);
  }
}

// load(rows) is for what NVIDIA's blocks load for all their rows, once the first row is on its way.
template <class Shape, bool kFindTwice = false, class Load, class F>
HIPOPS_FN void for_each_clustered_row(const RowGeometry& geometry, const void* x, void* y, Load load, F f) {
  if constexpr (short_of_registers) {
    Rows<Shape> rows(geometry, x, y);
    int64_t first = rows.begin();
    do {
      rows.select(first);
      RowTile<Shape> tile;
      tile.load(rows, first_tile());
      tile.ask_for_all();
      f(rows, tile);
      first = rows.next(first);
    } while (rows.more(first));
  } else {
    constexpr bool kQueueEdges = Shape::kEdged && kFindTwice;
    typename Choose<kQueueEdges, EdgeQueue<Shape>, EdgesInTile<Shape>>::type edges;
    for_each_row_ahead<Shape, kFindTwice>(geometry, x, y, edges, load, f);
  }
}

#if defined(HIPOPS_NVIDIA)
HIPOPS_FN bool weights_kept(const RowGeometry& g) { return has(g, weights_are_kept); }

// Weights in the element type that stay with a block for all its rows, in the shared memory that its launch brings,
// where it does: from the L2 cache they would be as many bytes as the row itself, again for each row, and be waited
// for. They lie there as the block's vectors do in a row that begins at an aligned address, and one vector more:
// where a row begins elsewhere, its vectors straddle two of those. `which` tells those of one kernel apart.
template <class Shape, int which>
class KeptWeights {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;

  // All are `otherwise` where there is no data.
  HIPOPS_METHOD KeptWeights(const void* data, typename Shape::Compute otherwise, const RowGeometry& g)
      : data_(static_cast<const T*>(data)), otherwise_(otherwise), threads_(g.threads) {}

  // Begins to fetch them.
  HIPOPS_METHOD void fetch(const RowGeometry& g) const {
    if (!weights_kept(g)) return;
    const bool aligned = data_ != nullptr && (Shape::kWide || uintptr_t(data_) % kWideBytes == 0);
    const int64_t first = int64_t(cluster_rank()) * vectors();
    for (int i = int(thread_index()); i <= vectors(); i += threads_) {
      const int64_t col = (first + i) * kLength;
      Kept* to = kept() + i;
      if (aligned && col + kLength <= g.cols) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(uint32_t(__cvta_generic_to_shared(to))),
                     "l"(__cvta_generic_to_global(data_ + col))
                     : "memory");
      } else {
        for (int e = 0; e < kLength; ++e)
          to->element[e] = data_ != nullptr && col + e < g.cols ? data_[col + e] : narrow<T>(otherwise_);
      }
    }
  }

  template <int v, int e, int n, class C>
  HIPOPS_METHOD void get(const Place<v, e>& place, C (&out)[n]) const {
    if constexpr (v < 0) {
      out[0] = data_ == nullptr ? otherwise_ : C(widen(data_[place.col]));
    } else {
      const Kept* at = kept() + (wave_index() * Shape::kVectors + v) * wave_size + lane_index();
      const Packed<T, n> raw = Shape::kWide ? Packed<T, n>(at[0]) : straddling(at[0], at[1], int(place.col) % kLength);
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = C(widen(raw[i]));
    }
  }

 private:
  using Kept = Vector<T, kLength>;

  HIPOPS_METHOD int vectors() const { return threads_ * Shape::kVectors; }  // of the block
  HIPOPS_METHOD Kept* kept() const {
    const int all = vectors() + 1;
    return &launch_shared<Kept>((which + 1) * all)[which * all];
  }

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

  const T* data_;
  typename Shape::Compute otherwise_;
  int threads_;
};

// Of all kept weights of a block.
class WeightsArrival {
 public:
  HIPOPS_METHOD void wait() {
    if (here_) return;
    asm volatile("cp.async.wait_all;" ::: "memory");
    barrier();
    here_ = true;
  }

 private:
  bool here_ = false;
};
#else
HIPOPS_FN bool weights_kept(const RowGeometry&) { return false; }
struct WeightsArrival {
  HIPOPS_METHOD void wait() {}
};
template <class Shape, int which>
struct KeptWeights {
  HIPOPS_METHOD KeptWeights(const void*, typename Shape::Compute, const RowGeometry&) {}
  HIPOPS_METHOD void fetch(const RowGeometry&) const {}
  template <class Place, class C, int n>
  HIPOPS_METHOD void get(const Place&, C (&)[n]) const {}
};
#endif

}  // namespace
}  // namespace hipops
