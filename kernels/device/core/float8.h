// 8-bit floats, and quantisation: rounding to nearest even to an 8-bit type, with saturation.
#pragma once

#include "device/core/float8_contract.h"
#include "device/core/math.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

// Infinities and larger numbers become the largest number. NaN becomes f.nan.
HIPOPS_FN uint32_t narrow_to_float8(const Float8Format& f, float v) {
  const uint32_t bits = bit_cast<uint32_t>(v), all = bits & 0x7fffffff;
  const uint32_t magnitude = all < f.largest ? all : f.largest, binade_of_v = magnitude & 0x7f800000;
  const uint32_t binade = binade_of_v > f.least ? binade_of_v : f.least;
  // A sum with 2^dropped times the binade has no digits below the last digit of the result.
  const uint32_t grid = binade + (uint32_t(f.dropped) << 23);
  const uint32_t rounded = bit_cast<uint32_t>(bit_cast<float>(magnitude) + bit_cast<float>(grid));
  const uint32_t code = rounded - grid + ((binade - f.least) >> f.dropped);
  const uint32_t has_sign = (code + 0x7f) | f.negative_zero;  // bit 7: not 0, or -0 exists
  return all > 0x7f800000 ? f.nan : code | (bits >> 24 & has_sign & 0x80);
}

HIPOPS_FN float widen_float8(const Float8Format& f, uint32_t code) {
  const uint32_t magnitude = (code & 0x7f) << f.dropped, sign = (code & 0x80) << 24;
  const float lift = bit_cast<float>(f.least + (126u << 23));  // the distance of the exponents' biases
  const float v = bit_cast<float>(magnitude) * lift;
  const bool is_finite = v <= bit_cast<float>(f.largest) && (f.negative_zero != 0 || code != f.nan);
  // Past the largest number E5M2 has infinity first. The other formats have NaN only.
  const bool is_infinite = v == 0x1p16f && f.negative_zero != 0 && f.dropped == 21;
  return bit_cast<float>(bit_cast<uint32_t>(is_finite ? v : is_infinite ? INFINITY : NAN) | sign);
}

// NaN becomes 0.
HIPOPS_FN uint32_t narrow_to_i8(float v) {
  const float clamped = v < -128.0f ? -128.0f : v > 127.0f ? 127.0f : v == v ? v : 0.0f;
  return bit_cast<uint32_t>(clamped + 0x1.8p23f) & 0xff;
}

// Whether the target has an instruction for the type, and two results of that instruction. v is no NaN on AMD.
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 890
constexpr bool converts_nan_to_float8 = true;
constexpr EightBits kInstructionE4M3 = EightBits::e4m3fn, kInstructionE5M2 = EightBits::e5m2;
HIPOPS_FN bool has_float8_instruction(EightBits to) { return to == kInstructionE4M3 || to == kInstructionE5M2; }
HIPOPS_FN uint32_t narrow_two_to_float8(EightBits to, const Float8Format&, float low, float high) {
  uint16_t codes;
  if (to == kInstructionE4M3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return codes;
}
#elif defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
constexpr bool converts_nan_to_float8 = false;
#if defined(__gfx942__)
constexpr EightBits kInstructionE4M3 = EightBits::e4m3fnuz, kInstructionE5M2 = EightBits::e5m2fnuz;
#else
constexpr EightBits kInstructionE4M3 = EightBits::e4m3fn, kInstructionE5M2 = EightBits::e5m2;
#endif
HIPOPS_FN bool has_float8_instruction(EightBits to) { return to == kInstructionE4M3 || to == kInstructionE5M2; }
HIPOPS_FN uint32_t narrow_two_to_float8(EightBits to, const Float8Format& f, float low, float high) {
  const float largest = bit_cast<float>(f.largest);  // the instruction does not saturate
  low = __builtin_amdgcn_fmed3f(low, -largest, largest), high = __builtin_amdgcn_fmed3f(high, -largest, largest);
  const int codes = to == kInstructionE4M3 ? __builtin_amdgcn_cvt_pk_fp8_f32(low, high, 0, false)
                                           : __builtin_amdgcn_cvt_pk_bf8_f32(low, high, 0, false);
  return uint32_t(codes) & 0xffff;
}
#else
constexpr bool converts_nan_to_float8 = false;
constexpr EightBits kInstructionE4M3 = EightBits::e4m3fn, kInstructionE5M2 = EightBits::e5m2;
HIPOPS_FN bool has_float8_instruction(EightBits) { return false; }
HIPOPS_FN uint32_t narrow_two_to_float8(EightBits, const Float8Format&, float, float) { return 0; }
#endif

// The codes of n numbers, a byte each. `to` is uniform.
template <int n>
HIPOPS_FN Packed<uint8_t, n> narrow_to_eight_bits(EightBits to, const Float8Format& f, const float (&v)[n]) {
  struct Words { uint32_t word[(n + 3) / 4]; } words{};
  const auto fill = [&](auto code) {
#pragma unroll
    for (int i = 0; i < n; ++i) words.word[i / 4] |= code(v[i]) << i % 4 * 8;
  };
  const auto fill_by_instruction = [&](EightBits type) {
#pragma unroll
    for (int i = 0; i + 1 < n; i += 2) words.word[i / 4] |= narrow_two_to_float8(type, f, v[i], v[i + 1]) << i % 4 * 8;
  };
  bool by_instruction = n % 2 == 0 && has_float8_instruction(to);
  if constexpr (!converts_nan_to_float8) {
#pragma unroll
    for (int i = 0; i + 1 < n; i += 2) by_instruction &= !__builtin_isunordered(v[i], v[i + 1]);
  }
  if (to == EightBits::i8) fill([](float one) { return narrow_to_i8(one); });
  else if (by_instruction && to == kInstructionE4M3) fill_by_instruction(kInstructionE4M3);
  else if (by_instruction) fill_by_instruction(kInstructionE5M2);
  else fill([&](float one) { return narrow_to_float8(f, one); });
  return bit_cast<Packed<uint8_t, n>>(words);
}

// x / scale, with the same 8-bit codes as the quotient that is rounded to f32. The inverse has twice the digits of f32.
// So a result differs only for a quotient that is closer than 2^-43, in proportion, to a midpoint of two numbers of f32.
// The codes differ only if one of the two is a midpoint of two codes, which has up to 8 digits. In that case the last 17
// bits of the scale's mantissa are nearly 0, and are not 0. These scales divide.
class Quotient {
 public:
  Quotient() = default;
  explicit HIPOPS_METHOD Quotient(float scale) : scale_(scale), inverse_(1.0f / scale) {
    // An inverse that is too small has a rest of its own sign. So no sum of two infinities is NaN.
    inverse_ = bit_cast<float>(bit_cast<uint32_t>(inverse_) - 1);
    rest_ = fused_multiply_add(-inverse_, scale, 1.0f) * inverse_;
    constexpr uint32_t kBits = 1 << 17, kMargin = 64;
    const uint32_t last = bit_cast<uint32_t>(scale) % kBits;
    const bool is_in_range = fabsf(scale) >= 0x1p-60f && fabsf(scale) <= 0x1p100f;  // the inverse and its rest are normal
    if (!is_in_range || (last != 0 && last - kMargin > kBits - 2 * kMargin)) rest_ = 0;
  }
  HIPOPS_METHOD float scale() const { return scale_; }
  HIPOPS_METHOD void change_scale(float scale) {
    if (bit_cast<uint32_t>(scale) != bit_cast<uint32_t>(scale_)) *this = Quotient(scale);
  }

  HIPOPS_METHOD bool has_inverse() const { return rest_ != 0; }
  template <int n>
  HIPOPS_METHOD void multiply(float (&x)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) x[i] = fused_multiply_add(x[i], inverse_, x[i] * rest_);
  }
  template <int n>
  HIPOPS_METHOD void apply(float (&x)[n]) const {
    if (has_inverse()) return multiply(x);
#pragma unroll 1
    for (int i = 0; i < n; ++i) {  // rotates x, so that the code has one division and few registers
      const float first = x[0] / scale_;
#pragma unroll
      for (int k = 0; k + 1 < n; ++k) x[k] = x[k + 1];
      x[n - 1] = first;
    }
  }

 private:
  float scale_, inverse_, rest_;  // without an inverse, the rest is 0
};

}  // namespace
}  // namespace hipops
