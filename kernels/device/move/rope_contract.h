// What rope, rope_i and rope_thd share between kernel and launcher: the arguments, and the list of variants.
#pragma once

#include <stdint.h>

#include "device/core/strided_contract.h"

namespace hipops {

// How a tensor [batch, head, token, element], in whatever order its dimensions are, is stepped through, in elements. 0
// where there is one.
struct RopeStrides {
  int64_t batch, head, token, element;
};

// The same for cos and sin [batch, row, element], and for positions [batch, row].
struct RopeTableStrides {
  int64_t batch, row, element;
};

constexpr int kRopeBlock = 64;  // of every kernel: decoding has few work-items, which are to spread over a device

// The work is counted in chunks of a token: of rope and rope_thd two vectors of a row, those of as many pairs as a
// vector has elements; of rope_i a vector of each of one or two neighbouring heads, or two single elements. A row of x
// has the chunks of its `half` pairs, without a rest, and then, unless y is x, those of the elements that are copied. A
// work-item takes a chunk. Work is numbered by chunk, then by head (or two of them) and token, the one with the smaller
// stride first, then by batch.
struct RopeArgs {
  const void* x;
  void* y;
  const void* cos;
  const void* sin;
  const void* positions;  // null: token t is at position t
  RopeStrides x_stride, y_stride;
  RopeTableStrides cos_stride, sin_stride;
  RopeTableStrides position_stride;  // `row` steps from token to token
  int64_t cols;                      // elements of a row of x
  int64_t half;                      // pairs of a row
  int64_t table_rows;
  int64_t size[3];                   // chunks, heads and tokens, or chunks, tokens and heads
  Divisor divisor[3];                // of size
  int64_t count;                     // work-items' worth of work
  int64_t step;                      // work-items of the grid
  int32_t fits_int32;                     // count and all offsets are below 2^31
  int32_t heads_inside;              // heads come before tokens
  int32_t table_is_f32;              // cos and sin; else in x's type
  int32_t positions_are_64_bit;
  WideDivisor wide_divisor[3];       // of size, too
};

}  // namespace hipops

// The variants of one element type: X(kernel, type, heads, bytes).
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
