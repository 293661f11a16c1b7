// Division by what does not change within a launch, and powers of 2.
#pragma once

#include <cstdint>

#include "device/core/divisor_contract.h"

namespace hipops {

// The least s for which 1 << s is n or more.
int log2_up(int64_t n);

// For a size of 1 or more.
Divisor divisor_of(int64_t size);
WideDivisor wide_divisor_of(int64_t size);

}  // namespace hipops
