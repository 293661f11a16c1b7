// The contract between index_add.hip and its launcher.
#pragma once

#include "device/index_contract.h"
#include "device/strided_contract.h"

namespace hipops {

// A valid index. The key is the row, permuted; the source is the place in the index tensor, which is that of
// what is added along dim.
struct alignas(8) IndexAddEntry {
  uint32_t key, source;
};

// The sources of a row of y: those ordered from `begin` to `end`. By position, lists are where their first source is,
// and say which row is meant; where no list begins, `end` is 0.
struct alignas(8) IndexAddList {
  uint32_t row_or_begin, end;
};

constexpr int kIndexAddSumBlock = 128;
constexpr int kIndexAddOrderBlock = 256;
constexpr int kIndexAddDepth = 8;  // entries that a work-item has at a time
constexpr int kIndexAddBatch = kIndexAddOrderBlock * kIndexAddDepth;
constexpr int kIndexAddDigitBits = 10;  // at most, of either digit
constexpr int kIndexAddRuns = 512;      // that a block joins at a time

// A stable ordering of entries by two digits of their keys.
struct IndexAddOrder {
  const IndexAddEntry* from;  // null: the index tensor itself
  IndexAddEntry* split;       // [blocks][kIndexAddBatch]: each block's share, by the high digit
  uint32_t* starts;           // [2^high_bits + 1][blocks]: where a digit's run begins in each
  void* joined;               // all by both digits: entries, or, where keys have no more digits (`last`), sources
  uint32_t* sources;          // the sources in the end,
  IndexAddList* lists;        // and the rows' lists, by row or by position
  uint32_t* entries;          // how many valid indices there are
  uint32_t rows, blocks;
  uint32_t key_mask;          // 2^(bits of a key) - 1
  int32_t shift;              // of the low digit
  int32_t low_bits, high_bits;
  int32_t by_position, last;
  // For scatter_add, which orders indices that may turn out not to be those of whole rows. state: null; or [0] becomes
  // 1 if one of `differ` is not 0, and then nothing more is done; [1] becomes 1 if there is a list longer than
  // `longest` (UINT32_MAX without a state), and then nothing is added.
  uint32_t longest, unused;
  uint32_t* state;
  const uint32_t* differ;  // may be null
  int64_t differs;
  // Index i stands for `reported` elements of an index tensor, the first of which has the place i * report_step.
  uint64_t reported;
  int64_t report_step;
};

// The operands of IndexAddArgs::walk. The last one is a number rather than memory: the row, an index of y along dim.
enum IndexAddOperand { kIndexAddY, kIndexAddX, kIndexAddRow, kIndexAddOperands };

struct IndexAddArgs {
  IndexArgs index;
  int64_t index_step, indices;
  Walk<kIndexAddOperands> walk;  // `list`: over all of y; `scan`: over one row of it
  const void* x;
  void* y;
  int64_t x_step, y_step;        // along dim
  int64_t grid;                  // blocks
  int64_t targets;               // `scan`: rows of y, or the indices of which each may be the first of its row
  int32_t by_source, unused;     // `scan`: targets are indices
  IndexAddOrder order;
};

}  // namespace hipops

#define HIPOPS_INDEX_ADD_ORDER_KERNELS(X)          \
  X(index_add_split, split, kIndexAddOrderBlock)   \
  X(index_add_join, join, kIndexAddOrderBlock)     \
  X(index_add_bound, bound, kIndexAddOrderBlock)

// X(kernel, type, bytes, mode): u32 and u64 are for signed integers too. bytes is 16 where rows are taken in vectors of
// 16 bytes, 0 where they are taken by elements.
#define HIPOPS_INDEX_ADD_VARIANTS(X, T)   \
  X(index_add_##T##_list_wide, T, 16, list) \
  X(index_add_##T##_list_any, T, 0, list)   \
  X(index_add_##T##_list_deep, T, 0, deep)  \
  X(index_add_##T##_scan_wide, T, 16, scan) \
  X(index_add_##T##_scan_any, T, 0, scan)

#define HIPOPS_INDEX_ADD_SUM_KERNELS(X) \
  HIPOPS_INDEX_ADD_VARIANTS(X, f32)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, f16)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, bf16)    \
  HIPOPS_INDEX_ADD_VARIANTS(X, f64)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, u8)      \
  HIPOPS_INDEX_ADD_VARIANTS(X, u32)     \
  HIPOPS_INDEX_ADD_VARIANTS(X, u64)

#define HIPOPS_INDEX_ADD_KERNELS(X) HIPOPS_INDEX_ADD_ORDER_KERNELS(X) HIPOPS_INDEX_ADD_SUM_KERNELS(X)
