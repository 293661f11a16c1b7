// The contract between the kernels of rope, rope_i and rope_thd and their launchers.
#pragma once

#include <stdint.h>

#include "device/core/strided_contract.h"

namespace hipops {

// The strides of a tensor with the dimensions batch, head, token and element, in any order. 0 for a size of 1.
struct RopeStrides {
  int64_t batch, head, token, element;
};

// The same for cos and sin [batch, row, element], and for positions [batch, row].
struct RopeTableStrides {
  int64_t batch, row, element;
};

constexpr int kRopeBlock = 64;  // of every kernel: decoding has few work-items, which must spread over the device
constexpr int kRopeResident = 20;  // blocks on a multiprocessor, although code with 64-bit offsets then spills

// A work-item handles one chunk of a token. In rope and rope_thd, a chunk is two vectors of a row, one of each half. In
// rope_i, it is a vector of each of one or two neighbouring heads, or two single elements. The first chunks of a row
// contain its `half` pairs. If y is not x, each chunk also copies other elements, up to two vectors. Work-items are
// numbered by chunk first, and by batch last. In between, heads (or two heads) or tokens: the smaller stride first.
struct RopeArgs {
  const void* x;
  void* y;
  const void* cos;
  const void* sin;
  const void* positions;  // null: token t is at position t
  RopeStrides x_stride, y_stride;
  RopeTableStrides cos_stride, sin_stride;
  RopeTableStrides position_stride;  // `row` is the stride between tokens
  int64_t cols;                      // elements of a row of y; rotated elements come first
  int64_t half;                      // pairs of a row
  int64_t table_rows;
  int64_t size[3];                   // chunks, heads and tokens, or chunks, tokens and heads
  Divisor divisor[3];                // of size
  int64_t count;                     // chunks of all work
  int64_t step;                      // work-items of the grid
  int32_t fits_int32;                // count and all offsets are below 2^31
  int32_t heads_inside;              // heads are numbered before tokens
  int32_t table_is_f32;              // cos and sin are f32; otherwise they have x's type
  int32_t positions_are_64_bit;
  WideDivisor wide_divisor[3];       // of size, too
};

}  // namespace hipops

// The kernels of one element type: X(kernel, type, heads, bytes).
//   heads  of a chunk
//   bytes  16: vectors are 16 bytes, for aligned rows without gaps; 0: vectors are single elements at any stride
#define HIPOPS_ROPE_VARIANTS(X, op, T) \
  X(op##_##T##_wide_1, T, 1, 16)       \
  X(op##_##T##_any_1, T, 1, 0)

#define HIPOPS_ROPES_KERNELS(X, op)  \
  HIPOPS_ROPE_VARIANTS(X, op, f32)   \
  HIPOPS_ROPE_VARIANTS(X, op, f16)   \
  HIPOPS_ROPE_VARIANTS(X, op, bf16)  \
  HIPOPS_ROPE_VARIANTS(X, op, f64)
