#include "tensor/divisor.h"

namespace hipops {

// Granlund and Montgomery, Division by Invariant Integers using Multiplication (1994). Numbers have 31 and 63 bits, so
// the sum that the kernel shifts does not overflow.
namespace {

__extension__ using Product = unsigned __int128;

uint64_t multiplier_of(int64_t size, uint32_t shift, int bits) {
  const auto by = static_cast<uint64_t>(size);
  return static_cast<uint64_t>((static_cast<Product>((uint64_t{1} << shift) - by) << bits) / by + 1);
}

}  // namespace

int log2_up(int64_t n) { return n > 1 ? 64 - __builtin_clzll(static_cast<uint64_t>(n) - 1) : 0; }

Divisor divisor_of(int64_t size) {
  const auto shift = static_cast<uint32_t>(log2_up(size));
  return {static_cast<uint32_t>(multiplier_of(size, shift, 32)), shift};
}

WideDivisor wide_divisor_of(int64_t size) {
  const auto shift = static_cast<uint32_t>(log2_up(size));
  return {multiplier_of(size, shift, 64), shift};
}

}  // namespace hipops
