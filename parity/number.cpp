#include "parity/number.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>

namespace hipops::parity {
namespace {

struct Format {
  hipops_dtype dtype;
  const char* name;
  size_t bytes;
  bool floating;
  bool is_signed;
  int mantissa_bits;      // stored bits; floats only
  int least_exponent;     // of the normal range
  int greatest_exponent;  // of the largest value
  int digits;             // enough decimal digits to distinguish neighbours
};

constexpr Format kFormats[] = {
    {HIPOPS_F32, "f32", 4, true, true, 23, -126, 127, 9},  {HIPOPS_F16, "f16", 2, true, true, 10, -14, 15, 5},
    {HIPOPS_BF16, "bf16", 2, true, true, 7, -126, 127, 4}, {HIPOPS_F64, "f64", 8, true, true, 52, -1022, 1023, 17},
    {HIPOPS_U8, "u8", 1, false, false, 0, 0, 0, 0},        {HIPOPS_I8, "i8", 1, false, true, 0, 0, 0, 0},
    {HIPOPS_I16, "i16", 2, false, true, 0, 0, 0, 0},       {HIPOPS_U16, "u16", 2, false, false, 0, 0, 0, 0},
    {HIPOPS_I32, "i32", 4, false, true, 0, 0, 0, 0},       {HIPOPS_U32, "u32", 4, false, false, 0, 0, 0, 0},
    {HIPOPS_I64, "i64", 8, false, true, 0, 0, 0, 0},       {HIPOPS_U64, "u64", 8, false, false, 0, 0, 0, 0},
    // Compared by their bits: ops move them, or round to them exactly.
    {HIPOPS_F8_E4M3FN, "f8_e4m3fn", 1, false, false, 0, 0, 0, 0},
    {HIPOPS_F8_E4M3FNUZ, "f8_e4m3fnuz", 1, false, false, 0, 0, 0, 0},
    {HIPOPS_F8_E5M2, "f8_e5m2", 1, false, false, 0, 0, 0, 0},
    {HIPOPS_F8_E5M2FNUZ, "f8_e5m2fnuz", 1, false, false, 0, 0, 0, 0},
};

// read_golden refuses a dtype outside the table. It has no bytes and no values.
constexpr Format kNone = {HIPOPS_NONE, "none", 0, false, false, 0, 0, 0, 0};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (kFormats[i].dtype != HIPOPS_F32 + static_cast<int>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "found by their number");

const Format& format_of(hipops_dtype dtype) {
  const size_t place = static_cast<size_t>(dtype) - HIPOPS_F32;
  return place < std::size(kFormats) ? kFormats[place] : kNone;
}

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double double_of(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr int kDoubleMantissa = 52, kDoubleBias = 1023;

// 2^n, if that is a normal double. Every number needs it, and ldexp is slow.
double power_of_two(int n) { return double_of(static_cast<uint64_t>(n + kDoubleBias) << kDoubleMantissa); }

// nearbyint of a value from 0 to 2^51.
double nearest(double value) { return (value + 0x1p52) - 0x1p52; }

uint64_t low_bits(size_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; }

uint64_t sign_bit(const Format& format) { return uint64_t{1} << (8 * format.bytes - 1); }

uint64_t infinity_bits(const Format& format) {
  return static_cast<uint64_t>(format.greatest_exponent - format.least_exponent + 2) << format.mantissa_bits;
}

int binade(const Format& format, double magnitude) {
  if (!(magnitude > 0)) return format.least_exponent;
  if (std::isinf(magnitude)) return format.greatest_exponent;
  const int exponent = static_cast<int>(bits_of(magnitude) >> kDoubleMantissa) - kDoubleBias;  // the least if denormal
  return std::clamp(exponent, format.least_exponent, format.greatest_exponent);
}

uint64_t encode_float(const Format& format, double value) {
  const uint64_t sign = std::signbit(value) ? sign_bit(format) : 0;
  if (std::isnan(value)) return sign | infinity_bits(format) | (uint64_t{1} << (format.mantissa_bits - 1));
  if (format.mantissa_bits == kDoubleMantissa) return bits_of(value);
  const double magnitude = std::fabs(value);
  const double beyond = power_of_two(format.greatest_exponent);  // twice this is past every finite value
  if (std::isinf(value) || magnitude / 2 >= beyond) return sign | infinity_bits(format);
  // The value is an exact double in units of the binade's ULP. Rounded to nearest even, it is added to the binade's
  // first bit pattern. A carry increments the exponent, up to infinity.
  const int exponent = binade(format, magnitude);
  const double units = nearest(magnitude * power_of_two(format.mantissa_bits - exponent));
  const uint64_t base = static_cast<uint64_t>(exponent - format.least_exponent) << format.mantissa_bits;
  return sign | (base + static_cast<uint64_t>(units));
}

double decode_float(const Format& format, uint64_t bits) {
  const uint64_t magnitude = bits & (sign_bit(format) - 1);
  const double sign = (bits & sign_bit(format)) != 0 ? -1.0 : 1.0;
  const uint64_t infinity = infinity_bits(format);
  if (magnitude > infinity) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (magnitude == infinity) return sign * std::numeric_limits<double>::infinity();
  if (format.mantissa_bits == kDoubleMantissa) return double_of(bits);
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint64_t one = uint64_t{1} << format.mantissa_bits;
  const uint64_t mantissa = (magnitude & (one - 1)) + (field != 0 ? one : 0);
  const int exponent = format.least_exponent + std::max(field - 1, 0) - format.mantissa_bits;
  return sign * (static_cast<double>(mantissa) * power_of_two(exponent));
}

int64_t sign_extend(const Format& format, uint64_t bits) {
  bits &= low_bits(format.bytes);
  if ((bits & sign_bit(format)) != 0) bits |= ~low_bits(format.bytes);
  int64_t value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint64_t greatest_integer(const Format& format) { return low_bits(format.bytes) >> (format.is_signed ? 1 : 0); }

uint64_t encode_integer(const Format& format, double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  // 2^(bits) or 2^(bits - 1): unlike the greatest 64-bit integers, powers of two are exact doubles.
  const double limit = std::ldexp(1.0, static_cast<int>(8 * format.bytes) - (format.is_signed ? 1 : 0));
  if (rounded >= limit) return greatest_integer(format);
  if (!format.is_signed) return rounded <= 0 ? 0 : static_cast<uint64_t>(rounded);
  if (rounded < -limit) return sign_bit(format);
  return static_cast<uint64_t>(static_cast<int64_t>(rounded)) & low_bits(format.bytes);
}

std::string print(const char* pattern, int digits, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, digits, value);
  return text;
}

}  // namespace

const char* dtype_name(hipops_dtype dtype) { return format_of(dtype).name; }

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.push_back(format.name);
  return names;
}

bool parse_dtype(const std::string& name, hipops_dtype* dtype) {
  for (const Format& format : kFormats) {
    if (name != format.name) continue;
    *dtype = format.dtype;
    return true;
  }
  return false;
}

size_t dtype_size(hipops_dtype dtype) { return format_of(dtype).bytes; }

uint64_t low_bits(hipops_dtype dtype) { return low_bits(format_of(dtype).bytes); }

bool is_float(hipops_dtype dtype) { return format_of(dtype).floating; }

uint64_t encode(hipops_dtype dtype, double value) {
  const Format& format = format_of(dtype);
  if (format.bytes == 0) return 0;
  return format.floating ? encode_float(format, value) : encode_integer(format, value);
}

bool encode_integer_exactly(hipops_dtype dtype, uint64_t value, uint64_t* bits) {
  *bits = value;
  const Format& format = format_of(dtype);
  return format.bytes != 0 && value <= greatest_integer(format);
}

bool encode_integer_exactly(hipops_dtype dtype, int64_t value, uint64_t* bits) {
  if (value >= 0) return encode_integer_exactly(dtype, static_cast<uint64_t>(value), bits);
  const Format& format = format_of(dtype);
  *bits = static_cast<uint64_t>(value) & low_bits(format.bytes);
  return format.is_signed && static_cast<uint64_t>(-(value + 1)) <= greatest_integer(format);
}

double decode(hipops_dtype dtype, uint64_t bits) {
  const Format& format = format_of(dtype);
  if (format.bytes == 0) return 0;
  if (format.floating) return decode_float(format, bits);
  if (format.is_signed) return static_cast<double>(sign_extend(format, bits));
  return static_cast<double>(bits & low_bits(format.bytes));
}

// Both rely on a little-endian host; every supported GPU and host is.
uint64_t load_bits(hipops_dtype dtype, const unsigned char* address) {
  uint64_t bits = 0;
  std::memcpy(&bits, address, dtype_size(dtype));
  return bits;
}

void store_bits(hipops_dtype dtype, unsigned char* address, uint64_t bits) {
  std::memcpy(address, &bits, dtype_size(dtype));
}

double largest(hipops_dtype dtype) {
  const Format& format = format_of(dtype);
  if (format.bytes == 0) return 0;
  return decode(dtype, format.floating ? infinity_bits(format) - 1 : greatest_integer(format));
}

double lowest(hipops_dtype dtype) {
  const Format& format = format_of(dtype);
  if (format.floating) return -largest(dtype);
  return format.is_signed ? decode(dtype, sign_bit(format)) : 0;
}

double ulp(hipops_dtype dtype, double value) {
  const Format& format = format_of(dtype);
  if (!format.floating) return 1;
  return std::ldexp(1.0, binade(format, std::fabs(value)) - format.mantissa_bits);
}

double error_in_ulps(hipops_dtype dtype, double expected, double scale, uint64_t got_bits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double got = decode(dtype, got_bits);
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : kInfinity;
  const double top = largest(dtype);
  // Written as an exact difference: the sum would round to `top`, or to infinity for f64.
  if (std::fabs(expected) - top >= ulp(dtype, top) / 2) expected = std::copysign(kInfinity, expected);
  if (std::isinf(expected) || std::isinf(got)) return expected == got ? 0 : kInfinity;
  const bool other_sign = got == 0 && std::signbit(got) != std::signbit(expected);
  if (other_sign && scale == 0 && std::fabs(expected) <= ulp(dtype, 0) / 2) return kInfinity;
  return std::fabs(got - expected) / ulp(dtype, std::max(std::fabs(expected), scale));
}

double integer_error(hipops_dtype dtype, uint64_t expected, uint64_t got) {
  const Format& format = format_of(dtype);
  uint64_t a = expected & low_bits(format.bytes);
  uint64_t b = got & low_bits(format.bytes);
  if (format.is_signed) {  // flipping the sign bit gives signed integers the order of unsigned integers
    a ^= sign_bit(format);
    b ^= sign_bit(format);
  }
  return static_cast<double>(a > b ? a - b : b - a);
}

std::string show_bits(hipops_dtype dtype, uint64_t bits) {
  const Format& format = format_of(dtype);
  std::string text;
  if (format.floating) {
    text = print("%.*g", format.digits, decode(dtype, bits));
  } else if (format.is_signed) {
    text = std::to_string(sign_extend(format, bits));
  } else {
    text = std::to_string(bits & low_bits(format.bytes));
  }
  char hex[32];
  std::snprintf(hex, sizeof hex, " (0x%0*" PRIx64 ")", static_cast<int>(2 * format.bytes),
                bits & low_bits(format.bytes));
  return text + hex;
}

std::string show_double(double value) { return print("%.*g", 17, value); }

}  // namespace hipops::parity
