#include "divisor.h"

namespace hipops {

// Granlund and Montgomery, Division by Invariant Integers using Multiplication (1994), for numbers of 31 and of 63 bits,
// where the sum that the kernel shifts does not overflow.
__extension__ using Number = unsigned __int128;

Divisor divisor_of(int64_t size) {
  const auto by = static_cast<uint64_t>(size);
  const uint32_t shift = size > 1 ? 64 - static_cast<uint32_t>(__builtin_clzll(by - 1)) : 0;
  const Number beyond = (uint64_t{1} << shift) - by;
  return {static_cast<uint32_t>((beyond << 32) / by + 1), shift, static_cast<uint64_t>((beyond << 64) / by + 1)};
}

}  // namespace hipops
