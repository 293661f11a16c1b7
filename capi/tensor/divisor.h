// Division: rounded up, and fast by numbers that do not change within a launch; and powers of 2.
#pragma once

#include <cstdint>

#include "device/core/divisor_contract.h"

namespace hipops {

// The smallest s with 1 << s >= n.
int log2_up(int64_t n);
// n / by, rounded up.
inline int64_t divided_up(int64_t n, int64_t by) { return (n + by - 1) / by; }

// For a size >= 1.
Divisor divisor_of(int64_t size);
WideDivisor wide_divisor_of(int64_t size);

}  // namespace hipops
