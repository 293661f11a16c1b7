// How the indices of a tensor are ordered by the rows that they name, between index_order.h and launchers.
#pragma once

#include <stdint.h>

namespace hipops {

// A valid index. The key is the row, permuted; the source is the place in the index tensor, which is that of what is
// added along dim.
struct alignas(8) OrderEntry {
  uint32_t key, source;
};

// The sources of a row of y: those ordered from `begin` to `end`. By position, lists are where their first source is,
// and say which row is meant; where no list begins, `end` is 0.
struct alignas(8) RowList {
  uint32_t row_or_begin, end;
};

// A list of more sources than kLongList, those ordered from `begin` to `end`, and how many parts of its row blocks have
// taken (device/index/long_lists.h).
struct alignas(16) LongList {
  uint32_t row, begin, end, taken;
};
constexpr uint32_t kLongList = 512;

constexpr int kOrderBlock = 256;
constexpr int kOrderDepth = 8;  // entries that a work-item has at a time
constexpr int kOrderBatch = kOrderBlock * kOrderDepth;
constexpr int kOrderDigitBits = 10;  // at most, of either digit
constexpr int kOrderRuns = 512;      // that a block joins at a time

// Blocks that join for themselves (ListsAtHand): larger ones, two of which are work enough for a unit, and of fewer
// digits.
constexpr int kJoinedBlock = 512;
constexpr int kJoinedDepth = 4;
constexpr int kJoinedBatch = kJoinedBlock * kJoinedDepth;
constexpr int kJoinedDigitBits = 8;
constexpr int kJoinedIndexBits = 22;  // of indices, at most

// A stable ordering of entries by two digits of their keys.
struct RowOrder {
  const OrderEntry* from;  // null: the index tensor itself
  OrderEntry* split;       // [blocks][batch]: each block's share, by the high digit
  uint32_t* starts;        // [2^high_bits + 1][blocks]: where a digit's run begins in each
  void* joined;            // all by both digits: entries, or, where keys have no more digits (`only_round`), sources
  uint32_t* sources;       // the sources in the end,
  RowList* lists;          // and the rows' lists, by row or by position
  uint32_t* entries;       // how many valid indices there are
  LongList* longs;         // the rows' long lists, in any order,
  uint32_t* long_count;    // how many there are, and how many blocks have said theirs
  uint32_t rows, blocks;
  uint32_t batch;          // of indices for a block that splits: a multiple of kOrderBlock, up to kOrderBatch
  uint32_t key_mask;       // 2^(bits of a key) - 1
  int32_t shift;           // of the low digit
  int32_t low_bits, high_bits;
  int32_t by_position, only_round;
  // For scatter_add, which orders indices that may turn out not to be those of whole rows. state: null; or [0] becomes
  // 1 if one of `differ` is not 0, and then nothing more is done; [1] becomes 1 if there is a list longer than
  // `longest` (UINT32_MAX without a state), and then nothing is added.
  uint32_t longest;
  uint32_t* state;
  const uint32_t* differ;
  int64_t differs;
};

}  // namespace hipops
