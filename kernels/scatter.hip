// scatter: y[.., index[.., j, ..], ..] = x[.., j, ..] along dim, in place in y.
//
//   x, index  one shape, any strides; x of any element of 1, 2, 4 or 8 bytes
//   y         any strides; outside of dim no smaller than x
//   bytes     each source and its index are read, and its element of y is written: 2 * sizeof(element) + sizeof(index)
//             for each source
//
// An element of y is written whole, by one store for each of its sources. If an index repeats, the kernels differ:
//
//   any     all sources in parallel. The source that is stored last stays.
//   line    one work-item stores all sources along dim in order, so the last source stays. Fast if dim is not innermost
//           and there are many lines. A single long line is the work of a single work-item.
//   clear, claim, winner   the same result in parallel, with a workspace. Every element of y that x's lines can reach
//           has a winner, 0 at first. Each source claims its element: the winner is the maximum of position along dim
//           plus 1. Then each element with a winner is stored. 4 bytes for each such element are written, changed by
//           one atomic for each source, and read.
//
// An access is an element, or several neighbours of up to 16 bytes together. The second needs x and y contiguous and
// aligned along the innermost dimension, and an index of stride 0 along it: rows that are scattered whole.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/scatter.hip -o scatter.co
#include "scatter.h"

#include "device/move/scatter.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

template <class T>
HIPOPS_FN void scatter_any(const ScatterArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for_each_source(a.geometry, a.index, [&](const SourceOffsets& at) { return x[at.of[kScatterX]]; },
                  [&](int64_t to, const T& value) { store_contended(y + to, value); });
}

template <class T>
HIPOPS_FN void scatter_line(const ScatterArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for_each_line(
      a.geometry, a.index, [&](int64_t of_x) { return x[of_x]; }, [&](int64_t to, const T& value) { y[to] = value; });
}

// The walk is over vectors of 16 bytes of winners.
template <class T>
HIPOPS_FN void scatter_clear(const ScatterArgs& a) {
  for_each_batch(a.geometry, [&](const int64_t(&i)[kScatterDepth]) {
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n)
      if (i[n] < a.geometry.walk.count) store_vector<4>(a.winners + 4 * i[n], Vector<uint32_t, 4>{});
  });
}

// The walk is over the sources. Its y operand is the winners, and a source's place is its position along dim.
template <class T>
HIPOPS_FN void scatter_claim(const ScatterArgs& a) {
  for_each_source(a.geometry, a.index, [&](const SourceOffsets& at) { return uint32_t(at.of[kScatterPlace]) + 1; },
                  [&](int64_t to, uint32_t claim) { atomic_max(a.winners + to, claim); });
}

// The walk is over the winners. Its x operand is the source at position 0.
template <class T>
HIPOPS_FN void scatter_winner(const ScatterArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  const ScatterGeometry& g = a.geometry;
  for_each_batch(g, [&](const int64_t(&i)[kScatterDepth]) {
    // An element without a winner loads x's first element, and ignores it. So there is no branch before the loads.
    SourceOffsets at[kScatterDepth];
    uint32_t winner[kScatterDepth];
    int64_t from[kScatterDepth];
    T value[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      from[n] = i[n] < g.walk.count ? i[n] : g.walk.count - 1;
      winner[n] = a.winners[from[n]];
    }
    locate(g.walk, from, at);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      from[n] = winner[n] != 0 ? at[n].of[kScatterX] + int64_t(winner[n] - 1) * g.x_step : 0;
      value[n] = x[from[n]];
    }
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n)
      if (winner[n] != 0 && i[n] < g.walk.count) y[at[n].of[kScatterY]] = value[n];
  });
}

}  // namespace

#define KERNEL(name, T, mode)                                     \
  HIPOPS_KERNEL(kScatterBlock) name(HIPOPS_ARGS(ScatterArgs) a) { \
    follow_launch_before();                                       \
    scatter_##mode<T>(a);                                         \
  }
HIPOPS_SCATTER_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(scatter, ScatterArgs, HIPOPS_SCATTER_KERNELS)

}  // namespace hipops
