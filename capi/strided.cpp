#include "strided.h"

#include <algorithm>

#include "runtime/runtime.h"

namespace hipops {

// Granlund and Montgomery, Division by Invariant Integers using Multiplication (1994), for 31-bit numbers, where the
// sum that the kernel shifts does not overflow.
Divisor divisor_of(int64_t size) {
  uint32_t shift = 0;
  while ((int64_t{1} << shift) < size) ++shift;
  uint64_t multiplier =
      ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(size))) / static_cast<uint64_t>(size) + 1;
  return {static_cast<uint32_t>(multiplier), shift};
}

uint32_t grid_for(int64_t count, uint32_t block) {
  const int64_t most = (int64_t{1} << 32) / block - 1;
  return static_cast<uint32_t>(within_grid_limit(std::min((count + block - 1) / block, most)));
}

}  // namespace hipops
