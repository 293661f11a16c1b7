// The contract between strided_copy.hip and its launcher.
#pragma once

#include "device/move/shifted_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kCopyBlock = 256;  // of every kernel but `rows` and `few`
constexpr int kCopyRowsBlock = 128, kCopyFewBlock = 128;
constexpr int kCopyDepth = 2;    // units that a work-item of `any` has in flight, or of `rows` where they are 16 bytes
constexpr int kCopyElementsDepth = 8;  // of `rows` where they are less

// Elements along each side of a tile of `tile`: 128 bytes or more in a line.
constexpr int copy_tile_edge(int bits) { return bits >= 32 ? 32 : 64; }

// Elements of a tile of `staged` along y's lines, 256 bytes or 128, and along x's, 128 bytes.
constexpr int copy_staged_line(int bits) { return bits == 8 ? 128 : 2048 / bits; }
constexpr int copy_staged_lines(int bits) { return 1024 / bits; }

enum CopyOperand { kCopyY, kCopyX, kCopyOperands };

struct StridedCopyArgs {
  const void* x;  // these two, and the walk's first dimensions, are what few units look at
  void* y;
  // any, few: over units. tile, staged: over tiles, which dimension 0 of the tensors, innermost in y, and the one innermost
  // in x are cut into: they are the walk's dimensions 0 and 1. square: over the squares at the beginning of the latter.
  Walk<kCopyOperands> walk;
  int64_t step;  // units or tiles that the whole grid takes at a time
  // any: bytes before the first unit and after the last, below 16 each; where there are some, units have no gaps.
  int32_t head, tail;
  // tile, staged: the two dimensions, in elements. Strides also for square.
  int64_t size[2];
  int64_t stride[kCopyOperands][2];
  int32_t x_aligned, y_aligned;  // staged: whether lines begin at multiples of 16 bytes
  // square: a tile is 1 << across squares along the dimension innermost in x, which has `line` of them, and as many of
  // the walk's as then make up a block. size[0] tiles along the walk are numbered first, then size[1] along the line,
  // then the next ones of the walk.
  int32_t across, line;
  int64_t tiles;
  Divisor divisor[2];  // of size
  // rows: the walk is over rows of `cols` units, which are as stride[..][0] says; shifted: which are contiguous.
  // 1 << lanes work-items share a row's part, of which there are `parts` in a row; `count` is of work-items.
  int64_t cols, pieces, count;
  Divisor pieces_divisor;
  int32_t lanes;
  WideDivisor wide_pieces_divisor;
};

}  // namespace hipops

// X(kernel, bits, mode, block): units of that many bits.
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
