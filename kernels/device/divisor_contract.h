// Division by what does not change within a launch: the launcher finds the numbers (capi/divisor.h), a kernel multiplies
// and shifts (divide.h).
#pragma once

#include <stdint.h>

namespace hipops {

// n / value = (high half of n * multiplier, plus n) >> shift: by `multiplier` for n below 2^31, if the value is, and by
// `wide_multiplier` for n below 2^63.
struct Divisor {
  uint32_t multiplier, shift;
  uint64_t wide_multiplier;
};

}  // namespace hipops
