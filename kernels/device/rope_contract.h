// What rope, rope_i and rope_thd share between kernel and launcher: the arguments, and the list of variants.
#pragma once

#include <stdint.h>

#include "device/strided_contract.h"

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

// The work is counted in chunks: two vectors of N elements each, those of N pairs or 2 N that are copied. A row of x
// has the chunks of its `half` pairs, N to a chunk without a rest, and then, unless y is x, those of the elements that
// are copied. A work-item takes a chunk of one token for a group of neighbouring heads. Work is numbered by chunk, then
// by group and token, the one with the smaller stride first, then by batch.
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
  int64_t heads;
  int64_t table_rows;
  int64_t size[3];                   // chunks, groups and tokens, or chunks, tokens and groups
  Divisor divisor[3];                // of size
  int64_t count;                     // work-items' worth of work
  int64_t step;                      // work-items of the grid
  int32_t small;                     // count is below 2^31: the divisors may be used
  int32_t heads_inside;              // groups come before tokens
  int32_t table_is_f32;              // cos and sin; else in x's type
  int32_t positions_are_64_bit;
};

}  // namespace hipops

// The variants of one element type: X(kernel, type, heads, block, bytes).
//   heads  of a group: their loads are under way together, and cos, sin and offsets are found once
//   bytes  16: vectors are 16 bytes, for aligned rows without gaps; 0: vectors are single elements at any stride
// A group of four saves three loads of cos and sin out of four; where there is little to do, a head a work-item and
// blocks of a wave or two spread it over more of the device.
#define HIPOPS_ROPE_VARIANTS(X, op, T) \
  X(op##_##T##_wide_4, T, 4, 256, 16)  \
  X(op##_##T##_wide_1, T, 1, 64, 16)   \
  X(op##_##T##_any_4, T, 4, 256, 0)    \
  X(op##_##T##_any_1, T, 1, 64, 0)

#define HIPOPS_ROPES_KERNELS(X, op)  \
  HIPOPS_ROPE_VARIANTS(X, op, f32)   \
  HIPOPS_ROPE_VARIANTS(X, op, f16)   \
  HIPOPS_ROPE_VARIANTS(X, op, bf16)  \
  HIPOPS_ROPE_VARIANTS(X, op, f64)
