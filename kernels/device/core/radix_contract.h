// The entries that radix.h sorts, and its limits, for kernels and launchers.
#pragma once

#include <stdint.h>

namespace hipops {

struct alignas(8) SortEntry {
  uint32_t key, value;
};

constexpr int kRadixBits = 10;  // of a digit, at most

}  // namespace hipops
