// The sort of indices by the rows that they name (device/index/sorted_sources.h, radix_passes.h), and the workspace of
// the sort and of the sums.
#pragma once

#include <cstdint>

#include "index/problem.h"

namespace hipops {

struct SortPlan {
  int passes;                // of the radix sort; 1 if blocks join, although that is no pass. 0: nothing is sorted
  int key_bits, plain_bits;  // see SortArgs::key_mask and plain_bits
  bool lanes_by_row;         // see SegmentArgs
  bool joins;                // blocks join, and mostly sum their rows (`joined`). Otherwise it is a radix sort
  int low_bits, high_bits;   // of the digits of `split` and `joined`
  int element_bytes;         // see SortArgs
  int64_t batch, blocks;     // indices of a block that splits or partitions; the blocks
  int64_t slices;            // see SegmentArgs
  // Where parts of the workspace begin. `table` has the starts of runs, or the counts of a pass. `totals` is for
  // passes. `split` stores to partly_sorted, passes store to partly_sorted and `sorted` in turn, and `sum` loads
  // `sorted`.
  int64_t table, totals, partly_sorted, sorted, counters, sums;
  int64_t bytes;             // of the workspace
};

// Sums of few indices, or of too many for 32 bits, are not sorted.
SortPlan plan_sort(const SumsProblem& p);

// place_sort sets the fields of `args` that are the same in each launch. set_pass sets the fields of a pass.
void place_sort(const SortPlan& plan, void* workspace, IndexAddArgs* args);
void set_pass(const SortPlan& plan, void* workspace, int pass, IndexAddArgs* args);

}  // namespace hipops
