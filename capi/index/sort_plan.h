// The radix sort of indices by the rows they name (device/index/index_order.h): its passes, and its workspace.
#pragma once

#include <cstdint>

#include "device/index/index_order_contract.h"

namespace hipops {

// A pass partitions by a high digit, and then sorts each part by a low one, which begins at bit `shift`.
struct SortPass {
  int shift, low_bits, high_bits;
};

struct SortPlan {
  int passes;  // 0: nothing is sorted
  SortPass pass[2];
  int key_bits;
  int64_t batch, blocks;  // indices for a block that partitions, and such blocks
  int64_t segments;       // for which there is room: one for each row, or each index
  bool by_position;       // a segment is where its first source is
  int64_t starts, split, joined, sources, lists, longs;  // where RowOrder's parts are in the workspace
  int64_t bytes;                                         // of the workspace
};

// For indices whose segments are summed by another launch. More than entries have bits for are not sorted.
SortPlan plan_sort(int64_t rows, int64_t indices);

// For blocks that sum the segments which they sort. There are 2^high_bits such blocks. There are more if a block would
// have more rows than its low digit can distinguish. `rows` must be more than 2^high_bits.
SortPlan plan_joined_sort(int64_t rows, int64_t indices, int high_bits);

// place_sort sets the fields of `order` that are the same in each pass. set_pass sets the fields of one pass.
void place_sort(const SortPlan& plan, int64_t rows, void* workspace, RowOrder* order);
void set_pass(const SortPlan& plan, int pass, RowOrder* order);

}  // namespace hipops
