// Loads and stores of neighbouring elements by one access.
#pragma once

#include "device/core/types.h"

namespace hipops {
namespace {

constexpr int kWideBytes = 16;  // the widest access that every target has

// N neighbouring elements with the alignment of the whole: a copy is one access (32 bytes: two).
template <class T, int N>
struct alignas(sizeof(T) * N > kWideBytes ? kWideBytes : sizeof(T) * N) Vector {
  T element[N];
};

template <int Bytes> struct BitsOf { using type = uint32_t; };
template <> struct BitsOf<1> { using type = uint8_t; };
template <> struct BitsOf<2> { using type = uint16_t; };

// The larger of each two 16-bit elements of two words, by one instruction if the GPU has one. A number wins over a NaN.
#if defined(HIPOPS_NVIDIA)
constexpr bool has_packed_maximum = true;
template <class T>
HIPOPS_FN uint32_t packed_maximum(uint32_t a, uint32_t b) {
  uint32_t larger;
  if constexpr (is_bf16<T>) asm("max.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  else asm("max.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}
#else
constexpr bool has_packed_maximum = bounds_set_registers;
template <class T>
HIPOPS_FN uint32_t packed_maximum(uint32_t a, uint32_t b) {
  const auto larger = [&](int bits) {
    const float of_a = widen(bit_cast<T>(uint16_t(a >> bits))), of_b = widen(bit_cast<T>(uint16_t(b >> bits)));
    return uint32_t(narrow<T>(fmaxf(of_a, of_b)).bits) << bits;
  };
  return larger(0) | larger(16);
}
#endif

// The same elements, kept as whole words. In a Vector, each 16-bit element may get its own register.
template <class T, int N>
class Packed {
 public:
  Packed() = default;
  HIPOPS_METHOD Packed(const Vector<T, N>& v) {
    if constexpr (sizeof(v) % 4 == 0) {
      __builtin_memcpy(word_, &v, sizeof v);
    } else {
      static_assert(N == 1, "whole words, or one element");
      word_[0] = bit_cast<Bits>(v.element[0]);
    }
  }

  HIPOPS_METHOD Packed(uint32_t a, uint32_t b, uint32_t c, uint32_t d) : word_{a, b, c, d} {}

  // All elements are v. They are made as words, because nvcc would keep halves in registers of their own.
  static HIPOPS_METHOD Packed filled(T v) {
    Packed all;
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) all.word_[i] = bit_cast<Bits>(v) * 0x10001u;
    } else {
      Vector<T, N> elements;
#pragma unroll
      for (int i = 0; i < N; ++i) elements.element[i] = v;
      all = elements;
    }
    return all;
  }

  // See compiler.h.
  HIPOPS_METHOD void recompute_derived() {
#pragma unroll
    for (int i = 0; i < kWords; ++i) hipops::recompute_derived(word_[i]);
  }
  HIPOPS_METHOD void recompute_derived_by(uint32_t zero) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) hipops::recompute_derived_by(zero, word_[i]);
  }
  HIPOPS_METHOD void wait_for_load_by(uint32_t zero) { recompute_derived_by(zero); }
  HIPOPS_METHOD void issue_before_use() {
#pragma unroll
    for (int i = 0; i < kWords; ++i) hipops::issue_before_use(word_[i]);
  }

  // With has_packed_maximum: the larger elements of two vectors, and the largest element of a vector.
  static HIPOPS_METHOD Packed larger(const Packed& a, const Packed& b) {
    Packed all;
#pragma unroll
    for (int i = 0; i < kWords; ++i) all.word_[i] = packed_maximum<T>(a.word_[i], b.word_[i]);
    return all;
  }
  HIPOPS_METHOD compute_t<T> largest() const {
    uint32_t two = word_[0];
#pragma unroll
    for (int i = 1; i < kWords; ++i) two = packed_maximum<T>(two, word_[i]);
    return fmaxf(widen(bit_cast<T>(Bits(two))), widen(bit_cast<T>(Bits(two >> 16))));
  }

  // widen() of element i, for an element that is widened a second time: no register keeps the first result.
  HIPOPS_METHOD compute_t<T> widen_again(int i) const {
#if defined(HIPOPS_NVIDIA)
    if constexpr (is_bf16<T>) return bit_cast<float>(widen_bf16_again(word_[i / 2], i % 2 != 0));
#endif
    return widen((*this)[i]);
  }

  HIPOPS_METHOD T operator[](int i) const {
    if constexpr (sizeof(T) < 4) {
      constexpr int kOfWord = 4 / sizeof(T), kBits = 8 * sizeof(T);
      return bit_cast<T>(Bits(word_[i / kOfWord] >> (i % kOfWord * kBits)));
    } else {
      T element;
      __builtin_memcpy(&element, word_ + i * int(sizeof(T) / 4), sizeof element);
      return element;
    }
  }

 private:
  using Bits = typename BitsOf<sizeof(T)>::type;  // of an element under 4 bytes

  static constexpr int kWords = (sizeof(T) * N + 3) / 4;
  uint32_t word_[kWords];
};

template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector(const T* at) { return *reinterpret_cast<const Vector<T, N>*>(at); }

// Loads words directly: through a Vector, clang loads one word twice on some targets.
template <int N, class T>
HIPOPS_FN Packed<T, N> load_packed(const T* at) {
#if !defined(HIPOPS_NVIDIA)
  if constexpr (sizeof(T) * N == kWideBytes) {
    b128 words = *reinterpret_cast<const b128*>(at);
    return Packed<T, N>(words[0], words[1], words[2], words[3]);
  }
#endif
  return load_vector<N>(at);
}

template <int N, class T>
HIPOPS_FN void store_vector(T* at, const Vector<T, N>& v) { *reinterpret_cast<Vector<T, N>*>(at) = v; }

// The same, always by one store, up to 16 bytes. nvcc splits structs, and does not always merge their stores.
template <int N, class T>
HIPOPS_FN void store_vector_as_one(T* at, const Vector<T, N>& v) {
#if defined(HIPOPS_NVIDIA)
  if constexpr (sizeof v == sizeof(b128)) {
    b128 whole = bit_cast<b128>(v);
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)), "r"(whole.x),
                 "r"(whole.y), "r"(whole.z), "r"(whole.w)
                 : "memory");
    return;
  } else if constexpr (sizeof v == sizeof(b64)) {
    asm volatile("st.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "l"(bit_cast<b64>(v)) : "memory");
    return;
  } else if constexpr (sizeof v == sizeof(b32)) {
    asm volatile("st.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(bit_cast<b32>(v)) : "memory");
    return;
  }
#endif
  store_vector<N>(at, v);
}

// Stores words directly. nvcc would split a vector of bytes, and join the bytes.
template <int N, class T>
HIPOPS_FN void store_vector(T* at, const Packed<T, N>& v) {
  constexpr int kWords = sizeof v / sizeof(uint32_t);
  store_vector_as_one<kWords>(reinterpret_cast<uint32_t*>(at), bit_cast<Vector<uint32_t, kWords>>(v));
}

// Issues the loads of several vectors before the first is used. A vector of whole-word elements is one operand of 16
// bytes: by words, gfx1100's compiler issues the loads of three of four vectors, and waits.
template <int N, class T, int Count>
HIPOPS_FN void issue_before_use([[maybe_unused]] Packed<T, N> (&v)[Count]) {
#if defined(HIPOPS_AMD)
#pragma unroll
  for (Packed<T, N>& one : v) {
    if constexpr (sizeof one == sizeof(b128) && sizeof(T) >= 4) {
      b128 words = bit_cast<b128>(one);
      issue_before_use(words);
      one = bit_cast<Packed<T, N>>(words);
    } else {
      one.issue_before_use();
    }
  }
#endif
}

// Vectors at any address. AMD's and the CPU's accesses may begin anywhere. NVIDIA moves unaligned vectors by elements.
template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector_anywhere(const T* at) {
  Vector<T, N> v;
#if defined(HIPOPS_NVIDIA)
  if (uintptr_t(at) % alignof(Vector<T, N>) == 0) return load_vector<N>(at);
#pragma unroll
  for (int i = 0; i < N; ++i) v.element[i] = at[i];
#else
  __builtin_memcpy(&v, at, sizeof v);
#endif
  return v;
}

template <int N, class T>
HIPOPS_FN void store_vector_anywhere(T* at, const Vector<T, N>& v) {
#if defined(HIPOPS_NVIDIA)
  if (uintptr_t(at) % alignof(Vector<T, N>) == 0) return store_vector<N>(at, v);
#pragma unroll
  for (int i = 0; i < N; ++i) at[i] = v.element[i];
#else
  __builtin_memcpy(at, &v, sizeof v);
#endif
}
template <int N, class T>
HIPOPS_FN void store_vector_anywhere(T* at, const Packed<T, N>& v) {
#if defined(HIPOPS_NVIDIA)
  if (uintptr_t(at) % sizeof v == 0) return store_vector<N>(at, v);
#pragma unroll
  for (int i = 0; i < N; ++i) at[i] = v[i];
#else
  __builtin_memcpy(at, &v, sizeof v);
#endif
}

}  // namespace
}  // namespace hipops
