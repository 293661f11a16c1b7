#include <cstdint>
#include <random>

#include "catch.h"
#include "device/core/divide.h"  // the functions that kernels use
#include "tensor/divisor.h"

using namespace hipops;

namespace {

// n, its neighbours, and the nearest multiples of size, within 0 to `most`.
bool divides(int64_t n, int64_t size, int64_t most) {
  const Divisor by = divisor_of(size);
  const WideDivisor wide = wide_divisor_of(size);
  for (const int64_t about : {n, n / size * size})
    for (int64_t step : {-1, 0, 1}) {
      if ((step < 0 && about == 0) || (step > 0 && about == most)) continue;
      const int64_t at = about + step;
      if (most == INT64_MAX ? divide(at, size, wide) != at / size
                            : divide(static_cast<uint32_t>(at), by) != static_cast<uint32_t>(at / size))
        return false;
    }
  return true;
}

}  // namespace

TEST_CASE("a division by multiplication and shift is exact, below 2^31 and below 2^63", "[divisor]") {
  std::mt19937_64 random(1);
  for (const int64_t most : {int64_t{INT32_MAX}, INT64_MAX}) {
    const int bits = most == INT32_MAX ? 31 : 63;
    for (int i = 0; i < 200000; ++i) {
      // Numbers of all magnitudes, and powers of two and their neighbours.
      const auto some = [&] {
        const auto value = static_cast<int64_t>(random() >> 1) & most;
        return value >> random() % bits;
      };
      const auto power = [&] { return int64_t{1} << random() % bits; };
      const int64_t size = i % 4 == 0 ? power() + static_cast<int64_t>(random() % 3) - 1 : some();
      const int64_t n = i % 3 == 0 ? most : i % 3 == 1 ? some() : power();
      if (size < 1 || divides(n, size, most)) continue;
      FAIL(n << " / " << size);
    }
    for (int64_t size : {int64_t{1}, int64_t{2}, int64_t{3}, most / 2, most - 1, most})
      for (int64_t n : {int64_t{0}, size, most}) CHECK(divides(n, size, most));
  }
}
