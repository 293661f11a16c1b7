// The entries that radix.h sorts, for kernels and launchers.
#pragma once

#include <stdint.h>

namespace hipops {

struct alignas(8) SortEntry {
  uint32_t key, value;
};

}  // namespace hipops
