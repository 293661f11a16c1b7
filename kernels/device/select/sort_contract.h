// The contract between the kernels of sort and their launcher.
#pragma once

#include "device/core/radix_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kSortRowsBlock = 256;
constexpr int kSortDigitBits = 8, kSortDigits = 1 << kSortDigitBits;
constexpr int kShortRowsBlock = 256;  // of the kernel for short rows
constexpr int kShortRowsDepthBits = 4, kShortRowsDepth = 1 << kShortRowsDepthBits;  // elements of a work-item there
// Entries that a block sorts at a time. A shorter row has one launch.
constexpr int kSortRowsTile = kShortRowsDepth * kShortRowsBlock;

// A walk over rows has these operands.
enum SortOperand { kSortValues, kSortIndices, kSortX, kSortOperands };

struct SortRowsArgs {
  const void* x;
  void *values, *indices;  // null: not needed
  Walk<kSortOperands> rows;
  int64_t x_step, values_step, indices_step;  // along a row
  int64_t columns;
  int64_t units, step;  // of the blocks' loops; the units that all blocks have in a round
  // How an element becomes its key (sort_keys.h).
  // The sign bit, or 0; the bits of infinity, or of integers all bits; all bits if the order is descending.
  uint64_t sign, infinity, invert;
  int32_t bytes, index_bytes;       // of an element, and of an index
  int32_t is_float;
  // `rows`: of a block; log2 of a row's work-items; passes, by 16 bits each.
  int32_t block_rows, lane_bits, passes;
  // Passes, each by one digit: of an entry of `from`, or (null) of an element of x.
  const SortEntry* from;
  SortEntry* to;          // null: the pass stores the results
  uint32_t* counts;       // [rows][digits][blocks]: a digit's entries in a batch, and then in all earlier batches
  uint32_t* totals;       // [rows][digits]: a digit's entries
  int64_t blocks, batch;  // of a row; entries of a block
  WideDivisor blocks_divisor;
  int32_t shift;          // of the digit in the key's word
  int32_t word;           // of the key: 1 for the upper half of 64 bits
  int32_t loads_word;     // entries have the word before this one: the pass loads their elements again
};

}  // namespace hipops
