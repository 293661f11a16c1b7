// Division by numbers that are constant in a launch (divisor_contract.h).
#pragma once

#include "device/core/divisor_contract.h"
#include "device/core/platform.h"

namespace hipops {
namespace {

HIPOPS_FN uint32_t high_half(uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) * b) >> 32); }

HIPOPS_FN uint64_t high_half(uint64_t a, uint64_t b) {
  const uint32_t a_low = uint32_t(a), b_low = uint32_t(b);
  const uint64_t a_high = a >> 32, b_high = b >> 32;
  const uint64_t cross = a_high * b_low + high_half(a_low, b_low);
  const uint64_t other = a_low * b_high + uint32_t(cross);
  return a_high * b_high + (cross >> 32) + (other >> 32);
}

HIPOPS_FN uint32_t divide(uint32_t n, Divisor d) { return (high_half(n, d.multiplier) + n) >> d.shift; }

// NVIDIA divides by a call, out of the way of hot code. Products instead of it made transposes up to 16 % slower,
// because nvcc scheduled them differently. On AMD a division is about a hundred instructions.
HIPOPS_FN int64_t divide(int64_t n, [[maybe_unused]] int64_t size, [[maybe_unused]] const WideDivisor& d) {
  if constexpr (on_nvidia) return n / size;
  else return int64_t((high_half(uint64_t(n), d.multiplier) + uint64_t(n)) >> d.shift);
}

}  // namespace
}  // namespace hipops
