// Adds the parts of results, which the launch before stored. A lane adds some parts of a result, one after another; the
// block combines the lanes in shared memory. `block` numbers the blocks of `args`.
#pragma once

#include "device/core/strided.h"
#include "device/reduce/kinds.h"

namespace hipops {
namespace {

template <class K>
HIPOPS_FN void merge_parts(const ReduceArgs& args, const Shared<ReduceRoom>& room, uint32_t block = block_index()) {
  using Lane = typename K::Lane;
  using Total = typename K::Total;
  const Shared<Total> totals = room.as<Total>();
  const uint32_t results = 1u << args.result_bits, groups = kReduceBlock >> args.result_bits;
  const uint32_t column = thread_index() & (results - 1), group = thread_index() >> args.result_bits;

  for (int64_t unit = block; unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
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

// Merges the parts of several tensors of sums in one launch.
template <class C, int n>
HIPOPS_FN void merge_sums(const SumMerges<n>& merges, const Shared<ReduceRoom>& room) {
  const uint32_t tensor = block_index() / merges.blocks;
  merge_parts<SumOf<C>>(merges.of[tensor], room, block_index() - tensor * merges.blocks);
}

}  // namespace
}  // namespace hipops
