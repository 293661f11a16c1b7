// What the ops that walk over elements of any layout share between kernel and launcher.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kMaxRank = 8;

// Division by an invariant: n / value = (high half of n * multiplier, plus n) >> shift, for n below 2^31.
struct Divisor {
  uint32_t multiplier, shift;
};

// A walk over `count` elements (or vectors of them) in row-major order, and where each of K operands has them.
// Dimensions are collapsed: as few as the operands' strides allow. Dimension 0 is the innermost.
template <int K>
struct Walk {
  int64_t count;
  int32_t rank;               // at least 1
  int32_t small;              // count is below 2^31: the divisors may be used
  int64_t size[kMaxRank];
  Divisor divisor[kMaxRank];  // of size
  int64_t stride[K][kMaxRank];  // in elements
};

}  // namespace hipops
