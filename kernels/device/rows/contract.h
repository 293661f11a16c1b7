// The contract between the row kernel (row_kernel.h) and its launcher: where rows are, and the list of kernels.
#pragma once

#include <stddef.h>

#include "device/core/divisor_contract.h"
#include "device/core/launch_contract.h"

namespace hipops {

constexpr int kMostOuterDimensions = 7, kMostRowStreams = 8;  // with scalars
constexpr int kLeastUnalignedVectors = 5;  // a shorter row may have no vector between its edges

// How lanes reach the elements of a row. A problem has the last of the first three layouts that its tensors need.
enum class RowLayout : int32_t {
  aligned,    // rows begin and end at multiples of 16 bytes, and consist of whole vectors
  unaligned,  // rows without gaps that begin anywhere, of kLeastUnalignedVectors or more
  strided,    // any distance between elements; they are loaded one by one
  packed,     // short rows without gaps in them or between them; a block stages many in shared memory
};

// The place of a row between its reduction and its results. Launchers mostly prefer a body that is listed earlier (`rank_of`).
enum class RowBody : int32_t {
  on_chip,   // in the registers of some lanes of a wave, or of a block
  cluster,   // in the registers of a cluster's blocks; AMD: of a block twice as large (older gfx9 streams)
  parts,     // in memory, split into spans, one block each. It stores the span's Part in the area in y of every span
  merged,    // the launch after `parts`: each block merges all Parts in its span's area, then stores results over them
  streamed,  // in memory: one block reads it twice, tile by tile
};

// Split rows: fewer than kMostSplitRows, each of up to kMostSpans spans. Bytes of a Part. Spans begin at multiples of
// kSpanVectors vectors (of whole waves) from the row's first one. A unit of kSpanVectors has room for kPartsAUnit parts.
constexpr int kMostSplitRows = 512, kMostSpans = 256, kMostPartBytes = 32, kSpanVectors = 64, kPartsAUnit = kSpanVectors / 2;
constexpr int64_t kMostIntColumns = (int64_t{1} << 31) - (1 << 20);  // columns, up to a tile past the end, fit in an int
// Whether NVIDIA's kernels are persistent and prefetch the next row.
constexpr bool prefetches_rows(RowBody body) { return body == RowBody::cluster; }
constexpr int64_t kMostRowBlocks = int64_t{1} << 21;  // of a launch: the number of work-items stays below 2^32
// Elements of each stream that a block of packed rows stages.
constexpr int staged_elements(int element_bytes) { return 8192 / element_bytes; }

// The type of an input that need not have the rows' type. A boolean is a byte: any but 0 is true.
enum class ElementType : int32_t { absent, rows, f32, boolean };
template <int n>
struct TypedInputs {
  ElementType type[n];
  int64_t typed_step[n];  // bytes between two elements
};
template <>
struct TypedInputs<0> {};

// The streams of an op: inputs, then outputs. Then outputs of one scalar for each row, typed inputs, and inputs of one
// scalar for each row. A tensor that the caller leaves out is null. Rows are numbered over the outer dimensions, which
// the launcher has collapsed.
template <int kStreams_, int kScalars_ = 0, int kTyped_ = 0, int kGiven_ = 0>
struct RowStreams : TypedInputs<kTyped_> {
  static constexpr int kStreams = kStreams_, kScalars = kScalars_, kTyped = kTyped_, kGiven = kGiven_;
  static constexpr int kFirstTyped = kStreams + kScalars, kFirstGiven = kFirstTyped + kTyped, kAll = kFirstGiven + kGiven;

  struct Dimension {
    int64_t stride[kAll];  // in elements; of typed inputs and given scalars in bytes
    int64_t size;
    WideDivisor divisor;  // of size; the outermost dimension needs none
  };

  void* data[kAll];
  int64_t rows, cols;
  int64_t row_step;  // rows (split: spans) between two rounds of a block
  int32_t lanes;     // work-items of a block that share a row
  int32_t dimensions;  // at least 1
  int32_t spans;      // of a split row
  int32_t has_scalars;
  int64_t per_block;  // split: units of a span (the first spans have one more); packed: rows that a block stages
  Dimension outer[kMostOuterDimensions];  // innermost first
  int64_t step[kStreams];                 // strided: between two elements
};

// A tensor with an element for each column.
struct RowColumns {
  const void* data;  // null if absent
  int64_t step;      // strided: between two elements
};

// A launch of an op with sums of columns (column_sums.h). A row that a block holds has one, `rows`. A longer row has `centers`,
// if the op needs them, then `parts` and `results`. `rows` and `results` store results.
enum class SumStep : int32_t { rows, results, parts, centers };

// Sums over the rows of each column. A block computes rows_together neighbouring rows at a time. A chunk has every
// `chunks`-th such group of rows, so at any time all blocks load neighbouring rows.
struct ColumnSums {
  void* partial;   // each chunk's sums: `pitch` numbers for each of the op's sums. Null if the caller needs no sums
  int64_t pitch;   // the columns, and more up to a multiple of 16 bytes
  int64_t chunks;
  int64_t rows_together;  // rows that a block computes at a time
  uint32_t spans;         // of a row: each is a block's tile. Blocks of one row's spans are neighbours
  void* of_spans;  // two slots of kSpanSlotBytes for each span of each row: its part, and its sum for the center
  SumStep step;
};
enum SpanSlot { kSlotOfPart, kSlotOfCenter, kSpanSlots };  // where a span's numbers are
constexpr int kSpanSlotBytes = 32, kSpanBytes = kSpanSlots * kSpanSlotBytes;

// The constants of a norm.
template <class C>
struct NormTerms {
  C eps, inverse_cols, cols, cols_rest;  // cols_rest is the rounding error of cols in C
};

// HIPOPS_ROUND_SUM, HIPOPS_WEIGHT_PLUS_ONE and HIPOPS_ROUND_BEFORE_WEIGHT of hipops.h.
enum NormFlag : int32_t { round_sum = 2, weight_plus_one = 4, round_before_weight = 8 };

}  // namespace hipops

// X(kernel, T, lanes, vectors, block, layout, body, resident): at most `lanes` work-items share a row. Each holds
// `vectors` vectors of it at a time (strided and packed: elements). lanes < block: a block handles several rows. lanes
// == block: one; on chip and in clusters, with only the work-items that the row needs. resident: work-items that a
// multiprocessor (NVIDIA) has room for, so a work-item has at most 65536 / resident registers.
#define HIPOPS_LONG_ROW_KERNELS_OF(X, op, T, in_cluster)                              \
  X(op##_##T##_unaligned_cluster, T, 512, in_cluster, 512, unaligned, cluster, 512)   \
  HIPOPS_SPLIT_ROWS_OF(X, op, T, 512)                                                 \
  X(op##_##T##_unaligned_stream, T, 256, 4, 256, unaligned, streamed, 512)            \
  X(op##_##T##_strided_32x4, T, 32, 4, 128, strided, on_chip, 1024)                   \
  X(op##_##T##_strided_stream, T, 512, 4, 512, strided, streamed, 1024)
// For ops whose rows may be very short.
#define HIPOPS_SHORT_ROW_KERNELS_OF(X, op, T, resident)                                \
  X(op##_##T##_packed, T, 1, 4, 64, packed, on_chip, resident)
// For aligned rows of some lengths. Lanes have more vectors, so fewer lanes compute the constants of a row.
#define HIPOPS_FEWER_LANES_OF(X, op, T, vectors, resident)                             \
  X(op##_##T##_aligned_32x##vectors, T, 32, vectors, 64, aligned, on_chip, resident)
// For most rows. in_cluster, in_unaligned: `vectors` of clusters and of long unaligned rows. resident: of short aligned
// rows; resident_unaligned: of unaligned rows on chip; resident_long: of aligned_512x4.
#define HIPOPS_ROW_KERNELS_OF(X, op, T, in_cluster, in_unaligned, resident, resident_unaligned, resident_long) \
  X(op##_##T##_aligned_32x4, T, 32, 4, 64, aligned, on_chip, resident)                 \
  X(op##_##T##_aligned_512x2, T, 512, 2, 512, aligned, on_chip, 512)                  \
  X(op##_##T##_aligned_512x4, T, 512, 4, 512, aligned, on_chip, resident_long)         \
  X(op##_##T##_aligned_cluster, T, 512, in_cluster, 512, aligned, cluster, 512)       \
  X(op##_##T##_unaligned_32x2, T, 32, 2, 128, unaligned, on_chip, resident_unaligned)  \
  X(op##_##T##_unaligned_512, T, 512, in_unaligned, 512, unaligned, on_chip, resident_unaligned) \
  HIPOPS_LONG_ROW_KERNELS_OF(X, op, T, in_cluster)
// For rows that a block does not hold. A cluster of the layout `unaligned` computes aligned rows, too.
#define HIPOPS_CLUSTER_OF(X, op, T, layout, in_cluster)                                \
  X(op##_##T##_##layout##_cluster, T, 512, in_cluster, 512, layout, cluster, 512)
// For rows so few, or so long, that several blocks share one: two launches.
#define HIPOPS_SPLIT_ROWS_OF(X, op, T, resident)                                      \
  X(op##_##T##_unaligned_parts, T, 256, 4, 256, unaligned, parts, resident)           \
  X(op##_##T##_unaligned_merged, T, 256, 4, 256, unaligned, merged, resident)
// All rows by six kernels, for ops that need no more. in_unaligned: `vectors` of unaligned rows. resident: of all on chip
// but aligned_512x4.
#define HIPOPS_FEW_ROW_KERNELS_OF(X, op, T, in_unaligned, resident)                    \
  X(op##_##T##_aligned_32x4, T, 32, 4, 64, aligned, on_chip, resident)                 \
  X(op##_##T##_aligned_512x2, T, 512, 2, 512, aligned, on_chip, resident)              \
  X(op##_##T##_aligned_512x4, T, 512, 4, 512, aligned, on_chip, 512)                   \
  X(op##_##T##_unaligned_512, T, 512, in_unaligned, 512, unaligned, on_chip, resident) \
  X(op##_##T##_unaligned_stream, T, 256, 4, 256, unaligned, streamed, 512)             \
  X(op##_##T##_strided_stream, T, 512, 4, 512, strided, streamed, 1024)
// For rows that are mostly longer than a block holds, as vocabularies.
#define HIPOPS_LONG_ROWS_OF(X, op, T)                                                  \
  X(op##_##T##_aligned_32x4, T, 32, 4, 64, aligned, on_chip, 1024)                     \
  HIPOPS_FEWER_LANES_OF(X, op, T, 8, 768)                                              \
  X(op##_##T##_unaligned_32x4, T, 32, 4, 128, unaligned, on_chip, 896)                 \
  X(op##_##T##_aligned_512x4, T, 512, 4, 512, aligned, on_chip, 512)                   \
  X(op##_##T##_unaligned_512, T, 512, 4, 512, unaligned, on_chip, 768)                 \
  HIPOPS_CLUSTER_OF(X, op, T, aligned, 8)                                              \
  HIPOPS_CLUSTER_OF(X, op, T, unaligned, 8)                                            \
  X(op##_##T##_aligned_stream, T, 256, 4, 256, aligned, streamed, 768)                 \
  X(op##_##T##_unaligned_stream, T, 256, 4, 256, unaligned, streamed, 512)             \
  X(op##_##T##_strided_stream, T, 512, 4, 512, strided, streamed, 1024)
// For ops with column sums (column_sums.h). A lane keeps a number for each sum and element, so it may hold fewer vectors.
#define HIPOPS_SUMMED_ROW_KERNELS_OF(X, op, T, vectors, resident)                              \
  X(op##_##T##_aligned_32x##vectors, T, 32, vectors, 128, aligned, on_chip, 512)              \
  X(op##_##T##_aligned_512x##vectors, T, 512, vectors, 512, aligned, on_chip, 512)            \
  X(op##_##T##_unaligned_32x2, T, 32, 2, 128, unaligned, on_chip, 512)                        \
  X(op##_##T##_unaligned_512x2, T, 512, 2, 512, unaligned, on_chip, resident)                 \
  HIPOPS_SUMMED_ANY_ROW_KERNEL_OF(X, op, T, 8)
// For rows of any layout.
#define HIPOPS_SUMMED_ANY_ROW_KERNEL_OF(X, op, T, vectors)                                     \
  X(op##_##T##_strided_512x##vectors, T, 512, vectors, 512, strided, on_chip, 512)
// For f64: the unaligned kernels serve aligned rows, too.
#define HIPOPS_ROW_KERNELS_OF_F64(X, op)                                              \
  X(op##_f64_unaligned_8x4, f64, 8, 4, 128, unaligned, on_chip, 512)                  \
  X(op##_f64_unaligned_512, f64, 512, 4, 512, unaligned, on_chip, 512)                \
  X(op##_f64_packed, f64, 1, 4, 64, packed, on_chip, 512)                             \
  HIPOPS_LONG_ROW_KERNELS_OF(X, op, f64, 4)
