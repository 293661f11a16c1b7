// Fast division by numbers that do not change within a launch, and powers of 2.
#pragma once

#include <cstdint>

#include "device/core/divisor_contract.h"

namespace hipops {

// The smallest s with 1 << s >= n.
int log2_up(int64_t n);

// For a size >= 1.
Divisor divisor_of(int64_t size);
WideDivisor wide_divisor_of(int64_t size);

}  // namespace hipops
