// Two orders in which scatter and scatter_add iterate over sources: all of them in parallel, or line by line in order.
#pragma once

#include "device/index/indices.h"
#include "device/move/scatter_contract.h"
#include "device/core/cache.h"
#include "device/core/strided.h"

namespace hipops {
namespace {

using SourceOffsets = Offsets<kScatterOperands>;

// Calls f(i) for batches of kScatterDepth elements of the walk. f ignores i[n] if it is past the walk's end.
template <int Block = kScatterBlock, class F>
HIPOPS_FN void for_each_batch(const ScatterGeometry& g, F f) {
  load_walk_arguments(g.walk, g.step, g.vector, g.y_step);
  for (int64_t tile = int64_t(block_index()) * (Block * kScatterDepth); tile < g.walk.count; tile += g.step) {
    int64_t i[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) i[n] = tile + n * Block + thread_index();
    f(i);
  }
}

// The same with offsets: calls f(i, within, at). within[n] is i[n], or the last element if i[n] is past the end. at[n]
// are the offsets of element within[n]. So f loads all elements without a branch, and all loads are in flight together.
template <int Block = kScatterBlock, class F>
HIPOPS_FN void for_each_located(const ScatterGeometry& g, F f) {
  for_each_batch<Block>(g, [&](const int64_t(&i)[kScatterDepth]) {
    int64_t within[kScatterDepth];
    SourceOffsets at[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) within[n] = i[n] < g.walk.count ? i[n] : g.walk.count - 1;
    locate(g.walk, within, at);
    f(i, within, at);
  });
}

template <int N, int Length>
HIPOPS_FN int64_t load_index_vectors(const IndexArgs& index, const int64_t (&offset)[N], int64_t (&value)[N][Length]) {
  int64_t mark;
  in_own_type(index, [&](auto data, int64_t of_type) {
    mark = of_type;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const auto v = load_streamed<Length>(data + offset[n]);
#pragma unroll
      for (int e = 0; e < Length; ++e) value[n][e] = v.element[e];
    }
  });
  return mark;
}

// For a walk over sources, in any order. load(at) loads the data of a source, except its index. use(to, value) handles
// a source with a valid index; `to` is its element of y.
template <int Block = kScatterBlock, class Load, class Use>
HIPOPS_FN void for_each_source(const ScatterGeometry& g, const IndexArgs& index, Load load, Use use) {
  for_each_located<Block>(g, [&](auto& i, auto&, auto& at) {
    int64_t offset[kScatterDepth], target[kScatterDepth][1];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) offset[n] = at[n].of[kScatterIndex];
    const int64_t mark = load_index_vectors(index, offset, target);
    decltype(load(at[0])) value[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) value[n] = load(at[n]);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      const int64_t to = checked_index(index, target[n][0], mark, i[n] * g.vector, uint64_t(g.vector));
      if (to != kNothing) use(at[n].of[kScatterY] + to * g.y_step, value[n]);
    }
  });
}

template <int N, int Length>
HIPOPS_FN int64_t load_indices_of_vectors(const ScatterGeometry& g, const IndexArgs& index, const int64_t (&offset)[N],
                                          int64_t (&value)[N][Length]) {
  if (g.one_index == 0) return load_index_vectors(index, offset, value);
  int64_t one[N];
  const int64_t mark = load_indices(index, offset, one);
#pragma unroll
  for (int n = 0; n < N; ++n) {
#pragma unroll
    for (int e = 0; e < Length; ++e) value[n][e] = one[n];
  }
  return mark;
}

// for_each_source in vectors of `Length` elements, which are neighbours in x, in y and in the index, or have one index.
// If a vector's indices are equal, as in rows that are scattered whole, use_all(to, vector) handles it. Otherwise
// use(to, value) handles each element.
template <int Length, int Block = kScatterBlock, class T, class UseAll, class Use>
HIPOPS_FN void for_each_vector(const ScatterGeometry& g, const IndexArgs& index, const T* x, UseAll use_all, Use use) {
  for_each_located<Block>(g, [&](auto& i, auto&, auto& at) {
    int64_t offset[kScatterDepth], target[kScatterDepth][Length];
    Vector<T, Length> value[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) offset[n] = at[n].of[kScatterIndex];
    const int64_t mark = load_indices_of_vectors(g, index, offset, target);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) value[n] = load_streamed<Length>(x + at[n].of[kScatterX] * Length);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      const int64_t of_y = at[n].of[kScatterY];
      bool same = vectors_pay_in_atomics;
#pragma unroll
      for (int e = 1; e < Length; ++e) same = same && target[n][e] == target[n][0];
      if (same) {
        const int64_t to = checked_index(index, target[n][0], mark, i[n] * Length, Length);
        if (to != kNothing) use_all((of_y + to * g.y_step) * Length, value[n]);
      } else {
#pragma unroll
        for (int e = 0; e < Length; ++e) {
          const int64_t to = checked_index(index, target[n][e], mark, i[n] * Length + e, 1);
          if (to != kNothing) use((of_y + to * g.y_step) * Length + e, value[n].element[e]);
        }
      }
    }
  });
}

// For a walk over lines: the sources that differ in dim only. One work-item handles a line's sources in order:
// load(of_x) loads a source, use(to, value) handles those with a valid index. The place of a line is the row-major
// place of its first index.
template <class Load, class Use>
HIPOPS_FN void for_each_line(const ScatterGeometry& g, const IndexArgs& index, Load load, Use use) {
  load_walk_arguments(g.walk, g.length, g.x_step, g.index_step, index.data, index.type, index.size);
  for (int64_t line = int64_t(block_index()) * kScatterBlock + thread_index(); line < g.walk.count; line += g.step) {
    SourceOffsets at = locate(g.walk, line);
    for (int64_t first = 0; first < g.length; first += kScatterDepth) {
      int64_t offset[kScatterDepth], target[kScatterDepth];
      decltype(load(int64_t())) value[kScatterDepth];
#pragma unroll
      for (int n = 0; n < kScatterDepth; ++n) {
        int64_t j = first + n < g.length ? first + n : g.length - 1;
        offset[n] = at.of[kScatterIndex] + j * g.index_step;
        value[n] = load(at.of[kScatterX] + j * g.x_step);
      }
      int64_t mark = load_indices(index, offset, target);
#pragma unroll
      for (int n = 0; n < kScatterDepth; ++n) {
        if (first + n >= g.length) break;
        int64_t to = checked_index(index, target[n], mark, at.of[kScatterPlace] + (first + n) * g.place_step,
                                   uint64_t(g.vector));
        if (to != kNothing) use(at.of[kScatterY] + to * g.y_step, value[n]);
      }
    }
  }
}

}  // namespace
}  // namespace hipops
