// What gather and index_select share between kernel and launcher: both take elements of x along dim, as an index says.
#pragma once

#include "device/index/index_contract.h"
#include "device/move/shifted_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

// any, rows and shifted run in blocks of kTakeBlock work-items; any has kTakeDepth units in flight for each.
constexpr int kTakeBlock = 64;
constexpr int kTakeDepth = 4;

// rows: units of a row that a work-item has in flight: of 16 bytes, and of less.
constexpr int kTakeRowsDepth = 4, kTakeElementsDepth = 8;

// few: a block has as many units as work-items.
constexpr int kTakeFewBlock = 128;

// staged: bytes of x in a block's shared memory on AMD, where large has kStaticSharedBytes. Elsewhere launches bring what
// they need.
constexpr int kStagedBytes = 32768;
constexpr int kSmallBlock = 256, kStagedBlock = 512, kLargeBlock = 1024;  // staged has one of the first two; AMD's, 512
constexpr int kStagedVector = 4;  // elements, where index and y allow vectors

// The operands of the walk, which is over y. x is where it would be with an index of 0.
enum TakeOperand { kTakeY, kTakeX, kTakeIndex, kTakeOperands };

// A unit is what one load moves: an element, or a vector of them. The walk's strides in y and x count units, those in
// the index elements.
struct TakeArgs {
  IndexArgs index;
  const void* x;
  void* y;
  int64_t x_step;  // of x along dim, in units
  Walk<kTakeOperands> walk;  // here, as few units look at nothing behind it
  int64_t step;    // units, work-items, or rows or panels (staged, large) that the whole grid takes at a time
  int64_t vector;  // elements of a unit
  // Where one index serves many elements of y (index_select): element i of y, in row-major order, is the first that
  // uses index j if i = j * run, j < length. Where each element has an index of its own (gather): 0.
  int64_t run, length;
  // rows, shifted: the walk is over rows of `cols` units, which have one index each. 1 << lanes work-items share a part
  // of a row, which has `parts` of them; `count` is of work-items.
  // staged, large: the walk is over rows of y with `cols` elements; `group` of them at a time, of x's without gaps. Or,
  // if `lines` is not 0, over panels of `cols` columns, `parts` to a place of the dimensions before dim, the last of
  // which has `overlap` columns of the one before, too; `lines` is y's size along dim then, and each of x's has
  // 1 << line_bits vectors in a panel.
  int64_t cols, pieces, count;
  Divisor cols_divisor, pieces_divisor;
  int32_t lanes, group, lines, line_bits, overlap;
  int32_t y_line, index_line, x_line;  // from one line of y, of the index, and of a panel of x, to the next
  int32_t place_step, neighbour_step;  // in shared memory: from one place along dim to the next, and between columns
  int32_t vectors;                     // whether by kStagedVector elements
  int32_t together;                    // rows of a group that are taken at once: all, but where they have one index
  int64_t copy_bytes;                  // of x, at most
  int32_t block;                       // work-items: kSmallBlock, kStagedBlock or kLargeBlock
  WideDivisor run_divisor, wide_pieces_divisor;
};

}  // namespace hipops

// X(kernel, unit, mode, block): units of 1 to 16 bytes.
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
