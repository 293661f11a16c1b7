// The contract between the kernels of gather and index_select and their launchers: y = x at indices along dim.
#pragma once

#include "device/index/index_contract.h"
#include "device/move/shifted_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

// any, rows, shifted: work-items of a block. any: accesses in flight for each.
constexpr int kTakeBlock = 64;
constexpr int kTakeDepth = 4;

// rows: accesses of a row in flight for a work-item: of 16 bytes, and of fewer.
constexpr int kTakeRowsDepth = 4, kTakeElementsDepth = 8;

// few: work-items of a block, which each move one access.
constexpr int kTakeFewBlock = 128;

// staged: bytes of x in a block's shared memory on AMD; `large` has kStaticSharedBytes. Elsewhere launches choose.
constexpr int kStagedBytes = 32768;
constexpr int kSmallBlock = 256, kStagedBlock = 512, kLargeBlock = 1024;  // staged has one of the first two; AMD's, 512
constexpr int kStagedVector = 4;  // elements of a vector, if index and y allow vectors

// The operands of the walk, which is over y. x is the element for an index of 0.
enum TakeOperand { kTakeY, kTakeX, kTakeIndex, kTakeOperands };

// An access moves an element, or a vector of elements. Strides of y and x count accesses; the index's, elements.
struct TakeArgs {
  IndexArgs index;
  const void* x;
  void* y;
  int64_t x_step;  // of x along dim, in accesses
  Walk<kTakeOperands> walk;  // here, because `few` reads nothing behind it
  int64_t step;    // of the whole grid: accesses, work-items, or rows or panels (staged, large)
  int64_t vector;  // elements of an access
  // If one index serves many elements of y (index_select): element i of y, in row-major order, is the first that uses
  // index j if i = j * run, j < length. If each element has its own index (gather): 0.
  int64_t run, length;
  // rows, shifted: the walk is over rows of `cols` accesses with one index each. A row has `pieces` pieces, and 1 <<
  // lanes work-items share a piece. `count` is the number of work-items.
  //
  // staged, large, if `lines` is 0: the walk is over rows of y with `cols` elements. A block handles `group` rows at a
  // time, whose rows in x have no gaps.
  //
  // staged, large, otherwise: the walk is over panels of `cols` columns, `pieces` for each place of the dimensions
  // before dim. The last panel begins `overlap` columns earlier, inside of the previous panel. `lines` is y's size along
  // dim, and each line of x has 1 << line_bits vectors in a panel.
  int64_t cols, pieces, count;
  Divisor cols_divisor, pieces_divisor;
  int32_t lanes, group, lines, line_bits, overlap;
  int32_t y_line, index_line, x_line;  // strides of lines: of y, of the index, and of a panel of x
  int32_t place_step, neighbour_step;  // strides in shared memory: along dim, and between columns
  int32_t vectors;                     // whether kStagedVector elements are moved at a time
  int32_t together;                    // rows of a group that are moved together: all, unless they have the same indices
  int64_t copy_bytes;                  // of x, at most
  int32_t block;                       // work-items: kSmallBlock, kStagedBlock or kLargeBlock
  WideDivisor run_divisor, wide_pieces_divisor;
};

}  // namespace hipops

// X(kernel, type, mode, block): the type of an access of 1 to 16 bytes.
#define HIPOPS_TAKE_KERNELS(X, op)                \
  X(op##_b8_any, b8, any, kTakeBlock)             \
  X(op##_b16_any, b16, any, kTakeBlock)           \
  X(op##_b32_any, b32, any, kTakeBlock)           \
  X(op##_b64_any, b64, any, kTakeBlock)           \
  X(op##_b128_any, b128, any, kTakeBlock)         \
  X(op##_b8_rows, b8, rows, kTakeBlock)           \
  X(op##_b16_rows, b16, rows, kTakeBlock)         \
  X(op##_b32_rows, b32, rows, kTakeBlock)         \
  X(op##_b64_rows, b64, rows, kTakeBlock)         \
  X(op##_b128_rows, b128, rows, kTakeBlock)       \
  X(op##_b8_staged, b8, staged, kStagedBlock)     \
  X(op##_b16_staged, b16, staged, kStagedBlock)   \
  X(op##_b32_staged, b32, staged, kStagedBlock)   \
  X(op##_b64_staged, b64, staged, kStagedBlock)   \
  X(op##_b8_large, b8, large, kLargeBlock)        \
  X(op##_b16_large, b16, large, kLargeBlock)      \
  X(op##_b32_large, b32, large, kLargeBlock)      \
  X(op##_b64_large, b64, large, kLargeBlock)      \
  X(op##_b8_shifted, b8, shifted, kTakeBlock)     \
  X(op##_b16_shifted, b16, shifted, kTakeBlock)   \
  X(op##_b32_shifted, b32, shifted, kTakeBlock)   \
  X(op##_b8_few, b8, few, kTakeFewBlock)          \
  X(op##_b16_few, b16, few, kTakeFewBlock)        \
  X(op##_b32_few, b32, few, kTakeFewBlock)        \
  X(op##_b64_few, b64, few, kTakeFewBlock)        \
  X(op##_b128_few, b128, few, kTakeFewBlock)
