// What the ops that work on rows (layer_norm, rms_norm, softmax) share between kernel and launcher: the geometry that a kernel is told,
// and the list of variants.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kMaxOuterRank = 7;

// The rows of x and y. Rows are numbered over the outer dimensions, which the launcher has collapsed as far as their strides
// allow: one dimension in nearly every call.
struct RowGeometry {
  int64_t rows, cols;
  int64_t row_step;              // rows that the whole grid takes at a time
  int64_t x_stride, y_stride;    // of the last dimension
  int32_t outer_rank;            // at least 1
  int32_t unused;
  int64_t outer_size[kMaxOuterRank];  // innermost first
  int64_t outer_x_stride[kMaxOuterRank];
  int64_t outer_y_stride[kMaxOuterRank];
};

}  // namespace hipops

// The variants of one element type: X(kernel, type, threads, vectors, block, bytes, mode).
//   threads  work-items that share a row; a block of `block` holds block / threads rows
//   vectors  vectors that each of them keeps in registers
//   bytes    16: vectors are 16 bytes, for aligned rows without gaps; 0: vectors are single elements at any stride
//   mode     resident: a row of up to threads * vectors vectors is read once and stays in registers; streaming: a row of any length
//            goes by in tiles of that size, once for each pass
// For each `bytes` the list goes from short rows to long ones, and the launcher takes the first that holds the row.
#define HIPOPS_ROW_VARIANTS(X, op, T)                         \
  X(op##_##T##_wide_4x1, T, 4, 1, 256, 16, resident)          \
  X(op##_##T##_wide_8x1, T, 8, 1, 256, 16, resident)          \
  X(op##_##T##_wide_16x1, T, 16, 1, 256, 16, resident)        \
  X(op##_##T##_wide_32x1, T, 32, 1, 256, 16, resident)        \
  X(op##_##T##_wide_32x2, T, 32, 2, 256, 16, resident)        \
  X(op##_##T##_wide_32x4, T, 32, 4, 256, 16, resident)        \
  X(op##_##T##_wide_128x2, T, 128, 2, 128, 16, resident)      \
  X(op##_##T##_wide_256x2, T, 256, 2, 256, 16, resident)      \
  X(op##_##T##_wide_256x4, T, 256, 4, 256, 16, resident)      \
  X(op##_##T##_wide_512x4, T, 512, 4, 512, 16, resident)      \
  X(op##_##T##_wide_1024x4, T, 1024, 4, 1024, 16, resident)   \
  X(op##_##T##_wide_stream, T, 1024, 2, 1024, 16, streaming)  \
  X(op##_##T##_any_1x1, T, 1, 1, 256, 0, resident)            \
  X(op##_##T##_any_8x1, T, 8, 1, 256, 0, resident)            \
  X(op##_##T##_any_32x1, T, 32, 1, 256, 0, resident)          \
  X(op##_##T##_any_32x4, T, 32, 4, 256, 0, resident)          \
  X(op##_##T##_any_256x4, T, 256, 4, 256, 0, resident)        \
  X(op##_##T##_any_1024x4, T, 1024, 4, 1024, 0, resident)     \
  X(op##_##T##_any_stream, T, 1024, 2, 1024, 0, streaming)

#define HIPOPS_ROW_KERNELS(X, op)   \
  HIPOPS_ROW_VARIANTS(X, op, f32)   \
  HIPOPS_ROW_VARIANTS(X, op, f16)   \
  HIPOPS_ROW_VARIANTS(X, op, bf16)  \
  HIPOPS_ROW_VARIANTS(X, op, f64)
