// The contract between the kernels of gather and index_select and their launchers: y = x at indices along dim.
#pragma once

#include "device/index/index_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

// any, rows, shifted: work-items of a block. any: accesses in flight for each.
constexpr int kTakeBlock = 64;
constexpr int kTakeDepth = 4;

// rows: accesses of a row in flight for a work-item: of 16 bytes, and of fewer.
constexpr int kTakeRowsDepth = 4, kTakeElementsDepth = 8;

// few: work-items of a block, which each move one access.
constexpr int kTakeFewBlock = 128;

// Bytes of x in shared memory on AMD: kStagedBytes (staged), kStaticSharedBytes (large). Elsewhere launches set them.
constexpr int kStagedBytes = 32768;
constexpr int kSmallBlock = 256, kStagedBlock = 512, kLargeBlock = 1024;  // staged: one of the first two; on AMD, 512
constexpr int kStagedVector = 4;  // elements of a vector, if index and y allow vectors

// The operands of the walk over y. The offset of x is the offset of the element that index 0 names.
enum TakeOperand { kTakeY, kTakeX, kTakeIndex, kTakeOperands };

// If one index serves many elements of y (index_select): element j * run of y, in row-major order, is the first that
// uses index j < length. If each element has its own index (gather), run is 0.
struct TakeSharedIndex {
  int64_t run, length;
  WideDivisor run_divisor;
};

// Two kinds of chunks of staged and large (take_staged.h). Rows, if `lines` is 0: the walk is over rows of y, of `cols`
// elements. A block handles `group` rows in a round: it loads their rows of x, which are neighbours without gaps.
//
// Columns, otherwise: the walk is over panels of `cols` columns, one in a round. Each position in the dimensions before
// dim has `panels` panels. The last one begins `overlap` columns early, so that it has `cols` columns, too. `lines` is
// y's size along dim: the lines of a panel of y. Each line of x has 1 << line_bits vectors in a panel.
struct TakeStaged {
  int64_t cols, panels;
  Divisor cols_divisor;
  int32_t group, lines, line_bits, overlap;
  int32_t y_line, index_line, x_line;  // strides of lines: of y, of the index, and of a panel of x
  int32_t place_step, neighbour_step;  // strides in shared memory: along dim, and between columns
  int32_t vectors;                     // whether kStagedVector elements are moved at a time
  int32_t together;                    // rows moved at a time: the group, or fewer if all rows have the same indices
  int64_t copy_bytes;                  // of x, at most
  int32_t block;                       // work-items: kSmallBlock, kStagedBlock or kLargeBlock
  WideDivisor panels_divisor;
};

// An access moves an element, or a vector of elements. The launcher, and the lists HIPOPS_UNITS_TO_*, call it a unit.
// Strides of y and x count accesses; the index's, elements.
struct TakeArgs {
  IndexArgs index;
  const void* x;
  void* y;
  int64_t x_step;  // of x along dim, in accesses
  // any, few: a walk over accesses. rows, shifted: a walk over rows with one index each. staged, large: see TakeStaged.
  Walk<kTakeOperands> walk;  // here, because `few` reads nothing behind it
  int64_t step;    // of the whole grid: accesses (any), work-items (rows, shifted), or rows or panels (staged, large)
  int64_t vector;  // elements of an access
  TakeSharedIndex shared;
  RowPieces rows;     // rows, shifted
  TakeStaged staged;  // staged, large
};

}  // namespace hipops

// X(kernel, bits, mode, block): the bits of an access, 8 to 128.
#define HIPOPS_TAKE_KERNELS(X, op)                \
  HIPOPS_UNITS_TO_128(X, op, any, kTakeBlock)     \
  HIPOPS_UNITS_TO_128(X, op, rows, kTakeBlock)    \
  HIPOPS_UNITS_TO_64(X, op, staged, kStagedBlock) \
  HIPOPS_UNITS_TO_64(X, op, large, kLargeBlock)   \
  HIPOPS_UNITS_TO_32(X, op, shifted, kTakeBlock)  \
  HIPOPS_UNITS_TO_128(X, op, few, kTakeFewBlock)
