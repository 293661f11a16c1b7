// The contract between strided_copy.hip and its launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kCopyBlock = 256;  // of every kernel except `rows` and `few`
constexpr int kCopyRowsBlock = 128, kCopyFewBlock = 128;
constexpr int kCopyDepth = 2;    // accesses in flight for a work-item: `any`, and `rows` with 16 bytes an access
constexpr int kCopyElementsDepth = 8;  // `rows` with fewer bytes

// Elements along each side of a tile of `tile`: at least 128 bytes in a line.
constexpr int copy_tile_edge(int bits) { return bits >= 32 ? 32 : 64; }

// Elements of a tile of `staged` along y's lines (256 or 128 bytes) and along x's lines (128 bytes).
constexpr int copy_staged_line(int bits) { return bits == 8 ? 128 : 2048 / bits; }
constexpr int copy_staged_lines(int bits) { return 1024 / bits; }

enum CopyOperand { kCopyY, kCopyX, kCopyOperands };

// tile, staged: dimension 0 is y's innermost dimension, dimension 1 is x's innermost one.
struct CopyTiles {
  int64_t size[2];  // elements
  int64_t stride[kCopyOperands][2];
  int32_t x_aligned, y_aligned;  // staged: whether lines begin at multiples of 16 bytes
  int64_t x_elements;  // staged: the number of x's elements if they have no gaps and x points to the first. Otherwise 0
};

// square: a tile is 1 << across squares along x's innermost dimension, which has `line` squares, and along the walk
// the squares that fill the rest of a block. Tiles are numbered in this order: extent[0] along the walk, extent[1]
// along the line, further tiles along the walk.
struct CopySquares {
  int64_t x_stride, y_stride;  // between lines of a square
  int64_t extent[2];
  int32_t across, line;
  int64_t tiles;
  Divisor divisor[2];  // of extent
};

struct StridedCopyArgs {
  const void* x;  // `few` reads only these two, and the walk's first dimensions
  void* y;
  // any, few: a walk over accesses. rows, shifted: a walk over rows. tile, staged: a walk over tiles. Its dimensions 0
  // and 1 are CopyTiles' dimensions cut into tiles. square: over squares at the beginning of x's innermost dimension.
  Walk<kCopyOperands> walk;
  int64_t step;  // accesses (any), work-items (rows, shifted) or tiles that the grid handles at a time
  // any: bytes before the first access and after the last, below 16 each. Then accesses have no gaps.
  int32_t head, tail;
  CopyTiles tiled;                    // tile, staged
  CopySquares squares;                // square
  RowPieces rows;                     // rows; shifted, whose rows are contiguous
  int64_t row_stride[kCopyOperands];  // rows: between accesses
};

}  // namespace hipops

// X(kernel, bits, mode, block): the bits of an access.
#define HIPOPS_STRIDED_COPY_KERNELS(X)                           \
  HIPOPS_UNITS_TO_128(X, strided_copy, any, kCopyBlock)          \
  HIPOPS_UNITS_TO_128(X, strided_copy, few, kCopyFewBlock)       \
  HIPOPS_UNITS_TO_128(X, strided_copy, rows, kCopyRowsBlock)     \
  HIPOPS_UNITS_TO_64(X, strided_copy, tile, kCopyBlock)          \
  HIPOPS_UNITS_TO_64(X, strided_copy, square, kCopyBlock)        \
  HIPOPS_UNITS_TO_64(X, strided_copy, staged, kCopyBlock)        \
  HIPOPS_UNITS_TO_32(X, strided_copy, shifted, kCopyBlock)
