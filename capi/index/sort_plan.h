// The radix sort of indices by the rows that they name (device/index/sorted_sources.h): its passes, and the workspace
// of the sort and of the sums.
#pragma once

#include <cstdint>

#include "index/problem.h"

namespace hipops {

// A pass of the sort. The high digit selects the block that joins an entry. The low digit orders the block's entries.
struct SortPass {
  int shift;                // the low digit begins at this bit of a key, and the high digit follows
  int low_bits, high_bits;  // of the digits
  int64_t joiners;          // blocks that join one digit: more than one only if there is no low digit
};

struct SortPlan {
  int passes;  // 0: nothing is sorted
  SortPass pass[2];
  int key_bits, plain_bits;  // see SortArgs::key_mask and plain_bits
  bool lanes_by_row;         // see SegmentArgs
  bool may_sum;              // blocks that join mostly have room for their entries, so they may sum them (`joined`)
  int64_t batch, blocks;     // indices for a block that splits; the number of blocks that split
  int64_t slices;            // see SegmentArgs
  int64_t starts, split, heads, sorted, arrived, sums;  // where SortArgs' and SegmentArgs' parts are in the workspace
  int64_t bytes;                                        // of the workspace
};

// Sums of few indices, or of too many for 32 bits, are not sorted.
SortPlan plan_sort(const SumsProblem& p);

// place_sort sets the fields of `args` that are the same in each launch. set_pass sets the fields of one pass.
void place_sort(const SortPlan& plan, void* workspace, IndexAddArgs* args);
void set_pass(const SortPlan& plan, int pass, SortArgs* args);

}  // namespace hipops
