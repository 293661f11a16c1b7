// Conversions of device/core/float8.h, against tables of the formats' values.
#include "catch.h"
#include "device/core/float8.h"
#include "parity/ops/quantised.h"
#include "parity/random_values.h"

using namespace hipops;
using parity::kQuantised;

namespace {

EightBits kind_of(hipops_dtype dtype) {
  return dtype == HIPOPS_I8 ? EightBits::i8 : static_cast<EightBits>(dtype - HIPOPS_F8_E4M3FN + 1);
}

uint64_t narrowed(hipops_dtype dtype, float v) {
  const EightBits to = kind_of(dtype);
  const float one[1] = {v};
  return narrow_to_eight_bits(to, kFloat8Formats[static_cast<int>(to)], one)[0];
}

// The first number that is rounded wrongly, or 0 if there is none.
class Checked {
 public:
  void check(float v) {
    for (const hipops_dtype dtype : kQuantised) {
      ++count_;
      if (narrowed(dtype, v) == parity::quantised_bits(dtype, v) || !wrong_.empty()) continue;
      wrong_ = parity::show_double(v) + " to " + parity::dtype_name(dtype) + ": " + std::to_string(narrowed(dtype, v)) +
               ", expected " + std::to_string(parity::quantised_bits(dtype, v));
    }
  }
  void check_around(float v) {
    for (const float next : {-INFINITY, INFINITY}) check(std::nextafter(v, next)), check(std::nextafter(-v, next));
    check(v), check(-v);
  }
  const std::string& wrong() const { return wrong_; }
  int64_t count() const { return count_; }

 private:
  std::string wrong_;
  int64_t count_ = 0;
};

}  // namespace

TEST_CASE("every f16 and bf16, and random f32 numbers, are rounded to 8 bits as the tables say", "[float8]") {
  Checked checked;
  for (uint64_t bits = 0; bits <= 0xffff; ++bits)
    for (const hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16})
      checked.check(static_cast<float>(parity::decode(dtype, bits)));
  for (uint64_t i = 0; i < 1000000; ++i) {
    const auto random = static_cast<uint32_t>(parity::mixed_bits(i));
    checked.check(bit_cast<float>(random));
    checked.check(bit_cast<float>((random & 0x87ffffff) | 0x38000000u));  // in the range of E4M3
  }
  CHECK(checked.wrong() == "");
  CHECK(checked.count() == 5 * (2 * 65536 + 2000000));
}

TEST_CASE("values of 8 bits, points between them, and the ends of the ranges are rounded as the tables say", "[float8]") {
  Checked checked;
  for (const hipops_dtype dtype : kQuantised)
    for (uint64_t code = 0; code < 0x80; ++code) {
      const auto value = [&](uint64_t c) {
        return static_cast<float>(dtype == HIPOPS_I8 ? parity::decode(dtype, c) : parity::float8_value(dtype, c));
      };
      checked.check_around(value(code));
      if (code < 0x7f) checked.check_around((value(code) + value(code + 1)) / 2);
    }
  for (const float v : {0.0f, INFINITY, NAN, 1e-45f, 3.4e38f, 464.0f, 480.0f, 248.0f, 61440.0f, 65536.0f, 127.5f, 128.5f})
    checked.check_around(v);
  CHECK(checked.wrong() == "");
}

TEST_CASE("every code of 8 bits is widened to its value, and back to itself", "[float8]") {
  for (const hipops_dtype dtype : kQuantised) {
    if (dtype == HIPOPS_I8) continue;
    for (uint32_t code = 0; code < 256; ++code) {
      const double expected = parity::float8_value(dtype, code);
      const float wide = widen_float8(kFloat8Formats[static_cast<int>(kind_of(dtype))], code);
      INFO(parity::dtype_name(dtype) << " " << code);
      CHECK((std::isnan(expected) ? std::isnan(wide) : wide == expected && std::signbit(wide) == std::signbit(expected)));
      if (std::isfinite(expected)) CHECK(narrowed(dtype, wide) == code);
    }
  }
}

TEST_CASE("a quotient has the codes of a division that is rounded to f32", "[float8]") {
  int64_t wrong = 0;
  float x = 0, scale = 1;
  const auto check = [&](float numerator, float divisor) {
    float got[1] = {numerator};
    Quotient(divisor).apply(got);
    const float exact = numerator / divisor;
    bool is_right = true;
    for (const hipops_dtype dtype : kQuantised) is_right = is_right && narrowed(dtype, got[0]) == narrowed(dtype, exact);
    if (!is_right && wrong++ == 0) x = numerator, scale = divisor;
  };
  for (uint64_t i = 0; i < 4000000; ++i) {
    const uint64_t random = parity::mixed_bits(i), shape = parity::mixed_bits(~i);
    auto bits = static_cast<uint32_t>(random);
    // The last 17 bits are nearly 0. These quotients are closest to points between two numbers of f32.
    if (i % 4 != 0) bits = (bits & 0xfffe0000u) + static_cast<uint32_t>(shape >> 48) % 300 - 150;
    const float divisor = bit_cast<float>(bits);
    check(bit_cast<float>(static_cast<uint32_t>(random >> 32)), divisor);
    const float close = divisor * bit_cast<float>(static_cast<uint32_t>((shape & 0x3ffffff) | 0x3c000000));  // a usual quotient
    check(close, divisor);
    const float code = static_cast<float>(static_cast<int>(shape >> 40 & 0xff)) / 16;  // near a point between two codes
    for (const float next : {-INFINITY, INFINITY}) check(std::nextafter(divisor * code, next), divisor);
    check(divisor * code, divisor);
  }
  for (const float numerator : {0.0f, -0.0f, 1.0f, INFINITY, NAN, 1e-45f, 3.4e38f})
    for (const float divisor : {0.0f, -0.0f, 1.0f, -1.0f, 1.1f, -1.1f, INFINITY, NAN, 1e-45f, 3.4e38f, 0x1p-60f, 0x1p100f})
      for (const float sign : {1.0f, -1.0f}) check(sign * numerator, divisor);
  INFO(parity::show_double(x) << " / " << parity::show_double(scale));
  CHECK(wrong == 0);
}
