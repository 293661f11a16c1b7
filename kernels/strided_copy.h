// The contract between strided_copy.hip and its launcher.
#pragma once

#include "device/move/shifted_contract.h"
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

struct StridedCopyArgs {
  const void* x;  // `few` reads only these two, and the walk's first dimensions
  void* y;
  // any, few: a walk over accesses. tile, staged: a walk over tiles. Its dimension 0 is y's innermost dimension, its
  // dimension 1 is x's innermost one, both cut into tiles. square: over squares at the beginning of x's innermost
  // dimension.
  Walk<kCopyOperands> walk;
  int64_t step;  // accesses or tiles that the grid handles at a time
  // any: bytes before the first access and after the last, below 16 each. Then accesses have no gaps.
  int32_t head, tail;
  // tile, staged: the two dimensions, in elements. square: the strides only.
  int64_t size[2];
  int64_t stride[kCopyOperands][2];
  int32_t x_aligned, y_aligned;  // staged: whether lines begin at multiples of 16 bytes
  // square: a tile is 1 << across squares along x's innermost dimension, which has `line` squares, and along the walk
  // the squares that fill the rest of a block. Tiles are numbered in this order: size[0] along the walk, size[1] along
  // the line, further tiles along the walk.
  int32_t across, line;
  int64_t tiles;
  Divisor divisor[2];  // of size
  // rows: the walk is over rows of `cols` accesses, with the strides stride[..][0]. shifted: over contiguous rows. A
  // row has `pieces` pieces, and 1 << lanes work-items share a piece. `count` is the number of work-items.
  int64_t cols, pieces, count;
  Divisor pieces_divisor;
  int32_t lanes;
  WideDivisor wide_pieces_divisor;
};

}  // namespace hipops

// X(kernel, bits, mode, block): the bits of an access.
#define HIPOPS_STRIDED_COPY_KERNELS(X)                      \
  X(strided_copy_b8_any, 8, any, kCopyBlock)                \
  X(strided_copy_b16_any, 16, any, kCopyBlock)              \
  X(strided_copy_b32_any, 32, any, kCopyBlock)              \
  X(strided_copy_b64_any, 64, any, kCopyBlock)              \
  X(strided_copy_b128_any, 128, any, kCopyBlock)            \
  X(strided_copy_b8_few, 8, few, kCopyFewBlock)             \
  X(strided_copy_b16_few, 16, few, kCopyFewBlock)           \
  X(strided_copy_b32_few, 32, few, kCopyFewBlock)           \
  X(strided_copy_b64_few, 64, few, kCopyFewBlock)           \
  X(strided_copy_b128_few, 128, few, kCopyFewBlock)         \
  X(strided_copy_b8_rows, 8, rows, kCopyRowsBlock)          \
  X(strided_copy_b16_rows, 16, rows, kCopyRowsBlock)        \
  X(strided_copy_b32_rows, 32, rows, kCopyRowsBlock)        \
  X(strided_copy_b64_rows, 64, rows, kCopyRowsBlock)        \
  X(strided_copy_b128_rows, 128, rows, kCopyRowsBlock)      \
  X(strided_copy_b8_tile, 8, tile, kCopyBlock)              \
  X(strided_copy_b16_tile, 16, tile, kCopyBlock)            \
  X(strided_copy_b32_tile, 32, tile, kCopyBlock)            \
  X(strided_copy_b64_tile, 64, tile, kCopyBlock)            \
  X(strided_copy_b8_square, 8, square, kCopyBlock)          \
  X(strided_copy_b16_square, 16, square, kCopyBlock)        \
  X(strided_copy_b32_square, 32, square, kCopyBlock)        \
  X(strided_copy_b64_square, 64, square, kCopyBlock)        \
  X(strided_copy_b8_staged, 8, staged, kCopyBlock)          \
  X(strided_copy_b16_staged, 16, staged, kCopyBlock)        \
  X(strided_copy_b32_staged, 32, staged, kCopyBlock)        \
  X(strided_copy_b64_staged, 64, staged, kCopyBlock)        \
  X(strided_copy_b8_shifted, 8, shifted, kCopyBlock)        \
  X(strided_copy_b16_shifted, 16, shifted, kCopyBlock)      \
  X(strided_copy_b32_shifted, 32, shifted, kCopyBlock)
