// What the ops that walk over elements of any layout share between kernel and launcher.
#pragma once

#include "device/core/divisor_contract.h"

namespace hipops {

constexpr int kMaxRank = 8;

// A dimension of a walk. What belongs to one lies together: arguments arrive in lines.
template <int K>
struct WalkDimension {
  int64_t size;
  Divisor divisor;           // of size
  int64_t stride[K];         // in elements
  WideDivisor wide_divisor;  // of size, too
};

// A walk over `count` elements (or vectors of them) in row-major order, and where each of K operands has them.
// Dimensions are collapsed: as few as the operands' strides allow. Dimension 0 is the innermost.
template <int K>
struct Walk {
  int64_t count;
  int32_t rank;   // at least 1
  int32_t fits_int32;  // count is below 2^31: divisors of 31 bits may be used
  WalkDimension<K> dim[kMaxRank];
  int64_t outermost[K];  // strides of the last dimension, at a place that is known
};

}  // namespace hipops
