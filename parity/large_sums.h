// Terms with exact sums, for the large cases of ops that add in any order.
#pragma once

#include "parity/large.h"

namespace hipops::parity::large {

// Multiples of 1/2 from -4 to 4, or integers below 200. A sum of some twenty of them is exact in bf16.
inline Pattern summands(hipops_dtype dtype, uint64_t seed, int64_t period = kPeriod) {
  return is_float(dtype) ? random_floats(dtype, seed, 4, 0.5, period) : random_integers(dtype, seed, 200, period);
}

inline float f32_of(uint64_t bits) {
  const uint32_t low = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof value);
  return value;
}

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The exact sum of two terms. f32 and bf16 have a fast path, because there are billions of sums.
inline uint64_t exact_sum(hipops_dtype dtype, uint64_t a, uint64_t b) {
  if (dtype == HIPOPS_F32) return bits_of(f32_of(a) + f32_of(b));
  if (dtype == HIPOPS_BF16) return bits_of(f32_of(a << 16) + f32_of(b << 16)) >> 16;
  if (is_float(dtype)) return encode(dtype, decode(dtype, a) + decode(dtype, b));
  return (a + b) & low_bits(dtype);
}

}  // namespace hipops::parity::large
