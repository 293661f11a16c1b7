// Adds the parts of results, which the launch before stored. A lane adds some parts of a result, one after another; the
// block combines the lanes in shared memory.
#pragma once

#include "device/core/strided.h"
#include "device/reduce/kinds.h"

namespace hipops {
namespace {

template <class K>
HIPOPS_FN void merge_parts(const ReduceArgs& args, const Shared<ReduceRoom>& room) {
  using Lane = typename K::Lane;
  using Total = typename K::Total;
  const Shared<Total> totals = room.as<Total>();
  const uint32_t results = 1u << args.result_bits, groups = kReduceBlock >> args.result_bits;
  const uint32_t column = thread_index() & (results - 1), group = thread_index() >> args.result_bits;

  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const ReduceArgs& a = reload_arguments(args);
    const int64_t result = (unit << a.result_bits) + column;
    const bool is_live = result < a.results.count;
    const Lane* from = static_cast<const Lane*>(a.x) + (is_live ? result : 0) * a.result_step;
    Total total = K::template identity<Total>();
    for (int64_t base = group; base < a.parts; base += int64_t(groups) * kReduceDepth) {
      Lane lane[kReduceDepth];
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i) {
        const int64_t part = base + int64_t(i) * groups;
        lane[i] = from[(part < a.parts ? part : a.parts - 1) * a.part_step];
      }
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i)
        if (base + int64_t(i) * groups < a.parts) total = K::add(total, lane[i]);
    }
    totals[thread_index()] = total;
    combine_over_block<K>(totals, kReduceBlock, results);
    if (group == 0 && is_live) {
      const ReduceArgs& last = reload_arguments(args);
      store_result(last, locate(last.results, result).of[kReduceY], K::finish(last, K::rounded(totals[column])));
    }
    barrier();
  }
}

// Adds the chunks' sums of columns, of several tensors in one launch. A lane has vectors of neighbouring columns.
template <class C, int n>
HIPOPS_FN void merge_sums(const SumMerges<n>& merges, const Shared<ReduceRoom>& room) {
  using K = SumOf<C>;
  using Total = typename K::Total;
  constexpr int N = kWideBytes / int(sizeof(C));
  const uint32_t tensor = block_index() / merges.blocks;
  const SumMerge& args = merges.of[tensor];
  const Shared<Total> totals = room.as<Total>();
  const uint32_t columns = uint32_t(N) << args.result_bits, groups = kReduceBlock >> args.result_bits;
  const uint32_t column = thread_index() * N & (columns - 1), group = thread_index() >> args.result_bits;

  for (int64_t unit = block_index() - tensor * merges.blocks; unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const SumMerge& a = reload_arguments(args);
    const int64_t first = unit * columns;
    const C* const from = static_cast<const C*>(a.x) + (first + column < a.cols ? first + column : 0);
    Total total[N]{};
    for (int64_t base = group; base < a.parts; base += int64_t(groups) * kReduceDepth) {
      Vector<C, N> part[kReduceDepth];
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i)
        if (base + int64_t(i) * groups < a.parts) part[i] = load_vector<N>(from + (base + int64_t(i) * groups) * a.part_step);
#pragma unroll
      for (int i = 0; i < kReduceDepth; ++i)
#pragma unroll
        for (int e = 0; e < N; ++e)
          if (base + int64_t(i) * groups < a.parts) total[e] = K::add(total[e], part[i].element[e]);
    }
#pragma unroll
    for (int e = 0; e < N; ++e) totals[thread_index() * N + e] = total[e];
    combine_over_block<K>(totals, kReduceBlock * N, columns);
    const SumMerge& last = reload_arguments(args);
    for (uint32_t i = thread_index(); i < columns && first + i < last.cols; i += kReduceBlock)
      store_result(last, (first + i) * last.y_step, K::rounded(totals[i]));
    barrier();
  }
}

}  // namespace
}  // namespace hipops
