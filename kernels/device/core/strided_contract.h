// The contract between kernels that walk over elements of any layout and their launchers.
#pragma once

#include "device/core/divisor_contract.h"

namespace hipops {

constexpr int kMaxRank = 8;

// A dimension of a walk. Fields of a dimension are neighbours, because arguments are loaded in cache lines.
template <int K>
struct WalkDimension {
  int64_t size;
  Divisor divisor;           // of size
  int64_t stride[K];         // in elements
  WideDivisor wide_divisor;  // of size, too
};

// A walk over `count` elements (or vectors) in row-major order, for K operands. The launcher has merged dimensions
// where all operands' strides allow it. Dimension 0 is the innermost.
template <int K>
struct Walk {
  int64_t count;
  int32_t rank;   // at least 1
  int32_t fits_int32;  // count is below 2^31: Divisor is enough
  WalkDimension<K> dim[kMaxRank];
  int64_t outermost[K];  // strides of the last dimension, at a constant offset
};

// A walk over rows of `cols` accesses (for_each_row_piece). A row has `pieces` pieces, and 1 << lane_bits work-items
// share a piece. `count` is the number of work-items.
struct RowPieces {
  int64_t cols, pieces, count;
  Divisor pieces_divisor;
  int32_t lane_bits;
  WideDivisor wide_pieces_divisor;
};

constexpr int kShiftedDepth = 4;  // vectors, or elements, of a row that begins anywhere, for each work-item

// An upper bound for the number of vectors and other elements of a row that begins anywhere.
constexpr int64_t shifted_pieces(int64_t cols, int64_t bytes) { return cols * bytes / 16 + 4 * (16 / bytes); }

}  // namespace hipops

// The kernels of one mode: X(kernel, bits, mode, block) for accesses of 8 bits, and up to 32, 64 or 128.
#define HIPOPS_UNITS_TO_32(X, op, mode, block) \
  X(op##_b8_##mode, 8, mode, block)            \
  X(op##_b16_##mode, 16, mode, block)          \
  X(op##_b32_##mode, 32, mode, block)
#define HIPOPS_UNITS_TO_64(X, op, mode, block) \
  HIPOPS_UNITS_TO_32(X, op, mode, block)       \
  X(op##_b64_##mode, 64, mode, block)
#define HIPOPS_UNITS_TO_128(X, op, mode, block) \
  HIPOPS_UNITS_TO_64(X, op, mode, block)        \
  X(op##_b128_##mode, 128, mode, block)
