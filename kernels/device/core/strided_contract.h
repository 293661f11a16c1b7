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

}  // namespace hipops
