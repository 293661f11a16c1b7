// The contract between index_add.hip and its launcher.
#pragma once

#include "device/index/index_contract.h"
#include "device/index/sum_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kScanBlock = 512, kFewBlock = 128;  // work-items of a block

constexpr int kFewIndices = 128;           // `few`: at most
constexpr int kScanLanes = 32;             // `scan`: the most lanes of a group
constexpr int kScanRoom = 3 * kScanBlock;  // `scan`: indices for which a bucket's list has room

// The operands of IndexAddArgs::walk. The last two are places for `line`, and have no steps otherwise.
enum IndexAddOperand {
  kIndexAddY,
  kIndexAddX,
  kIndexAddIndex,  // `line`: the first index of the element's line
  kIndexAddPlace,  // `line`: the row-major position of the line's first index in the index tensor
  kIndexAddOperands
};

// `scan`: a block for each pair of a RowBucket (row_bucket.h) and a part of a row. A part is a vector or element for
// each lane of a group. There are several launches if one may not have enough blocks, or if 32 bits cannot count y's rows.
// `line`: the same, but a part is an element, and a block may have several pairs.
// `few`: a wave for each pair of an index and a part of a row. It uses only `parts` and `by_parts`.
struct ScanArgs {
  uint32_t last_bucket, hashes;  // the number of the last RowBucket; hashes of each
  uint32_t parts;               // of this launch
  Divisor by_parts;
  int64_t first_part, first_row;  // of this launch
  uint32_t rows;      // of this launch, without the row that the sentinel index would name
  uint32_t reports;   // the first blocks, which report indices out of range: one for each line of indices
  int16_t lane_bits;  // 1 << lane_bits lanes are a group
  int16_t prefetches;  // whether to prefetch a line of each row into L1 when it is found
  const uint32_t* rows_differ;  // `line`: null, or a flag: 0 if whole rows have been added, and nothing is left to do
};

// The fields of `scan` and `few` come first: arguments load line by line, and those launches are short.
struct IndexAddArgs {
  static constexpr int kSource = kIndexAddX;
  IndexArgs index;
  int64_t index_step, indices;
  const void* x;
  void* y;
  int64_t x_step, y_step;        // along dim
  // Index i represents `reported` elements of the caller's index tensor, from the place i * report_step on.
  uint64_t reported;
  int64_t report_step;
  ScanArgs scan;
  Walk<kIndexAddOperands> walk;  // over one row: vectors of `Length` elements
  int64_t grid;                  // blocks
  // x's first pieces of kPrefetchBytes, which the first launch that sums prefetches (cache.h).
  uint32_t prefetched_pieces;
  const void* prefetched;
  SegmentArgs segments;
  SortArgs sort;
  RadixPassArgs pass;
};

}  // namespace hipops

// X(kernel, type, bytes, mode): bytes: 16 for vectors of 16, 0 for elements.
#define HIPOPS_INDEX_ADD_ALL(X, T)              \
  X(index_add_##T##_sum_wide, T, 16, sum)       \
  X(index_add_##T##_sum_any, T, 0, sum)         \
  X(index_add_##T##_scan_wide, T, 16, scan)     \
  X(index_add_##T##_scan_any, T, 0, scan)

// u8 has no `joined`: its 16 sums for each vector would make the largest kernel.
#define HIPOPS_INDEX_ADD_WORDS(X, T) \
  HIPOPS_INDEX_ADD_ALL(X, T) X(index_add_##T##_joined_wide, T, 16, joined)

// Integers have no `line`: their sums do not depend on the order.
#define HIPOPS_INDEX_ADD_FLOATS(X, T) \
  HIPOPS_INDEX_ADD_WORDS(X, T) X(index_add_##T##_line_any, T, 0, line)

// Other types have no `few`, to keep the library small.
#define HIPOPS_INDEX_ADD_SHORT_FLOATS(X, T)     \
  HIPOPS_INDEX_ADD_FLOATS(X, T)                 \
  X(index_add_##T##_few_wide, T, 16, few)       \
  X(index_add_##T##_few_any, T, 0, few)

// u32 and u64 serve signed integers too.
#define HIPOPS_INDEX_ADD_SUM_KERNELS(X)  \
  HIPOPS_INDEX_ADD_SHORT_FLOATS(X, f32)  \
  HIPOPS_INDEX_ADD_SHORT_FLOATS(X, f16)  \
  HIPOPS_INDEX_ADD_SHORT_FLOATS(X, bf16) \
  HIPOPS_INDEX_ADD_FLOATS(X, f64)        \
  HIPOPS_INDEX_ADD_ALL(X, u8)            \
  HIPOPS_INDEX_ADD_WORDS(X, u32)         \
  HIPOPS_INDEX_ADD_WORDS(X, u64)

#define HIPOPS_INDEX_ADD_KERNELS(X) \
  X(index_add_split, ) X(index_add_count, ) X(index_add_offsets, ) X(index_add_partition_index, ) \
  X(index_add_partition, ) HIPOPS_INDEX_ADD_SUM_KERNELS(X)
