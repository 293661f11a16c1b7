// The contract of sums by a sorted index (sorted_sources.h, segmented_sum.h) with their launcher.
#pragma once

#include <stdint.h>

#include "device/core/divisor_contract.h"
#include "device/core/radix_contract.h"

namespace hipops {

constexpr int kSortBlock = 256;  // work-items of a block that splits, or of the radix sort
constexpr int kSortDepth = 8;  // entries of a work-item
constexpr int kSortBatch = kSortBlock * kSortDepth;

constexpr int kJoinedBlock = 512;  // work-items of a block of `joined`

// The most bits of a digit of `split`, of `joined`, and of a pass of the radix sort. With more digits than 2^8, a pass
// would store fewer neighbouring entries of each digit, which costs more than another pass. (It would also need a loop
// over digits in count_digits_of and partition.)
constexpr int kSplitBits = 10, kJoinedBits = 8, kPassBits = 8;

// The sort of valid indices. An entry's key is a row's number, which `split` permutes (key_of).
struct SortArgs {
  SortEntry* sorted;      // the entries that `sum` sums. Entries of one key are neighbours, in index order
  uint32_t* entries;      // the number of entries in `sorted`
  uint32_t blocks;        // that split or, in the radix sort, partition: each has a batch
  uint32_t batch;         // indices of a block that splits or partitions: a multiple of kSortBlock
  // An entry's value. 0: the place of the source, that is, of its index in the index tensor, and of its row in x.
  // Otherwise the row of x itself: the bits of its elements, which have this number of bytes.
  uint32_t element_bytes;
  uint32_t key_mask;      // 2^(bits of a key) - 1
  int32_t plain_bits;     // the lowest bits of a row that its key has unchanged, so that near rows stay together
  // For scatter_add: null, or a flag. The first launch sets it: 1 if one of the `differ_count` elements of `differ` is
  // not 0. Then nothing is added (rows_do_differ).
  uint32_t* rows_differ;
  const uint32_t* differ;
  int64_t differ_count;
  // `split` and `joined`:
  SortEntry* partly_sorted;  // [blocks][batch]: each block's entries, sorted by the high digit
  uint32_t* starts;       // [2^high_bits + 1][blocks]: where a digit's run begins in a batch
  int32_t low_bits, high_bits;
};

// A pass of the radix sort, by one digit.
constexpr int kCountsEach = 8;                              // counts of a digit that a work-item adds
constexpr int kMostPartitioners = kCountsEach * kSortBlock;  // whose counts of a digit one block adds
constexpr int kLargestTile = 16 * kSortBlock;                // entries that a block sorts at a time
struct RadixPassArgs {
  const SortEntry* from;  // null: the index tensor itself. Otherwise the result of the pass before
  SortEntry* to;
  uint32_t* counts;       // [2^bits][blocks]: a digit's entries in a batch, and then in all earlier batches
  uint32_t* totals;       // [2^bits]: a digit's entries
  int32_t shift, bits;    // of the digit
};

// The order of a sum, which hipops.h defines, has chunks of this number of sources, and groups of this number of sums.
constexpr uint32_t kChunk = 128;

constexpr int kSumBlock = 128;           // work-items of a block of `sum`
constexpr uint32_t kMostPortion = 1024;  // entries of a portion: a block of `sum` sums the chunks that begin there
constexpr int kMostChunks = kSortBatch;  // that a block of `joined` or `sum` sums: a chunk can have one entry
constexpr int64_t kMostPartVectors = INT32_MAX / kMostChunks;  // 31 bits number a block's vectors of all chunks
// No part of a row has fewer vectors, except the last: the lanes of the smallest wave (row_parts in index/plan.cpp).
constexpr int64_t kLeastPartVectors = 32;

// Sorted entries are cut into slices of kChunk entries. A slice has two slots for chunk sums (slot_of). A row's chunks
// begin in neighbouring slices.
struct SegmentArgs {
  uint32_t portion;       // entries of a block of `sum`: a multiple of kChunk
  // Blocks of this launch that divide the vectors of the same rows. In `split` and the passes: blocks of `sum`.
  uint32_t row_parts;
  uint32_t part_vectors;  // `joined`, `sum`: vectors of a row that a block sums, at most
  // 1: neighbouring lanes sum neighbouring rows, which are closer to each other in memory than the elements of a row.
  uint32_t lanes_by_row;
  Divisor by_part_vectors;
  // [slices][row_parts of `sum`]: counters of a row with several chunks. The slice of a group's first chunk has the
  // counter of the group's chunks. The slice of the row's second chunk has the counter of the chunks of whole groups.
  uint64_t* counters;
  void* sums;  // [2 * slices][elements of a row]: the chunk sums of rows with several chunks
};

}  // namespace hipops
