// The contract between the kernels of reductions and their launchers.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kReduceBlock = 256;
constexpr int kReduceDepth = 8;       // loads of a lane in flight
constexpr int kShortReduceDepth = 2;  // the same of rows in few lanes
constexpr int kShortRows = 4;         // rows of a lane in flight, if all rows are short and of whole vectors
constexpr int kMostRowLanes = 32;     // lanes of a row, if a block has several rows
// Vectors that a block loads in one round.
constexpr int64_t kRoundVectors = int64_t{kReduceBlock} * kReduceDepth;
constexpr int64_t kShortRoundVectors = int64_t{kReduceBlock} * kShortReduceDepth;

// How a result is computed. The kinds of hipops.h differ from these in the sign of x, and in the last step.
enum ReduceKind : int32_t { kReduceSum, kReduceGreatest, kReduceLogSumExp, kReducePosition };

enum ReduceOutput : int32_t { kOutputF32, kOutputF16, kOutputBf16, kOutputF64, kOutput32, kOutput64 };

// A walk over results has these operands.
enum ReduceOperand { kReduceY, kReduceX, kReduceOperands };

struct ReduceArgs {
  const void* x;
  void* y;
  void* partial;  // partial results: of result r and part p at r * result_step + p * part_step. Null: y is stored
  Walk<kReduceOperands> results;  // `columns`: of `vector` neighbouring results of x
  Walk<1> reduced;        // of x: `rows`: the dimensions except the innermost. `columns`: all
  ReduceKind kind;
  ReduceOutput output;
  double count;           // a sum is divided by it: 1, or of a mean the number of reduced elements
  double sign;            // -1: the least element is computed as the greatest of -x. 0: the result is a scale
  const float* most_magnitude;  // a scale is the greatest |x|, at most this number (null: no bound), divided by `count`
  double least_scale;           // and at least this
  int64_t y_step;         // `columns`: between the results of a vector
  int64_t units, step;    // of the blocks' loops; the units that all blocks have in a round
  int64_t result_step, part_step;
  int64_t parts;          // of each result
  WideDivisor parts_divisor;
  int64_t length;         // `rows`: elements of the innermost dimension. `columns`: reduced positions
  int64_t part_length;    // of `length`
  int64_t spans;          // `rows`: parts of the innermost dimension
  WideDivisor spans_divisor;
  int64_t tiles;          // `columns`: blocks next to each other
  WideDivisor tiles_divisor;
  int32_t lanes, rows;    // `rows`: lanes of a row; rows of a block
  int32_t deep;           // `rows`: lanes load kReduceDepth vectors
  int32_t short_rows;     // `rows`: lanes have kShortRows rows
  int32_t result_bits;    // `columns`: 1 << result_bits neighbouring lanes have different results
  int32_t is_wide;        // `columns`: vectors of 16 bytes
};

// The sums of chunks, which a launch adds into a tensor of columns.
struct SumMerge {
  const void* x;          // chunk p's sums from x + p * part_step on
  void* y;
  int64_t y_step;         // elements from one column to the next
  int64_t part_step, parts, cols;
  int64_t units, step;    // as in ReduceArgs
  ReduceOutput output;
  int32_t result_bits;    // 1 << result_bits neighbouring lanes have different columns
};
// Merges of up to n tensors. Each tensor has `blocks` blocks.
template <int n>
struct SumMerges {
  uint32_t blocks;
  SumMerge of[n];
};

}  // namespace hipops
