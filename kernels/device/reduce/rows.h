// Reductions of rows: the innermost reduced dimension is contiguous.
//
// Up to 32 lanes have a row each, or a block has a row. Lanes load vectors at multiples of 16 bytes, and the elements
// before and after them. Long rows, and rows with outer dimensions that are reduced too, have parts: a block reduces each
// part by itself, and then adds the parts. Or different blocks reduce the parts, and `merge` adds
// them in the same order. So a result's bits do not depend on the grid.
#pragma once

#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/core/unaligned.h"
#include "device/reduce/kinds.h"

namespace hipops {
namespace {

// The reduction of a lane's elements in Depth * lanes of a part's vectors, from vector `base` on. The first vector is at
// `from`, and at `place` of the reduced elements.
template <class T, class K, int Depth>
HIPOPS_FN typename K::Lane reduce_round(const ReduceArgs& a, const T* from, int64_t place, int32_t vectors, int32_t base,
                                        int32_t lane, int32_t lanes) {
  constexpr int kLength = kWideBytes / int(sizeof(T));
  Packed<T, kLength> v[Depth];
#pragma unroll
  for (int i = 0; i < Depth; ++i) {
    const int32_t at = base + lane + i * lanes;
    v[i] = load_packed_once<kLength>(from + int64_t(at < vectors ? at : vectors - 1) * kLength);
  }
  issue_before_use(v);
  if (vectors - base < Depth * lanes) {
    const Packed<T, kLength> absent = Packed<T, kLength>::filled(narrow<T>(K::absent(a)));
#pragma unroll
    for (int i = 0; i < Depth; ++i)
      if (base + lane + i * lanes >= vectors) v[i] = absent;
  }
  return K::template reduce<Depth * kLength>(a, AllElements<T, kLength, Depth>{v}, [=](int i) {
    return place + int64_t(base + lane + i / kLength * lanes) * kLength + i % kLength;
  });
}

// The reduction of a lane's elements of a row's part, which begins at `place` of the reduced elements. `lane` is one of
// `lanes` lanes: 16 or more, or the part is whole vectors.
template <class T, class K>
HIPOPS_FN typename K::Lane reduce_part(const ReduceArgs& a, const T* row, int64_t place, int32_t length, int32_t lane,
                                       int32_t lanes) {
  constexpr int kLength = kWideBytes / int(sizeof(T));
  const int32_t to_vector = (kLength - misalignment(row)) % kLength;
  const int32_t head = to_vector < length ? to_vector : length;
  const int32_t vectors = (length - head) / kLength, edges = length - vectors * kLength;
  typename K::Lane result = K::template identity<typename K::Lane>();
  if (!a.deep && vectors > 0)
    result = reduce_round<T, K, kShortReduceDepth>(a, row + head, place + head, vectors, 0, lane, lanes);
#pragma unroll 1
  for (int32_t base = 0; a.deep && base < vectors; base += kReduceDepth * lanes) {
    result = K()(result, reduce_round<T, K, kReduceDepth>(a, row + head, place + head, vectors, base, lane, lanes));
    if constexpr (!K::kHasRounds) break;
  }
  if (lane < edges) {
    const int32_t at = lane < head ? lane : lane + vectors * kLength;
    result = K()(result, K::template reduce<1>(a, OneElement<T>{row[at]}, [=](int) { return place + at; }));
  }
  return result;
}

// All-reduces over the lanes of a row.
struct ReduceOverRow {
  const ReduceArgs& args;
  Reduce<ReduceRoom, kReduceBlock> over_block;
  template <class V, class Op>
  HIPOPS_METHOD V operator()(V v, Op op) {
    const int32_t lanes = reload_arguments(args).lanes;
    return lanes > kMostRowLanes ? over_block(v, op) : ReduceOverLanes(lanes)(v, op);
  }
};

// Short rows of whole vectors, with the same bits as from reduce_rows(). The loads of several rows are in flight.
template <class T, class K>
HIPOPS_FN void reduce_short_rows(const ReduceArgs& args) {
  constexpr int kLength = kWideBytes / int(sizeof(T));
  const int32_t lanes = args.lanes, lane = int32_t(thread_index()) & (lanes - 1);
  const int32_t row_of_block = int32_t(thread_index()) / lanes;
  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const ReduceArgs& a = reload_arguments(args);
    const int32_t vectors = int32_t(a.length) / kLength;
    const auto row_at = [&](const ReduceArgs& a, int r) { return first + row_of_block + r * (a.rows / kShortRows); };
    int64_t row[kShortRows];
    Offsets<kReduceOperands> at[kShortRows];
#pragma unroll
    for (int r = 0; r < kShortRows; ++r) row[r] = row_at(a, r) < a.units ? row_at(a, r) : 0;
    locate(a.results, row, at);
    Packed<T, kLength> v[kShortRows * kShortReduceDepth];
#pragma unroll
    for (int i = 0; i < kShortRows * kShortReduceDepth; ++i) {
      const int32_t vector = lane + i % kShortReduceDepth * lanes;
      v[i] = load_packed_once<kLength>(static_cast<const T*>(a.x) + at[i / kShortReduceDepth].of[kReduceX] +
                                       (vector < vectors ? vector : vectors - 1) * kLength);
    }
    issue_before_use(v);
#pragma unroll
    for (int r = 0; r < kShortRows; ++r) {
      const ReduceArgs& a = reload_arguments(args);
      Packed<T, kLength> of_row[kShortReduceDepth];
#pragma unroll
      for (int i = 0; i < kShortReduceDepth; ++i) {
        of_row[i] = v[r * kShortReduceDepth + i];
        if (lane + i * lanes >= vectors) of_row[i] = Packed<T, kLength>::filled(narrow<T>(K::absent(a)));
      }
      typename K::Lane value = K::template reduce<kShortReduceDepth * kLength>(
          a, AllElements<T, kLength, kShortReduceDepth>{of_row},
          [=](int i) { return (lane + i / kLength * lanes) * kLength + i % kLength; });
      ReduceOverLanes over_lanes(lanes);
      value = K::over_row(value, over_lanes);
      if (lane == 0 && row_at(a, r) < a.units) store_result(a, at[r].of[kReduceY], K::finish(a, value));
    }
  }
}

template <class T, class K>
HIPOPS_FN void reduce_rows(const ReduceArgs& args, const Shared<ReduceRoom>& room) {
  using Lane = typename K::Lane;
  using Total = typename K::Total;
  const Shared<Total> totals = room.as<Total>();
  const int32_t lanes = reload_arguments(args).lanes, lane = int32_t(thread_index()) & (lanes - 1);
  const int32_t row = lanes > kMostRowLanes ? 0 : int32_t(thread_index()) / lanes;
  ReduceOverRow over_row{args, Reduce<ReduceRoom, kReduceBlock>(args.lanes)};
  if (args.partial != nullptr) allow_next_launch();

  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const ReduceArgs& a = reload_arguments(args);
    const bool is_split = a.partial != nullptr;
    const int64_t unit = first + row;
    const bool is_live = unit < a.units;
    const int64_t result = is_split ? divide(is_live ? unit : 0, a.parts, a.parts_divisor) : is_live ? unit : 0;
    int64_t part = is_split ? unit - result * a.parts : 0;
    const int64_t end = is_split ? part + 1 : a.parts;
    const Offsets<kReduceOperands> at = locate(a.results, result);
    const T* x = static_cast<const T*>(a.x) + at.of[kReduceX];
    Total total = K::template identity<Total>();
    for (; part < end; ++part) {
      Lane value;
      {
        const ReduceArgs& a = reload_arguments(args);
        const int64_t outer = a.spans == 1 ? part : divide(part, a.spans, a.spans_divisor);
        const int64_t begin = (part - outer * a.spans) * a.part_length;
        const T* from = x + begin + (a.reduced.count == 1 ? 0 : locate_in_loop(a.reduced, outer).of[0]);
        const int32_t length = int32_t(a.length - begin < a.part_length ? a.length - begin : a.part_length);
        const int64_t place = outer * a.length + begin;
        value = reduce_part<T, K>(a, from, place, length, lane, a.lanes);
      }
      value = K::over_row(value, over_row);
      const ReduceArgs& a = reload_arguments(args);
      if (a.parts == 1 || a.partial != nullptr) {
        if (hide_origin(uint32_t(lane)) == 0 && is_live) store_lane<K>(a, result, part, at.of[kReduceY], value);
      } else if (uint32_t(part) % kReduceBlock == thread_index()) {
        total = K::add(total, value);
      }
    }
    if (reload_arguments(args).parts == 1 || reload_arguments(args).partial != nullptr) continue;
    totals[thread_index()] = total;
    combine_over_block<K>(totals, kReduceBlock, 1);
    if (hide_origin(thread_index()) == 0)  // gfx9 has too few scalar registers to keep the comparison
      store_lane<K>(reload_arguments(args), result, 0, at.of[kReduceY], K::rounded(totals[0]));
    barrier();
  }
}

}  // namespace
}  // namespace hipops
