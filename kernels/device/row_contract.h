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

// How a variant reaches the elements of a row.
enum RowAccess : int32_t {
  wide,   // vectors of 16 bytes: rows without gaps that begin and end at multiples of that
  edged,  // the same for rows that don't, whose first and last elements go one by one
  any,    // single elements, any distance apart
};

}  // namespace hipops

// The variants of one element type: X(kernel, type, threads, vectors, block, access, mode).
//   threads  work-items that share a row; a block of `block` holds block / threads rows
//   vectors  vectors that each of them keeps in registers
//   access   a RowAccess
//   mode     resident: a row of up to threads * vectors vectors is read once and stays in registers; streaming: a row of any length
//            goes by in tiles of that size, once for each pass
// For each access the list goes from short rows to long ones, and the launcher takes the first that holds the row.
#define HIPOPS_WIDE_ROWS(X, op, T)                                    \
  X(op##_##T##_wide_4x1, T, 4, 1, 256, wide, resident)                \
  X(op##_##T##_wide_8x1, T, 8, 1, 256, wide, resident)                \
  X(op##_##T##_wide_16x1, T, 16, 1, 256, wide, resident)              \
  X(op##_##T##_wide_32x1, T, 32, 1, 256, wide, resident)              \
  X(op##_##T##_wide_32x2, T, 32, 2, 256, wide, resident)              \
  X(op##_##T##_wide_32x4, T, 32, 4, 256, wide, resident)              \
  X(op##_##T##_wide_128x2, T, 128, 2, 128, wide, resident)            \
  X(op##_##T##_wide_256x2, T, 256, 2, 256, wide, resident)            \
  X(op##_##T##_wide_256x4, T, 256, 4, 256, wide, resident)            \
  X(op##_##T##_wide_512x4, T, 512, 4, 512, wide, resident)            \
  X(op##_##T##_wide_stream, T, 512, 4, 512, wide, streaming)

#define HIPOPS_EDGED_ROWS(X, op, T)                                   \
  X(op##_##T##_edged_4x1, T, 4, 1, 256, edged, resident)              \
  X(op##_##T##_edged_16x1, T, 16, 1, 256, edged, resident)            \
  X(op##_##T##_edged_32x2, T, 32, 2, 256, edged, resident)            \
  X(op##_##T##_edged_32x4, T, 32, 4, 256, edged, resident)            \
  X(op##_##T##_edged_256x2, T, 256, 2, 256, edged, resident)          \
  X(op##_##T##_edged_512x2, T, 512, 2, 512, edged, resident)          \
  X(op##_##T##_edged_512x4, T, 512, 4, 512, edged, resident)          \
  X(op##_##T##_edged_stream, T, 512, 1, 512, edged, streaming)

#define HIPOPS_ANY_ROWS(X, op, T)                                     \
  X(op##_##T##_any_4x1, T, 4, 1, 256, any, resident)                  \
  X(op##_##T##_any_32x1, T, 32, 1, 256, any, resident)                \
  X(op##_##T##_any_32x4, T, 32, 4, 256, any, resident)                \
  X(op##_##T##_any_256x4, T, 256, 4, 256, any, resident)              \
  X(op##_##T##_any_stream, T, 512, 2, 512, any, streaming)

#define HIPOPS_ROW_VARIANTS(X, op, T) HIPOPS_WIDE_ROWS(X, op, T) HIPOPS_EDGED_ROWS(X, op, T) HIPOPS_ANY_ROWS(X, op, T)

// Elements of 8 bytes use half of the widest access one by one: edged rows of them count as any.
#define HIPOPS_ROW_KERNELS(X, op)                                     \
  HIPOPS_ROW_VARIANTS(X, op, f32)                                     \
  HIPOPS_ROW_VARIANTS(X, op, f16)                                     \
  HIPOPS_ROW_VARIANTS(X, op, bf16)                                    \
  HIPOPS_WIDE_ROWS(X, op, f64)                                        \
  HIPOPS_ANY_ROWS(X, op, f64)
