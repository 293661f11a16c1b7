// The contract between index_order.h, which sorts indices by the rows that they name, and its launchers.
#pragma once

#include <stdint.h>

namespace hipops {

// A valid index. The key is the row, permuted. The source is its place in the index tensor and in x along dim.
struct alignas(8) OrderEntry {
  uint32_t key, source;
};

// A row's sources: the sorted sources from `begin` to `end`. Lists by row are stored at the row. Lists by position are
// stored at `begin` and contain the row; `end` is 0 where no list begins.
struct alignas(8) RowList {
  uint32_t row_or_begin, end;
};

// A list of more than kLongList sources. `taken` counts the parts of its row that blocks have claimed (long_lists.h).
struct alignas(16) LongList {
  uint32_t row, begin, end, taken;
};
constexpr uint32_t kLongList = 512;

constexpr int kOrderBlock = 256;
constexpr int kOrderDepth = 8;  // entries of a work-item
constexpr int kOrderBatch = kOrderBlock * kOrderDepth;
constexpr int kOrderDigitBits = 10;  // at most, of either digit
constexpr int kOrderRuns = 512;      // runs that a block loads at a time

// Blocks that sum the lists that they join (ListsAtHand). Two of them fill a compute unit.
constexpr int kJoinedBlock = 512;
constexpr int kJoinedDepth = 4;
constexpr int kJoinedBatch = kJoinedBlock * kJoinedDepth;
constexpr int kJoinedDigitBits = 8;
constexpr int kJoinedIndexBits = 22;  // of indices, at most

struct RowOrder {
  const OrderEntry* from;  // null: the index tensor itself
  OrderEntry* split;       // [blocks][batch]: each block's part, sorted by the high digit
  uint32_t* starts;        // [2^high_bits + 1][blocks]: the begin of a digit's run in each block's part
  void* joined;            // sorted by both digits: entries, or sources if there is only one round
  uint32_t* sources;       // sorted
  RowList* lists;          // by row or by position
  uint32_t* entries;       // the number of valid indices
  LongList* longs;         // in any order
  uint32_t* long_count;    // the numbers of long lists, and of blocks that have published theirs
  uint32_t rows, blocks;
  uint32_t batch;          // indices of a block that splits: a multiple of kOrderBlock, up to kOrderBatch
  uint32_t key_mask;       // 2^(bits of a key) - 1
  int32_t shift;           // of the low digit
  int32_t low_bits, high_bits;
  int32_t by_position, only_round;
  // For scatter_add. state: null, or two flags. [0] becomes 1 if an element of `differ` is not 0; then the sort stops.
  // [1] becomes 1 if a list is longer than `longest` (UINT32_MAX without a state); then nothing is added.
  uint32_t longest;
  uint32_t* state;
  const uint32_t* differ;
  int64_t differs;
};

}  // namespace hipops
