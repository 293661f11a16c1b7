// The contract between index_add.hip and its launcher.
#pragma once

#include "device/index/index_contract.h"
#include "device/index/index_order_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kListBlock = 128, kScanBlock = 512, kFewBlock = 128;  // work-items of a block

constexpr int kFewIndices = 128;  // `few`: at most

// The operands of IndexAddArgs::walk. The last one is a number rather than memory: the row, an index of y along dim.
enum IndexAddOperand { kIndexAddY, kIndexAddX, kIndexAddRow, kIndexAddOperands };

// `scan`: a block for each (group of rows, part of a row). A part is a vector or element for each lane of a group.
// There are several launches if a grid has too few blocks, or if y has more rows than 32 bits can count.
// `few`: a wave for each (index, part of a row).
struct ScanArgs {
  uint32_t last_share, hashes;  // the last number of RowShare; its hashes (index_share.h)
  uint32_t parts;
  Divisor by_parts;
  int64_t first_part, first_row;
  uint32_t rows;      // of this launch, without the row whose number is the mark
  int16_t lane_bits;  // 1 << lane_bits lanes are a group
  int8_t reports;     // whether it reports indices out of range: one launch does
  int8_t expects;     // whether to prefetch a line of each row into L1 when it is found
};

// The fields of `scan` and `few` come first: arguments load line by line, and those launches are short.
struct IndexAddArgs {
  IndexArgs index;
  int64_t index_step, indices;
  const void* x;
  void* y;
  int64_t x_step, y_step;        // along dim
  // Index i represents `reported` elements of the caller's index tensor, from the place i * report_step on.
  uint64_t reported;
  int64_t report_step;
  ScanArgs scan;
  Walk<kIndexAddOperands> walk;  // `list`: over all of y; `joined`: over a block's rows; `scan`, `few`: over one row
  int64_t grid;                  // blocks
  int32_t waves_have_one_list;   // `list`, `joined`: rows are whole numbers of waves
  int32_t next_at_once;          // `join`: the sums start during the split, to prefetch much of x
  uint32_t expected_parts;       // `list`, `deep`, `joined`: prefetched parts of x, from `expected` on (cache.h)
  const void* expected;
  RowOrder order;
};

}  // namespace hipops

#define HIPOPS_INDEX_ADD_ORDER_KERNELS(X) \
  X(index_add_split, split, kOrderBlock)  \
  X(index_add_join, join, kOrderBlock)    \
  X(index_add_bound, bound, kOrderBlock)

// X(kernel, type, bytes, mode): u32 and u64 serve signed integers too. bytes: 16 for vectors of 16, 0 for elements.
#define HIPOPS_INDEX_ADD_VARIANTS(X, T)         \
  X(index_add_##T##_list_wide, T, 16, list)     \
  X(index_add_##T##_list_any, T, 0, list)       \
  X(index_add_##T##_list_deep, T, 0, deep)      \
  X(index_add_##T##_scan_wide, T, 16, scan)     \
  X(index_add_##T##_scan_any, T, 0, scan)

// Not for u8: its 16 sums for each vector make the largest kernel.
#define HIPOPS_INDEX_ADD_JOINED_VARIANT(X, T) X(index_add_##T##_joined_wide, T, 16, joined)

// f32, f16 and bf16 only, to keep the library small.
#define HIPOPS_INDEX_ADD_SHARING(X) X(f32) X(f16) X(bf16)
#define HIPOPS_INDEX_ADD_FEW_VARIANTS(X, T)     \
  X(index_add_##T##_few_wide, T, 16, few)       \
  X(index_add_##T##_few_any, T, 0, few)

#define HIPOPS_INDEX_ADD_SUM_KERNELS(X) \
  HIPOPS_INDEX_ADD_VARIANTS(X, f32)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, f16)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, bf16)    \
  HIPOPS_INDEX_ADD_VARIANTS(X, f64)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, u8)      \
  HIPOPS_INDEX_ADD_VARIANTS(X, u32)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, u64)     \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, f32) \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, f16) \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, bf16) \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, f64) \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, u32) \
  HIPOPS_INDEX_ADD_JOINED_VARIANT(X, u64) \
  HIPOPS_INDEX_ADD_FEW_VARIANTS(X, f32) \
  HIPOPS_INDEX_ADD_FEW_VARIANTS(X, f16) \
  HIPOPS_INDEX_ADD_FEW_VARIANTS(X, bf16)

#define HIPOPS_INDEX_ADD_KERNELS(X)  \
  HIPOPS_INDEX_ADD_ORDER_KERNELS(X)  \
  HIPOPS_INDEX_ADD_SUM_KERNELS(X)
