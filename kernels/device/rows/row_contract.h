// What the ops that work on rows (layer_norm, rms_norm, softmax) share between kernel and launcher: the geometry that a
// kernel is told, and the list of variants.
#pragma once

#include <stddef.h>

#include "device/core/divisor_contract.h"
#include "device/core/launch_contract.h"

namespace hipops {

constexpr int kMaxOuterRank = 7;

// A dimension of the rows.
struct RowDimension {
  int64_t x_stride, y_stride, size;
  WideDivisor divisor;  // of size; the outermost one has none
};

// What is so of a launch's rows.
enum RowTrait : int32_t {
  rows_are_few = 1,      // so few that a row's own time counts
  weights_are_kept = 2,  // clustered: the launch brings shared memory for the weights
  rows_lie_alike = 4,    // edged: x's rows that are row_step apart lie alike to multiples of 16 bytes
};

// The rows of x and y. Rows are numbered over the outer dimensions, which the launcher has collapsed as far as their
// strides allow: one dimension in nearly every call.
struct RowGeometry {
  int64_t rows, cols;
  int64_t row_step;              // rows, or tiles of split ones, that the blocks that stay take at a time
  int64_t in_rounds;             // rows that they take, round by round; late blocks take those behind them, once
  int32_t outer_rank;            // at least 1
  int32_t threads;               // work-items of a block
  int32_t rows_in_shared;        // staged: that a block has in shared memory at a time; queued: that wait there
  int32_t traits;                // of RowTrait
  RowDimension outer[kMaxOuterRank];  // innermost first
  int64_t x_stride, y_stride;         // of the last dimension
  int32_t rows_first;                 // split: whether a tile of one row is followed by that of the next, or by its next one
  int64_t tiles;                      // of a row that is split,
  WideDivisor tiles_divisor;          // of tiles, or, if rows_first, of rows
};

// Arguments arrive in lines of 64 bytes, each of which that a launch looks at costs it some 0.03 to 0.06 us, one after
// the other. What aligned rows look at, up to the strides of the first dimension, is in two: NVIDIA's sm_90 has the
// first argument 16 bytes into a line.
constexpr int kNearArguments = 112;
constexpr bool are_near(size_t geometry_at) {
  return geometry_at + offsetof(RowGeometry, outer) + offsetof(RowDimension, size) <= kNearArguments;
}

// What a norm needs once a row, computed once a call.
template <class C>
struct NormTerms {
  C eps, cols, inverse_cols;
};
// The same of f64, and of rows of any length.
struct OtherNormTerms {
  float cols_rest;  // what cols is more than it is in f32: there is none for most numbers past 2^24
  NormTerms<double> in_f64;
};

// How a variant reaches the elements of a row.
enum RowAccess : int32_t {
  wide,    // vectors of 16 bytes: rows without gaps that begin and end at multiples of that
  edged,   // the same for rows that don't, whose first and last elements go one by one
  staged,  // through shared memory, where a block's rows lie as one piece: many short rows without gaps
  any,     // single elements, any distance apart
};

enum RowMode : int32_t {
  resident,   // a row is read once and stays in registers
  clustered,  // the same for a row that the blocks of a cluster share: as many as it needs
  tailed,     // clustered, with what registers do not hold in shared memory, not on AMD: see row_tail.h
  full,       // clustered, of a vector more a work-item, with which NVIDIA's registers are full, not on AMD
  streaming,  // a row of any length goes by in tiles, once for each pass
  queued,     // resident, and the next rows wait in shared memory, not on AMD: see row_queue.h
  passing,    // resident, for so many rows that blocks come and go, not on AMD
  weights_early,  // resident, for so few rows that their weights take the registers of other blocks
  weights_aside,  // resident, with the weights in shared memory, not on AMD: see WeightsAside
  partial, merge, apply,  // a row of any length is split over blocks: see split_row.h
};
constexpr bool is_off_amd(RowMode mode) {
  return mode == tailed || mode == full || mode == queued || mode == passing || mode == weights_aside;
}
constexpr bool in_clusters(RowMode mode) { return mode == clustered || mode == tailed || mode == full; }

// Work-items of such variants that a unit of a device with waves of 32 runs at a time; twice as many where waves are of
// 64. Enough to have some 32 KiB on their way, and few enough for the registers that they take, with those for weights
// that stay there, where there are such.
constexpr int resident_threads(int vectors, bool beside_weights = false) {
  return vectors == 6 && beside_weights ? 384 : vectors > 2 ? 512 : vectors == 2 ? 768 : 1024;
}

// The same of queued ones, on NVIDIA: all that have 96 registers.
constexpr int kQueuedThreads = 640;

// The same of passing ones, on NVIDIA: all that have 64.
constexpr int kPassingThreads = 1024;

// The same of those whose weights are aside, on NVIDIA: all that have 80, or, of elements that need not be widened, 64.
constexpr int aside_threads(int element_bytes) { return element_bytes == 2 ? 768 : 1024; }

// Up to so many vectors a work-item, aligned rows that share blocks go round, and may leave the last round to late ones.
constexpr int kMostVectorsAround = 2;

// Elements that a block of a staged variant has in shared memory at a time, beside a vector that is used in part: enough
// to have 16 KiB on their way, and so that four blocks share 64.
constexpr int stage_elements(int element_bytes) { return (16384 - 16) / element_bytes; }

// The blocks for which NVIDIA's compiler keeps registers: the second argument of HIPOPS_KERNEL_UP_TO. Wide elements are
// few in a vector, and take fewer.
constexpr int blocks_with_room(RowAccess access, int block, int vectors, int element_bytes = 2) {
  constexpr int kWorkItems = 2048;  // that it has at most: as many where each has one vector
  if (access == wide && vectors == 1 && block < 512) return kWorkItems / block;
  if (access == staged) return element_bytes > 4 ? 2 : 4;
  return block <= 256 || vectors > 4 ? 1 : element_bytes == 4 ? 3 : 2;
}

// The same where blocks have several rows and weights stay in registers: as many waves as don't spill then.
constexpr int blocks_beside_weights(int block, int vectors) {
  constexpr int kWave = 32;
  const int waves = vectors == 1 ? 64 : vectors == 2 ? 40 : vectors == 3 ? 32 : vectors == 4 ? 24 : 16;
  return waves * kWave / block;
}

// Blocks of a clustered variant that one may stand for, of as many times the work-items, where there are no clusters
// and registers enough.
constexpr int kBlocksInOne = 2;

enum SplitStep : int32_t { edged_partial, merge_tiles, edged_apply, wide_partial, wide_apply };
constexpr int kSplitSteps = 5, kLargeSplitSteps = 3;  // f64 has no wide ones
constexpr int kSplitThreads = 512, kSplitVectors = 4;  // of a tile

}  // namespace hipops

// The variants of one element type: X(kernel, type, threads, vectors, block, access, mode).
//   threads  work-items that share a row. Fewer than a block: a part of a wave, and the block has several rows. As many as the block:
//            a block has one row, and no more work-items than that row needs
//   vectors  vectors (staged, any: elements) that each of them holds
//   access   a RowAccess
//   mode     a RowMode. Clustered: threads, vectors and block are those of one block of the cluster
// From short rows to long ones; those of one block size and more vectors come before those of fewer, but for
// clustered ones. capi/rows/row_choice.cpp chooses.
#define HIPOPS_LONG_WIDE_ROWS(X, op, T)                               \
  X(op##_##T##_wide_512x4, T, 512, 4, 512, wide, resident)            \
  X(op##_##T##_wide_512x2, T, 512, 2, 512, wide, resident)            \
  X(op##_##T##_wide_512x1, T, 512, 1, 512, wide, resident)            \
  X(op##_##T##_wide_512x8, T, 512, 8, 512, wide, clustered)           \
  X(op##_##T##_wide_stream, T, 512, 4, 512, wide, streaming)

#define HIPOPS_SHORT_WIDE_ROWS(X, op, T)                              \
  X(op##_##T##_wide_2x1, T, 2, 1, 128, wide, resident)                \
  X(op##_##T##_wide_4x1, T, 4, 1, 128, wide, resident)                \
  X(op##_##T##_wide_4x2, T, 4, 2, 64, wide, resident)                 \
  X(op##_##T##_wide_4x3, T, 4, 3, 64, wide, resident)                 \
  X(op##_##T##_wide_8x2, T, 8, 2, 64, wide, resident)                 \
  X(op##_##T##_wide_8x3, T, 8, 3, 64, wide, resident)                 \
  X(op##_##T##_wide_16x2, T, 16, 2, 64, wide, resident)               \
  X(op##_##T##_wide_16x3, T, 16, 3, 64, wide, resident)               \
  X(op##_##T##_wide_32x2, T, 32, 2, 64, wide, resident)               \
  X(op##_##T##_wide_32x3, T, 32, 3, 64, wide, resident)

#define HIPOPS_WIDE_ROWS(X, op, T)                                    \
  HIPOPS_SHORT_WIDE_ROWS(X, op, T)                                    \
  X(op##_##T##_wide_32x4, T, 32, 4, 64, wide, resident)               \
  X(op##_##T##_wide_32x6, T, 32, 6, 64, wide, resident)               \
  X(op##_##T##_wide_128x4, T, 128, 4, 128, wide, resident)            \
  HIPOPS_LONG_WIDE_ROWS(X, op, T)

// Of elements of 8 bytes, 32x6 takes what 32x4 would as fast, and so does 512x4 what 128x4 would.
#define HIPOPS_LARGE_WIDE_ROWS(X, op, T)                              \
  HIPOPS_SHORT_WIDE_ROWS(X, op, T)                                    \
  X(op##_##T##_wide_32x6, T, 32, 6, 64, wide, resident)               \
  HIPOPS_LONG_WIDE_ROWS(X, op, T)

// Of elements of 16 bits, what is longer than staged rows: 33 to 39 columns.
#define HIPOPS_SHORT_EDGED_ROWS(X, op, T)                             \
  X(op##_##T##_edged_4x1, T, 4, 1, 128, edged, resident)

#define HIPOPS_EDGED_ROWS(X, op, T)                                   \
  X(op##_##T##_edged_4x3, T, 4, 3, 128, edged, resident)              \
  X(op##_##T##_edged_8x2, T, 8, 2, 128, edged, resident)              \
  X(op##_##T##_edged_8x3, T, 8, 3, 128, edged, resident)              \
  X(op##_##T##_edged_8x4, T, 8, 4, 128, edged, resident)              \
  X(op##_##T##_edged_16x3, T, 16, 3, 128, edged, resident)            \
  X(op##_##T##_edged_16x4, T, 16, 4, 128, edged, resident)            \
  X(op##_##T##_edged_32x3, T, 32, 3, 128, edged, resident)            \
  X(op##_##T##_edged_32x6, T, 32, 6, 128, edged, resident)            \
  X(op##_##T##_edged_512x4, T, 512, 4, 512, edged, resident)          \
  X(op##_##T##_edged_512x2, T, 512, 2, 512, edged, resident)          \
  X(op##_##T##_edged_512x1, T, 512, 1, 512, edged, resident)          \
  X(op##_##T##_edged_512x8, T, 512, 8, 512, edged, clustered)         \
  X(op##_##T##_edged_stream, T, 512, 2, 512, edged, streaming)

// Of elements of 8 bytes, from 33 columns on. Few short ones go element by element.
#define HIPOPS_LARGE_EDGED_ROWS(X, op, T)                             \
  X(op##_##T##_edged_16x4, T, 16, 4, 128, edged, resident)            \
  X(op##_##T##_edged_32x4, T, 32, 4, 128, edged, resident)            \
  X(op##_##T##_edged_512x4, T, 512, 4, 512, edged, resident)          \
  X(op##_##T##_edged_512x8, T, 512, 8, 512, edged, clustered)         \
  X(op##_##T##_edged_stream, T, 512, 2, 512, edged, streaming)

#define HIPOPS_STAGED_ROWS(X, op, T)                                  \
  X(op##_##T##_staged_1x4, T, 1, 4, 256, staged, resident)            \
  X(op##_##T##_staged_1x8, T, 1, 8, 256, staged, resident)            \
  X(op##_##T##_staged_2x8, T, 2, 8, 256, staged, resident)            \
  X(op##_##T##_staged_4x8, T, 4, 8, 256, staged, resident)

// Of elements of 8 bytes, which take twice the registers, and their functions many scalar ones for each of them.
#define HIPOPS_STAGED_LARGE_ROWS(X, op, T)                            \
  X(op##_##T##_staged_1x4, T, 1, 4, 256, staged, resident)            \
  X(op##_##T##_staged_2x4, T, 2, 4, 256, staged, resident)            \
  X(op##_##T##_staged_4x4, T, 4, 4, 256, staged, resident)            \
  X(op##_##T##_staged_8x4, T, 8, 4, 256, staged, resident)

#define HIPOPS_ANY_ROWS(X, op, T)                                     \
  X(op##_##T##_any_4x1, T, 4, 1, 256, any, resident)                  \
  X(op##_##T##_any_32x1, T, 32, 1, 256, any, resident)                \
  X(op##_##T##_any_32x4, T, 32, 4, 256, any, resident)                \
  X(op##_##T##_any_512x4, T, 512, 4, 512, any, resident)              \
  X(op##_##T##_any_stream, T, 512, 2, 512, any, streaming)

#define HIPOPS_ROW_KERNELS(X, op)                                        \
  HIPOPS_WIDE_ROWS(X, op, f32)                                           \
  HIPOPS_EDGED_ROWS(X, op, f32)                                          \
  HIPOPS_STAGED_ROWS(X, op, f32) HIPOPS_ANY_ROWS(X, op, f32)             \
  HIPOPS_WIDE_ROWS(X, op, f16)                                           \
  HIPOPS_SHORT_EDGED_ROWS(X, op, f16) HIPOPS_EDGED_ROWS(X, op, f16)      \
  HIPOPS_STAGED_ROWS(X, op, f16) HIPOPS_ANY_ROWS(X, op, f16)             \
  HIPOPS_WIDE_ROWS(X, op, bf16)                                          \
  HIPOPS_SHORT_EDGED_ROWS(X, op, bf16) HIPOPS_EDGED_ROWS(X, op, bf16)    \
  HIPOPS_STAGED_ROWS(X, op, bf16) HIPOPS_ANY_ROWS(X, op, bf16)           \
  HIPOPS_LARGE_WIDE_ROWS(X, op, f64) HIPOPS_LARGE_EDGED_ROWS(X, op, f64) \
  HIPOPS_STAGED_LARGE_ROWS(X, op, f64) HIPOPS_ANY_ROWS(X, op, f64)

// The steps of split rows, of one element type, in the order of SplitStep.
#define HIPOPS_LARGE_SPLIT_STEPS(X, op, T)                            \
  X(op##_##T##_edged_partial, T, 512, 4, 512, edged, partial)         \
  X(op##_##T##_merge, T, 512, 4, 512, edged, merge)                   \
  X(op##_##T##_edged_apply, T, 512, 4, 512, edged, apply)

#define HIPOPS_SPLIT_STEPS(X, op, T)                                  \
  HIPOPS_LARGE_SPLIT_STEPS(X, op, T)                                  \
  X(op##_##T##_wide_partial, T, 512, 4, 512, wide, partial)           \
  X(op##_##T##_wide_apply, T, 512, 4, 512, wide, apply)

// They follow the variants.
#define HIPOPS_SPLIT_KERNELS(X, op)                                   \
  HIPOPS_SPLIT_STEPS(X, op, f32)                                      \
  HIPOPS_SPLIT_STEPS(X, op, f16)                                      \
  HIPOPS_SPLIT_STEPS(X, op, bf16)                                     \
  HIPOPS_LARGE_SPLIT_STEPS(X, op, f64)
