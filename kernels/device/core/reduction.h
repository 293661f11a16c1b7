// The operations of reductions, and the instructions that some GPUs have for them.
#pragma once

#include "device/core/types.h"

namespace hipops {
namespace {

// Whether f64 is nearly as fast as f32 on all GPUs that run this code. The code of sm_80 and sm_100 also runs on GPUs
// whose f64 is 32 or 64 times slower. The CPU follows CDNA with waves of 64.
#if defined(HIPOPS_CPU)
constexpr bool fast_f64 = HIPOPS_CPU_WAVE == 64;
#elif defined(HIPOPS_FROM_GFX90A)
constexpr bool fast_f64 = true;
#elif defined(__CUDA_ARCH__)
constexpr bool fast_f64 = __CUDA_ARCH__ == 900;
#else
constexpr bool fast_f64 = false;
#endif

struct Identity {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v; }
};

// Operations of reductions. A value combined with the identity stays the same.
struct Sum {
  template <class T> HIPOPS_METHOD T operator()(const T& a, const T& b) const { return a + b; }
  template <class T> static HIPOPS_METHOD T identity() { return T{}; }
};

// The same sum. A wave's lanes are added by f64 matrix units if the GPU has them.
struct SumByMatrix : Sum {};

// The larger number. A number wins over a NaN.
struct Maximum {
  HIPOPS_METHOD float operator()(float a, float b) const { return fmaxf(a, b); }
  HIPOPS_METHOD double operator()(double a, double b) const { return fmax(a, b); }
  template <class T> static HIPOPS_METHOD T identity() { return -T(INFINITY); }
};

// The smaller number. A number wins over a NaN.
struct Minimum {
  HIPOPS_METHOD float operator()(float a, float b) const { return fminf(a, b); }
  HIPOPS_METHOD double operator()(double a, double b) const { return fmin(a, b); }
};

// The larger integer. None is negative.
struct LargestInteger {
  HIPOPS_METHOD int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
  template <class T> static HIPOPS_METHOD T identity() { return 0; }
};

// The larger unsigned word.
struct LargestWord {
  HIPOPS_METHOD uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};

// Two counts, which are summed together.
struct WordPair {
  uint32_t first, second;
  friend HIPOPS_METHOD WordPair operator+(const WordPair& a, const WordPair& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

// The least and the greatest of unsigned words.
struct WordRange {
  uint32_t least, most;
};
struct WidestRange {
  HIPOPS_METHOD WordRange operator()(const WordRange& a, const WordRange& b) const {
    return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
  }
  template <class T> static HIPOPS_METHOD T identity() { return {UINT32_MAX, 0}; }
};

// Reductions over a whole wave by special instructions, if kExists. of() reduces the values of all lanes. of_eight()
// reduces the values of lanes 0 to 7; lanes n, n + 8, n + 16, .. must hold the same value. kInF64: the instruction is
// for f64, so each call converts a float to f64, and the result back.
template <class T, class Op>
struct WholeWave {
  static constexpr bool kExists = false, kInF64 = false;
};
#if defined(HIPOPS_NVIDIA)
// Sums of v over lanes 4n to 4n + 3, for n = 2 * (lane % 4) and for the next n: a matrix of 1s times a matrix of v.
struct SumsOfFour {
  double first, second;
};
HIPOPS_FN SumsOfFour sums_of_four(double v) {
  SumsOfFour sums;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
               : "=d"(sums.first), "=d"(sums.second)
               : "d"(1.0), "d"(v), "d"(0.0));
  return sums;
}

template <>
struct WholeWave<double, SumByMatrix> {
  static constexpr bool kExists = fast_f64, kInF64 = false;
  static HIPOPS_METHOD double of_eight(double v) {
    const SumsOfFour sums = sums_of_four(v);
    return sums.first + sums.second;
  }
  static HIPOPS_METHOD double of(double v) { return sums_of_four(of_eight(v)).first; }
};
template <>
struct WholeWave<float, SumByMatrix> {
  using InF64 = WholeWave<double, SumByMatrix>;
  static constexpr bool kExists = fast_f64, kInF64 = kExists;
  static HIPOPS_METHOD float of_eight(float v) { return float(InF64::of_eight(double(v))); }
  static HIPOPS_METHOD float of(float v) { return float(InF64::of(double(v))); }
};

// Orders floats as integers: nonnegative floats keep their bits, negative floats invert all bits except the sign. A NaN
// becomes the smallest integer, below -inf. If there are only NaNs, the result converts back to NaN.
template <>
struct WholeWave<float, Maximum> {
  static constexpr bool kExists = true, kInF64 = false;
  static HIPOPS_METHOD int32_t ordered(int32_t bits) { return bits ^ (bits >> 31 & INT32_MAX); }
  static HIPOPS_METHOD float of(float v) {
    const int32_t own = v == v ? ordered(bit_cast<int32_t>(v)) : INT32_MIN;
    return bit_cast<float>(ordered(__reduce_max_sync(0xffffffffu, own)));
  }
  static HIPOPS_METHOD float of_eight(float v) { return of(v); }
};
template <>
struct WholeWave<int32_t, LargestInteger> {
  static constexpr bool kExists = true, kInF64 = false;
  static HIPOPS_METHOD int32_t of(int32_t v) { return __reduce_max_sync(0xffffffffu, v); }
  static HIPOPS_METHOD int32_t of_eight(int32_t v) { return of(v); }
};
template <>
struct WholeWave<uint32_t, LargestWord> {
  static constexpr bool kExists = true, kInF64 = false;
  static HIPOPS_METHOD uint32_t of(uint32_t v) { return __reduce_max_sync(0xffffffffu, v); }
};
template <>
struct WholeWave<WordPair, Sum> {
  static constexpr bool kExists = true, kInF64 = false;
  static HIPOPS_METHOD WordPair of(WordPair v) {
    return {__reduce_add_sync(0xffffffffu, v.first), __reduce_add_sync(0xffffffffu, v.second)};
  }
  static HIPOPS_METHOD WordPair of_eight(WordPair v) {  // four lanes hold each value
    const WordPair sum = of(v);
    return {sum.first / 4, sum.second / 4};
  }
};
template <>
struct WholeWave<WordRange, WidestRange> {
  static constexpr bool kExists = true, kInF64 = false;
  static HIPOPS_METHOD WordRange of(WordRange v) {
    return {__reduce_min_sync(0xffffffffu, v.least), __reduce_max_sync(0xffffffffu, v.most)};
  }
  static HIPOPS_METHOD WordRange of_eight(WordRange v) { return of(v); }
};
#endif

}  // namespace
}  // namespace hipops
