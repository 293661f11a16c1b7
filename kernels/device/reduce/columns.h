// Reductions of columns, and of any layout: a lane has a vector of neighbouring results, or a result, and some of the
// reduced positions. The block combines lanes with the same results in shared memory.
#pragma once

#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/reduce/kinds.h"

namespace hipops {
namespace {

template <class T, int Length, class K>
HIPOPS_FN void reduce_columns(const ReduceArgs& args, const Shared<ReduceRoom>& room) {
  using Lane = typename K::Lane;
  using Total = typename K::Total;
  const Shared<Lane> lanes = room.as<Lane>();
  const uint32_t results = 1u << args.result_bits, groups = kReduceBlock >> args.result_bits;
  const uint32_t column = thread_index() & (results - 1), group = thread_index() >> args.result_bits;
  if (args.partial != nullptr) allow_next_launch();

  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const ReduceArgs& a = reload_arguments(args);
    const int64_t part = a.parts == 1 ? 0 : divide(unit, a.tiles, a.tiles_divisor), tile = unit - part * a.tiles;
    const int64_t place = (tile << a.result_bits) + column;
    const Offsets<kReduceOperands> at = locate_in_loop(a.results, place < a.results.count ? place : 0);
    const int64_t begin = part * a.part_length;
    const int64_t end = begin + a.part_length < a.length ? begin + a.part_length : a.length;
    const T* x = static_cast<const T*>(a.x) + at.of[kReduceX];
    Total total[Length];
#pragma unroll
    for (Total& one : total) one = K::template identity<Total>();

    const int64_t round = int64_t(groups) * kReduceDepth;
    for (int64_t base = begin; base < end; base += round) {
      int64_t position[kReduceDepth];
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i) {
        position[i] = base + group + int64_t(i) * groups;
        if (position[i] >= end) position[i] = end - 1;
      }
      Offsets<1> from[kReduceDepth];
      locate_in_loop(reload_arguments(args).reduced, position, from);
      Packed<T, Length> v[kReduceDepth];
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i) v[i] = load_packed_once<Length>(x + from[i].of[0]);
      issue_before_use(v);
      if (base + round > end) {
        const Packed<T, Length> absent = Packed<T, Length>::filled(narrow<T>(K::absent(reload_arguments(args))));
#pragma unroll
        for (int i = 0; i < kReduceDepth; ++i)
          if (base + group + int64_t(i) * groups >= end) v[i] = absent;
      }
      const ReduceArgs& last = reload_arguments(args);
#pragma unroll
      for (int c = 0; c < Length; ++c)
        total[c] = K::add(total[c], K::template reduce<kReduceDepth>(
                                        last, ColumnElements<T, Length, kReduceDepth>{v, c},
                                        [=](int i) { return base + group + int64_t(i) * groups; }));
    }

#pragma unroll
    for (int c = 0; c < Length; ++c) lanes[thread_index() * Length + c] = K::rounded(total[c]);
    combine_over_block<K>(lanes, kReduceBlock * Length, results * Length);
    for (uint32_t i = thread_index(); i < results * Length; i += kReduceBlock) {
      const int64_t of_vector = (tile << a.result_bits) + i / Length;
      if (of_vector >= a.results.count) continue;
      const int64_t at_y = locate_in_loop(a.results, of_vector).of[kReduceY] + int64_t(i % Length) * a.y_step;
      store_lane<K>(a, of_vector * Length + i % Length, part, at_y, lanes[i]);
    }
    barrier();
  }
}

}  // namespace
}  // namespace hipops
