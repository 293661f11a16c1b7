// The functions that ops need beyond + - * /, within 1 ULP unless a comment names another bound, or a type of results.
#pragma once

#include "device/core/types.h"

namespace hipops {
namespace {

HIPOPS_FN float fused_multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HIPOPS_FN double fused_multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
HIPOPS_FN float exponential(float v) { return expf(v); }
HIPOPS_FN double exponential(double v) { return exp(v); }
HIPOPS_FN float logarithm(float v) { return logf(v); }
HIPOPS_FN double logarithm(double v) { return log(v); }

// 1 / sqrt(v), within a few ULP.
HIPOPS_FN float inverse_square_root_estimate(float v) {
#if defined(HIPOPS_AMD)
  bool small = v < 0x1p-100f;  // the instruction treats denormal numbers as 0
  return __builtin_amdgcn_rsqf(small ? v * 0x1p100f : v) * (small ? 0x1p50f : 1.0f);
#elif defined(HIPOPS_NVIDIA)
  return rsqrtf(v);
#else
  return 1.0f / sqrtf(v);
#endif
}
HIPOPS_FN double inverse_square_root_estimate(double v) { return 1.0 / sqrt(v); }

// 1 / sqrt(v), within 1 ULP, by a Newton step. `missed` is 1 - v * r^2, computed with the digits that rounding loses.
template <class C>
HIPOPS_FN C inverse_square_root(C v) {
  C r = inverse_square_root_estimate(v);
  C t = v * r;
  C rest = fused_multiply_add(v, r, -t);
  C missed = fused_multiply_add(-rest, r, fused_multiply_add(-t, r, C(1)));
  return missed == missed ? fused_multiply_add(r * C(0.5), missed, r) : r;  // `missed` is NaN if v is 0 or infinite
}

// 1 / v, within 2 ULP, of a normal v with a normal inverse.
HIPOPS_FN float reciprocal_estimate(float v) {
#if defined(HIPOPS_AMD)
  return __builtin_amdgcn_rcpf(v);
#elif defined(HIPOPS_NVIDIA)
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(v));
  return inverse;
#else
  return 1.0f / v;
#endif
}

// a / b, within 1 ULP, of a normal b with a normal inverse.
HIPOPS_FN float quotient(float a, float b) {
  const float inverse = reciprocal_estimate(b), near = a * inverse;
  return fused_multiply_add(fused_multiply_add(-b, near, a), inverse, near);
}

// e^(x - m) for results that are rounded to f32 or f64. The difference is rounded, and an error of half an ULP in a
// difference of 20 is an error of 16 ULP in e^20. So the lost digits are computed (Knuth's two-sum) and applied.
template <class C>
HIPOPS_FN C exp_difference(C x, C m) {
  C d = x - m;
  C virtual_m = x - d;
  C lost = (x - (d + virtual_m)) + (virtual_m - m);
  C e = exponential(d);
  return fused_multiply_add(e, e > C(0) ? lost : C(0), e);  // if d is -inf, e is 0 and `lost` is NaN
}

// 2^v, within 2 ULP; under 2^-126 it may be 0.
HIPOPS_FN float exp2_fast(float v) {
#if defined(HIPOPS_NVIDIA)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(v));
  return power;
#elif defined(HIPOPS_AMD) && __has_builtin(__builtin_amdgcn_exp2f)
  return __builtin_amdgcn_exp2f(v);
#elif defined(HIPOPS_AMD)
  return __builtin_exp2f(v);  // older compilers use the same instruction, with some around it
#else
  return exp2f(v);
#endif
}

// e^(x - m) * 2^24, for x <= m and results that are rounded to 16 bits. x and m have few bits, so their difference is
// exact enough. The factor keeps intermediate values above the denormal range.
constexpr float kExpScale = 0x1p24f;
HIPOPS_FN float exp_difference_fast(float x, float m) {
  return exp2_fast(fused_multiply_add(x - m, 1.44269504f, 24.0f));
}

// e^(x - m) * 2^24 for x <= m, within 2 ULP, and exact for x = m, at half the cost of exp_difference(). x * log2(e) is
// n + f, with an integer n. The n and f of m are subtracted from the n and f of x, so no x - m is rounded.
template <class C> class ScaledExponential;

template <>
class ScaledExponential<float> {
 public:
  static constexpr float kScale = 0x1p24f;
  explicit HIPOPS_METHOD ScaledExponential(float m) {
    // For large x, x * log2(e) has lost its digits. But x - m is exact unless it is so low that the power is 0.
    constexpr float kLarge = 0x1p13f;
    reference_ = fabsf(m) < kLarge ? 0.0f : m;
    float n = fused_multiply_add(m - reference_, kLog2, kToInteger);
    lowest_ = n - 150.0f;
    fraction_ = 0.0f;
    fraction_ = fraction_of(m - reference_, n);
    exponent_ = ((127u + 24u) << 23) - (bit_cast<uint32_t>(n) << 23);
  }
  HIPOPS_METHOD float operator()(float x) const {
    float d = x - reference_;
    float n = fmaxf(fused_multiply_add(d, kLog2, kToInteger), lowest_);
    return exp2_fast(fraction_of(d, n)) * bit_cast<float>((bit_cast<uint32_t>(n) << 23) + exponent_);
  }

 private:
  static constexpr float kLog2 = 1.44269502e+00f, kLog2Rest = 1.92596303e-08f;  // log2(e) as two numbers
  static constexpr float kToInteger = 0x1.8p23f;  // a float plus this has its integer in its last bits

  // The fraction of d * log2(e), less the fraction of m.
  HIPOPS_METHOD float fraction_of(float d, float n) const {
    return fused_multiply_add(d, kLog2, kToInteger - n) + fused_multiply_add(d, kLog2Rest, -fraction_);
  }

  float reference_, lowest_, fraction_;
  uint32_t exponent_;
};

// e^(x - m) * 2^64 * 2^f(m), within 1 ULP. Only the n of m is subtracted: f(x) - f(m) may reach 1, too far for the
// polynomial of 2^f (degree 11, error up to 1.8e-17: Remez). 2^f(m) is between 0.7 and 1.5 and equal for all x, so it
// cancels in a quotient of results. The factor 2^64 keeps the digits of quotients below 2^-1022.
template <>
class ScaledExponential<double> {
 public:
  static constexpr double kScale = 0x1p64;  // times 2^f(m)
  explicit HIPOPS_METHOD ScaledExponential(double m) {
    constexpr double kLarge = 0x1p30;
    reference_ = fabs(m) < kLarge ? 0.0 : m;
    lowest_ = (m - reference_) - 800.0;
    exponent_ = 1023 + 64 - integer_of(fused_multiply_add(m - reference_, kLog2, kToInteger));
  }
  HIPOPS_METHOD double operator()(double x) const {
    double d = x - reference_;
    d = d < lowest_ ? lowest_ : d;  // a NaN stays NaN
    const double n = fused_multiply_add(d, kLog2, kToInteger);
    const double f = fused_multiply_add(d, kLog2Rest, fused_multiply_add(d, kLog2, kToInteger - n));
    double power = 0x1.c0638527edf34p-32;
    power = fused_multiply_add(power, f, 0x1.e605f979c7a5dp-28);
    power = fused_multiply_add(power, f, 0x1.b54167a0b9061p-24);
    power = fused_multiply_add(power, f, 0x1.62bfd49ed0adfp-20);
    power = fused_multiply_add(power, f, 0x1.ffcbee3b0af8cp-17);
    power = fused_multiply_add(power, f, 0x1.4309130961163p-13);
    power = fused_multiply_add(power, f, 0x1.5d87fe7bbbe07p-10);
    power = fused_multiply_add(power, f, 0x1.3b2ab6fba1e1cp-7);
    power = fused_multiply_add(power, f, 0x1.c6b08d7048f31p-5);
    power = fused_multiply_add(power, f, 0x1.ebfbdff82c598p-3);
    power = fused_multiply_add(power, f, 0x1.62e42fefa39f3p-1);
    power = fused_multiply_add(power, f, 1.0);
    const int exponent = integer_of(n) + exponent_;
    return power * bit_cast<double>(uint64_t(exponent > 0 ? exponent : 0) << 52);
  }

 private:
  static constexpr double kLog2 = 0x1.71547652b82fep+0, kLog2Rest = 0x1.777d0ffda0d24p-56;  // log2(e) as two numbers
  static constexpr double kToInteger = 0x1.8p52;

  static HIPOPS_METHOD int integer_of(double n) { return int(uint32_t(bit_cast<uint64_t>(n))); }

  double reference_, lowest_;
  int exponent_;
};

// A row is scaled if a sum exceeds kMostSum, or a mean of squares plus eps is below kLeastMean. Small numbers are
// computed times kLift: denormal numbers would lose digits. kDrop is 1 / kLift (rows/extreme_rows.h).
template <class C> struct FloatFormat;
template <> struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kLeastNormal = 0x1p-126f, kLeastMean = 0x1p-100f, kMostSum = 0x1p100f, kLift = 0x1p64f, kDrop = 0x1p-64f;
};
template <> struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kLeastNormal = 0x1p-1022, kLeastMean = 0x1p-900, kMostSum = 0x1p900, kLift = 0x1p512, kDrop = 0x1p-512;
};

}  // namespace
}  // namespace hipops
