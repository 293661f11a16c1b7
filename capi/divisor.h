// Division by what does not change within a launch.
#pragma once

#include <cstdint>

#include "device/divisor_contract.h"

namespace hipops {

// For a size of 1 or more.
Divisor divisor_of(int64_t size);
WideDivisor wide_divisor_of(int64_t size);

}  // namespace hipops
