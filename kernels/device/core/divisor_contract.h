// Division by what does not change within a launch: the launcher finds the numbers (capi/tensor/divisor.h), a kernel multiplies
// and shifts (divide.h).
#pragma once

#include <stdint.h>

namespace hipops {

// n / size = (high half of n * multiplier, plus n) >> shift, for n and size below 2^31.
struct Divisor {
  uint32_t multiplier, shift;
};

// The same below 2^63: for the ways that few launches take, so apart from what the others look at.
struct WideDivisor {
  uint64_t multiplier, shift;
};

}  // namespace hipops
