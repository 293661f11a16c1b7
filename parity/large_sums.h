// Terms with exact sums, for the large cases of ops that add.
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

// Sums of the pattern's elements `step` apart, which are small whole numbers. All sums are exact in f32, and so are the
// sums of parts.
class PatternSums {
 public:
  PatternSums(const Pattern& pattern, int64_t step) : sums_(1, 0) {
    for (int64_t i = 0, place = 0; i < pattern.period(); ++i, place = (place + step) % pattern.period()) {
      at_.resize(static_cast<size_t>(pattern.period()));
      at_[static_cast<size_t>(place)] = i;
      sums_.push_back(sums_.back() + decode(pattern.dtype(), pattern(place)));
    }
  }
  double of(int64_t place, int64_t count) const {
    const int64_t period = static_cast<int64_t>(at_.size()), first = at_[static_cast<size_t>(place % period)];
    const int64_t rounds = count / period, end = first + count % period;
    const auto before = [&](int64_t i) { return sums_[static_cast<size_t>(i)]; };
    const double rest = end <= period ? before(end) : before(period) + before(end - period);
    return static_cast<double>(rounds) * before(period) + rest - before(first);
  }

 private:
  std::vector<double> sums_;
  std::vector<int64_t> at_;
};

}  // namespace hipops::parity::large
