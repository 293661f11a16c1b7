// The two ways in which scatter and scatter_add go over their sources: all of them at once, or line by line, in order.
#pragma once

#include "device/indices.h"
#include "device/scatter_contract.h"
#include "device/strided.h"

namespace hipops {
namespace {

using SourceOffsets = Offsets<kScatterOperands>;

// Calls f(i) for kScatterDepth elements of the walk at a time, `i` being their numbers; those past the walk's end are
// `count` or more.
template <class F>
HIPOPS_FN void for_each_batch(const ScatterGeometry& g, F f) {
  for (int64_t tile = int64_t(block_index()) * (kScatterBlock * kScatterDepth); tile < g.walk.count; tile += g.step) {
    int64_t i[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) i[n] = tile + n * kScatterBlock + thread_index();
    f(i);
  }
}

// The walk is over the sources. Of each, load(at) reads what is needed besides its index; of those with a valid one,
// use(to, value) does the rest, `to` being the element of y. In any order.
template <class Load, class Use>
HIPOPS_FN void for_each_source(const ScatterGeometry& g, const IndexArgs& index, Load load, Use use) {
  for_each_batch(g, [&](const int64_t(&i)[kScatterDepth]) {
    // What lies past the end reads the last element once more: so there is no branch before the loads, and all are in
    // flight together.
    SourceOffsets at[kScatterDepth];
    int64_t within[kScatterDepth], offset[kScatterDepth], target[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) within[n] = i[n] < g.walk.count ? i[n] : g.walk.count - 1;
    locate(g.walk, within, at);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) offset[n] = at[n].of[kScatterIndex];
    int64_t mark = load_indices(index, offset, target);
    decltype(load(at[0])) value[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) value[n] = load(at[n]);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      int64_t to = checked_index(index, target[n], mark, i[n] * g.vector, uint64_t(g.vector));
      if (to != kNothing) use(at[n].of[kScatterY] + to * g.y_step, value[n]);
    }
  });
}

// The walk is over lines: all that differs in dim only. One work-item takes a line's sources in order: load(of_x) reads
// a source, use(to, value) is called for those with a valid index. The place of a line is the row-major place of its
// first index.
template <class Load, class Use>
HIPOPS_FN void for_each_line(const ScatterGeometry& g, const IndexArgs& index, Load load, Use use) {
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
