// Element types, with the names that kernel lists use, and their conversions. 16-bit floats are stored as bits,
// computed in f32, and rounded once, to nearest even.
#pragma once

#include "device/core/compiler.h"

#if defined(HIPOPS_NVIDIA)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace hipops {
namespace {

template <bool, class A, class> struct Choose { using type = A; };
template <class A, class B> struct Choose<false, A, B> { using type = B; };

using f32 = float;
using f64 = double;
using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;
struct f16 { uint16_t bits; };
struct bf16 { uint16_t bits; };

// Elements that are moved without computation, as bits. b128 is a native vector: clang keeps arrays of native vectors
// in registers, and arrays of structs in memory.
using b8 = uint8_t;
using b16 = uint16_t;
using b32 = uint32_t;
using b64 = uint64_t;
#if defined(HIPOPS_NVIDIA)
using b128 = uint4;
#else
typedef uint32_t b128 __attribute__((vector_size(16)));
#endif

template <class T> constexpr bool is_f16 = false;
template <> [[maybe_unused]] constexpr bool is_f16<f16> = true;
template <class T> constexpr bool is_bf16 = false;
template <> [[maybe_unused]] constexpr bool is_bf16<bf16> = true;

// The type of an element's computation.
template <class T> struct compute_of { using type = float; };
template <> struct compute_of<f64> { using type = double; };
template <class T> using compute_t = typename compute_of<T>::type;

HIPOPS_FN float widen(f32 v) { return v; }
HIPOPS_FN double widen(f64 v) { return v; }
HIPOPS_FN float widen(bf16 v) { return bit_cast<float>(uint32_t(v.bits) << 16); }
#if defined(HIPOPS_NVIDIA)
HIPOPS_FN float widen(f16 v) { return __half2float(__ushort_as_half(v.bits)); }
#else
HIPOPS_FN float widen(f16 v) { return float(bit_cast<_Float16>(v.bits)); }
#endif

// narrow<T>(v) rounds v to the nearest element of T.
template <class T> struct Narrow;
template <> struct Narrow<f32> { static HIPOPS_METHOD f32 from(float v) { return v; } };
template <> struct Narrow<f64> { static HIPOPS_METHOD f64 from(double v) { return v; } };

template <> struct Narrow<f16> {
  static HIPOPS_METHOD f16 from(float v) {
#if defined(HIPOPS_NVIDIA)
    return {__half_as_ushort(__float2half_rn(v))};
#else
    forbid_fusing(v);
    return {bit_cast<uint16_t>(_Float16(v))};
#endif
  }
};

#if defined(HIPOPS_NVIDIA) || defined(__gfx950__) || defined(__gfx1250__)
#define HIPOPS_ROUNDS_TO_BF16 1
#else
#define HIPOPS_ROUNDS_TO_BF16 0
#endif

template <> struct Narrow<bf16> {
  static HIPOPS_METHOD bf16 from(float v) {
#if defined(HIPOPS_NVIDIA)
    return {__bfloat16_as_ushort(__float2bfloat16_rn(v))};
#elif HIPOPS_ROUNDS_TO_BF16
    forbid_fusing(v);
    return {bit_cast<uint16_t>(__bf16(v))};  // one instruction
#else
    // Adds just under half of the last kept bit, or exactly half if that bit is odd. NaN: see with_plain_nan().
    uint32_t bits = bit_cast<uint32_t>(v);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return {uint16_t(rounded >> 16)};
#endif
  }
};

template <class T>
HIPOPS_FN T narrow(compute_t<T> v) { return Narrow<T>::from(v); }

// Replaces NaNs: narrow<bf16> would turn a NaN with bits in its lower half into an infinity or a zero. f32 numbers from
// memory may be such NaNs; 16-bit operands and results of arithmetic are not.
template <class T, class C>
HIPOPS_FN C with_plain_nan(C v) {
  if constexpr (is_bf16<T> && !HIPOPS_ROUNDS_TO_BF16) return v == v ? v : C(NAN);
  return v;
}

}  // namespace
}  // namespace hipops
