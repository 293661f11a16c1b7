// What the kernels of a row op (row_kernel.h) and its launcher agree upon: where the rows are, and the list of kernels.
#pragma once

#include <stddef.h>

#include "device/core/divisor_contract.h"
#include "device/core/launch_contract.h"

namespace hipops {

constexpr int kMostOuterDimensions = 7, kMostRowStreams = 4;
constexpr int kLeastUnalignedVectors = 5;  // of a row: fewer may leave none between its ends

// How lanes reach the elements of a row.
enum class RowLayout : int32_t {
  aligned,    // rows begin and end at multiples of 16 bytes: whole vectors
  unaligned,  // rows without gaps, of kLeastUnalignedVectors or more, that begin anywhere
  strided,    // elements any distance apart, one by one
  packed,     // short rows without gaps in them or between them: a block stages many in shared memory
};

// Where a row is while it is worked on.
enum class RowBody : int32_t {
  on_chip,   // in the registers of a part of a wave, or of a block
  cluster,   // in those of the blocks of a cluster; on AMD, of a block of twice the work-items
  parts,     // in memory, split into spans of tiles, a block each: it writes its span's Part into the area of y of each span
  merged,    // the launch after it: each block reads all Parts in its span's area, merges them, and writes results over it
  streamed,  // in memory: it goes by twice, in tiles
};

// Rows that are split: how many spans one may have, and about how many all have together, which is blocks enough for a large
// device; each span's part is written for each of them, and takes at most so many bytes of y.
constexpr int kMostSpans = 256, kSpansOfAll = 512, kMostPartBytes = 32;
// Clusters, and unaligned rows on chip, are persistent on NVIDIA, and prefetch the next row.
constexpr bool prefetches_rows(RowLayout layout, RowBody body) {
  return body == RowBody::cluster || (body == RowBody::on_chip && layout == RowLayout::unaligned);
}
constexpr int64_t kMostRowBlocks = int64_t{1} << 21;  // of a launch, so that work-items stay under 2^32
// Elements that a block of packed rows stages of each stream.
constexpr int staged_elements(int element_bytes) { return 8192 / element_bytes; }

// The rows of an op's tensors, its streams: inputs first, then outputs, of which one that is not wanted is null. Rows are
// numbered over the outer dimensions, which the launcher has collapsed as far as their strides allow.
template <int kStreams_>
struct RowStreams {
  static constexpr int kStreams = kStreams_;

  struct Dimension {
    int64_t stride[kStreams];
    int64_t size;
    WideDivisor divisor;  // of size; the outermost dimension needs none
  };

  void* data[kStreams];
  int64_t rows, cols;
  int64_t row_step;  // rows (split: spans) from one round of a block to its next
  int32_t lanes;     // work-items of a block that share a row: all of them, if it takes one at a time
  int32_t dimensions;  // at least 1
  int32_t spans;      // of a split row
  int64_t per_block;  // split: tiles of a span, the last of which has the rest, too; packed: rows that a block stages
  Dimension outer[kMostOuterDimensions];  // innermost first
  int64_t step[kStreams];                 // strided: from one element to the next
};

// Weights: an element for each column.
struct RowColumns {
  const void* data;  // null: there are none
  int64_t step;      // strided: from one to the next
};

// What a norm is told.
template <class C>
struct NormTerms {
  C eps, inverse_cols, cols, cols_rest;  // the rest is what rounding to C has lost of cols
};

// HIPOPS_ROUND_SUM and so on, as hipops.h explains them.
enum NormFlag : int32_t { round_sum = 2, weight_plus_one = 4, round_before_weight = 8 };

}  // namespace hipops

// X(kernel, T, lanes, vectors, block, layout, body, resident): `lanes` work-items share a row, each holds `vectors` of it (strided and
// packed: elements, at a time). lanes < block: several rows a block. lanes == block: one row; on chip with no more work-items than
// it needs. resident (NVIDIA): work-items of a multiprocessor that the kernel's registers must allow.
#define HIPOPS_LONG_ROW_KERNELS_OF(X, op, T, in_cluster)                              \
  X(op##_##T##_unaligned_cluster, T, 512, in_cluster, 512, unaligned, cluster, 512)   \
  X(op##_##T##_unaligned_parts, T, 256, 4, 256, unaligned, parts, 768)                \
  X(op##_##T##_unaligned_merged, T, 256, 4, 256, unaligned, merged, 512)              \
  X(op##_##T##_unaligned_stream, T, 256, 4, 256, unaligned, streamed, 512)            \
  X(op##_##T##_strided_32x4, T, 32, 4, 128, strided, on_chip, 1024)                   \
  X(op##_##T##_strided_stream, T, 512, 4, 512, strided, streamed, 1024)
// Of an op whose rows may be very short.
#define HIPOPS_SHORT_ROW_KERNELS_OF(X, op, T, resident)                                \
  X(op##_##T##_packed, T, 1, 4, 64, packed, on_chip, resident)
#define HIPOPS_ROW_KERNELS_OF(X, op, T, in_cluster, in_unaligned, resident, resident_unaligned, resident_long) \
  X(op##_##T##_aligned_32x4, T, 32, 4, 64, aligned, on_chip, resident)                 \
  X(op##_##T##_aligned_512x2, T, 512, 2, 512, aligned, on_chip, 512)                  \
  X(op##_##T##_aligned_512x4, T, 512, 4, 512, aligned, on_chip, resident_long)         \
  X(op##_##T##_aligned_cluster, T, 512, in_cluster, 512, aligned, cluster, 512)       \
  X(op##_##T##_unaligned_32x2, T, 32, 2, 128, unaligned, on_chip, resident_unaligned)  \
  X(op##_##T##_unaligned_512, T, 512, in_unaligned, 512, unaligned, on_chip, 512)     \
  HIPOPS_LONG_ROW_KERNELS_OF(X, op, T, in_cluster)
// Of f64, of which the unaligned ones take aligned rows, too.
#define HIPOPS_ROW_KERNELS_OF_F64(X, op)                                              \
  X(op##_f64_unaligned_8x4, f64, 8, 4, 128, unaligned, on_chip, 512)                  \
  X(op##_f64_unaligned_512, f64, 512, 4, 512, unaligned, on_chip, 512)                \
  X(op##_f64_packed, f64, 1, 4, 64, packed, on_chip, 512)                             \
  HIPOPS_LONG_ROW_KERNELS_OF(X, op, f64, 4)
