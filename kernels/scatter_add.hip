// scatter_add: y[.., index[.., j, ..], ..] += x[.., j, ..] along dim, in place in y.
//
//   x, index  one shape, any strides; x in f32, f16, bf16, f64, or integers of 8, 32 or 64 bits, which wrap around
//   y         x's type, any strides; off dim no smaller than x
//   bytes     each source and its index are read, and its element of y is read and written: 3 * sizeof(element) +
//             sizeof(index) for each source
//
//   atomic all sources in parallel, each by an atomic addition, in any order; the order does not change sums of
//          integers. It is one instruction if the target has it (docs/ops/scatter_add.md). Not u8: no target has a u8
//          atomic. 16-bit floats only if y consists of whole aligned words, as the instructions add to words.
//   wide   the same in vectors of 4 elements that are neighbours in x, y and the index, for f32, f16 and bf16. If their
//          indices are equal, sm_90 and later add them by one instruction. AMD has none, so `wide` is not chosen there.
//   line   one work-item adds all sources along dim, in order: for deterministic floats, and where `atomic` cannot add.
//          Fast if dim is not innermost and there are many lines. A single long line has only one work-item.
//
// These round 16-bit floats at each addition. With a workspace the sums are f32: `widen` copies the elements of y that
// x's lines can reach, `f32_atomic`, `f32_wide` or `f32_line` add to the copies, and `round` stores the changed copies,
// rounded once. This moves up to 14 bytes more for each element.
//
//   uniform  with the workspace, for many sources, or in order. Reads the whole index, to find out if each row has one
//            index. If so, index_add's kernels sort the rows' indices and add whole rows in that order (index_add.hip).
//            The kernels above follow, and return early. The kernels of index_add return early if a row's indices
//            differ, or if, in any order, one row of y has enough sources for atomics to be faster.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/scatter_add.hip -o scatter_add.co
#include "scatter_add.h"

#include "device/core/scan.h"
#include "device/move/scatter.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

template <class Sum, class T>
HIPOPS_FN Sum converted(T v) {
  if constexpr (sizeof(Sum) == sizeof(T)) return v;
  else return widen(v);
}

HIPOPS_FN u8 sum_of(u8 a, u8 b) { return u8(a + b); }
HIPOPS_FN f32 sum_of(f32 a, f32 b) { return a + b; }
HIPOPS_FN f64 sum_of(f64 a, f64 b) { return a + b; }
HIPOPS_FN f16 sum_of(f16 a, f16 b) { return narrow<f16>(widen(a) + widen(b)); }
HIPOPS_FN bf16 sum_of(bf16 a, bf16 b) { return narrow<bf16>(widen(a) + widen(b)); }

template <class T, class Sum>
HIPOPS_FN Sum* sums_of(const ScatterAddArgs& a) {
  return static_cast<Sum*>(sizeof(Sum) == sizeof(T) ? a.y : a.sums);
}

// True if whole rows have been added, so that nothing is left to do.
HIPOPS_FN bool is_done(const ScatterAddArgs& a) {
  return a.rows != nullptr && a.rows->differ == 0 && a.rows->long_ == 0;
}

// The index. It has no report if the attempt to add whole rows has reported it.
HIPOPS_FN IndexArgs index_of(const ScatterAddArgs& a) {
  IndexArgs index = a.index;
  if (a.rows != nullptr && a.rows->differ == 0) index.report = nullptr;
  return index;
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_atomic(const ScatterAddArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  Sum* sums = sums_of<T, Sum>(a);
  for_each_source(a.geometry, index_of(a), [&](const SourceOffsets& at) { return x[at.of[kScatterX]]; },
                  [&](int64_t to, T value) { atomic_add(sums + to, converted<Sum>(value)); });
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_wide(const ScatterAddArgs& a) {
  Sum* sums = sums_of<T, Sum>(a);
  for_each_vector<kScatterVector>(
      a.geometry, index_of(a), static_cast<const T*>(a.x),
      [&](int64_t to, const Vector<T, kScatterVector>& value) {
        Vector<Sum, kScatterVector> sum;
#pragma unroll
        for (int e = 0; e < kScatterVector; ++e) sum.element[e] = converted<Sum>(value.element[e]);
        atomic_add_vector(sums + to, sum);
      },
      [&](int64_t to, T value) { atomic_add(sums + to, converted<Sum>(value)); });
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_line(const ScatterAddArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  Sum* sums = sums_of<T, Sum>(a);
  for_each_line(a.geometry, index_of(a), [&](int64_t of_x) { return x[of_x]; },
                [&](int64_t to, T value) { sums[to] = sum_of(sums[to], converted<Sum>(value)); });
}

template <class T, int Length>
HIPOPS_FN void widen_sums(const ScatterAddArgs& a) {
  const T* y = static_cast<const T*>(a.y);
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto&, auto& at) {
    Vector<T, Length> element[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) element[n] = load_vector<Length>(y + at[n].of[kScatterY] * Length);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      Vector<float, Length> sum;
#pragma unroll
      for (int e = 0; e < Length; ++e) sum.element[e] = widen(element[n].element[e]);
      store_vector<Length>(a.sums + i[n] * Length, sum);
    }
  });
}

// An element whose sum did not change keeps its bits. Conversions would change a NaN.
template <class T, int Length>
HIPOPS_FN void round_sums(const ScatterAddArgs& a) {
  T* y = static_cast<T*>(a.y);
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto& within, auto& at) {
    Vector<T, Length> element[kScatterDepth];
    Vector<float, Length> sum[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      element[n] = load_vector<Length>(y + at[n].of[kScatterY] * Length);
      sum[n] = load_vector<Length>(a.sums + within[n] * Length);
    }
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      bool changed = false;
#pragma unroll
      for (int e = 0; e < Length; ++e) {
        bool same = bit_cast<uint32_t>(sum[n].element[e]) == bit_cast<uint32_t>(widen(element[n].element[e]));
        if (!same) element[n].element[e] = narrow<T>(with_plain_nan<T>(sum[n].element[e]));
        changed = changed || !same;
      }
      if (changed) store_vector<Length>(y + at[n].of[kScatterY] * Length, element[n]);
    }
  });
}

// The walk of both kernels is over the elements of y that x's lines can reach, or over vectors of 16 bytes.
template <class T, class Sum>
HIPOPS_FN void scatter_add_widen(const ScatterAddArgs& a) {
  constexpr int wide = kWideBytes / sizeof(T);
  if (a.geometry.vector == wide) widen_sums<T, wide>(a);
  else widen_sums<T, 1>(a);
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_round(const ScatterAddArgs& a) {
  constexpr int wide = kWideBytes / sizeof(T);
  if (a.geometry.vector == wide) round_sums<T, wide>(a);
  else round_sums<T, 1>(a);
}

// True if a work-item finds an index that differs from the first index of its row. Stores the first indices densely.
template <class Index>
HIPOPS_FN bool finds_difference(const ScatterAddArgs& a) {
  constexpr int wide = kWideBytes / sizeof(Index);
  const Index* index = static_cast<const Index*>(a.index.data);
  Index* firsts = static_cast<Index*>(a.firsts);
  const ScatterGeometry& g = a.geometry;
  const uint32_t count = uint32_t(g.walk.count), row = uint32_t(g.walk.dim[0].size);
  bool differs = false;
  for (uint32_t tile = block_index() * kUniformTile; tile < count; tile += uint32_t(g.step)) {
    uint32_t i[kUniformDepth], j[kUniformDepth];
    Vector<Index, wide> v[kUniformDepth];
    Index first[kUniformDepth];
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
      i[n] = tile + n * kScatterBlock + thread_index();
      i[n] = i[n] < count ? i[n] : count - 1;
      v[n] = load_vector<wide>(index + int64_t(i[n]) * wide);
    }
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
      j[n] = divide(i[n], g.walk.dim[0].divisor);
      first[n] = index[int64_t(j[n] * row) * wide];
    }
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
#pragma unroll
      for (int e = 0; e < wide; ++e) differs = differs || v[n].element[e] != first[n];
      if (i[n] == j[n] * row) firsts[j[n]] = first[n];
    }
    if (ballot(differs) != 0) break;
  }
  return differs;
}

// The walk is over vectors of 16 bytes of the contiguous index, row after row. There are fewer than 2^31.
template <class, class>
HIPOPS_FN void scatter_add_uniform(const ScatterAddArgs& a) {
  bool differs;
  switch (a.index.type) {
    case kIndexU8: differs = finds_difference<uint8_t>(a); break;
    case kIndexI16: differs = finds_difference<uint16_t>(a); break;
    case kIndexI64: differs = finds_difference<uint64_t>(a); break;
    default: differs = finds_difference<uint32_t>(a);
  }
  const uint32_t all = block_scan<kScatterBlock>(uint32_t(differs)).total;
  if (thread_index() == 0) a.differ[block_index()] = all;
}

// The blocks that a multiprocessor holds together: the compiler limits registers accordingly.
[[maybe_unused]] constexpr int kResident_atomic = 4, kResident_wide = 3, kResident_line = 4, kResident_widen = 4,
                               kResident_round = 3, kResident_uniform = 4;

}  // namespace

#define KERNEL(name, T, Sum, mode)                                                     \
  HIPOPS_KERNEL(kScatterBlock, kResident_##mode) name(HIPOPS_ARGS(ScatterAddArgs) a) { \
    follow_launch_before();                                                            \
    if (!is_done(a)) scatter_add_##mode<T, Sum>(a);                                    \
  }
HIPOPS_SCATTER_ADD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(scatter_add, ScatterAddArgs, HIPOPS_SCATTER_ADD_KERNELS)

}  // namespace hipops
