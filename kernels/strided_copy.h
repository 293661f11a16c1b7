// The contract between strided_copy.hip and its launcher.
#pragma once

#include "device/strided_contract.h"

namespace hipops {

constexpr int kCopyBlock = 256;  // of every kernel
constexpr int kCopyDepth = 4;    // units that a work-item of `any` has in flight

// Elements along each side of a tile: 128 bytes or more in a line.
constexpr int copy_tile_edge(int bits, bool wide) { return bits >= 32 ? 32 : wide && bits == 8 ? 128 : 64; }

enum CopyOperand { kCopyY, kCopyX, kCopyOperands };

struct StridedCopyArgs {
  // any: over units. tile: over tiles, which dimension 0 of the tensors, innermost in y, and the one innermost in x are
  // cut into: they are the walk's dimensions 0 and 1.
  Walk<kCopyOperands> walk;
  int64_t step;  // units or tiles that the whole grid takes at a time
  const void* x;
  void* y;
  // any: bytes before the first unit and after the last, below 16 each; where there are some, units have no gaps.
  int32_t head, tail;
  // tile: the two dimensions, in elements.
  int64_t size[2];
  int64_t stride[kCopyOperands][2];
};

}  // namespace hipops

// X(kernel, bits, mode): units of that many bits.
#define HIPOPS_STRIDED_COPY_KERNELS(X)              \
  X(strided_copy_b8_any, 8, any)                    \
  X(strided_copy_b16_any, 16, any)                  \
  X(strided_copy_b32_any, 32, any)                  \
  X(strided_copy_b64_any, 64, any)                  \
  X(strided_copy_b128_any, 128, any)                \
  X(strided_copy_b8_tile_any, 8, tile_any)          \
  X(strided_copy_b16_tile_any, 16, tile_any)        \
  X(strided_copy_b32_tile_any, 32, tile_any)        \
  X(strided_copy_b64_tile_any, 64, tile_any)        \
  X(strided_copy_b8_tile_wide, 8, tile_wide)        \
  X(strided_copy_b16_tile_wide, 16, tile_wide)      \
  X(strided_copy_b32_tile_wide, 32, tile_wide)      \
  X(strided_copy_b64_tile_wide, 64, tile_wide)
