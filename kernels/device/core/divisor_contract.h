// Division by numbers that are constant in a launch. The launcher computes a multiplier and a shift
// (capi/tensor/divisor.h), and kernels multiply and shift (divide.h).
#pragma once

#include <stdint.h>

namespace hipops {

// n / size = (high half of n * multiplier, plus n) >> shift, for n and size below 2^31.
struct Divisor {
  uint32_t multiplier, shift;
};

// The same below 2^63. Few launches need it, so in most argument structs it is apart from hot arguments.
struct WideDivisor {
  uint64_t multiplier, shift;
};

}  // namespace hipops
