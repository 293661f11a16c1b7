// Loads and stores of several neighbouring elements at once.
#pragma once

#include "device/types.h"

namespace hipops {
namespace {

constexpr int kWideBytes = 16;  // the widest access there is on every target

// N neighbouring elements, aligned as a whole, so that a copy is one access (two for 32 bytes).
template <class T, int N>
struct alignas(sizeof(T) * N > kWideBytes ? kWideBytes : sizeof(T) * N) Vector {
  T element[N];
};

template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector(const T* at) { return *reinterpret_cast<const Vector<T, N>*>(at); }

template <int N, class T>
HIPOPS_FN void store_vector(T* at, const Vector<T, N>& v) { *reinterpret_cast<Vector<T, N>*>(at) = v; }

// The same, by one store for sure where up to 16 bytes are stored: nvcc takes structs apart, and does not always see
// that their parts are one.
template <int N, class T>
HIPOPS_FN void store_vector_at_once(T* at, const Vector<T, N>& v) {
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

// The same at any address. AMD's and the CPU's accesses may begin anywhere; on NVIDIA those that don't begin at a multiple of their width go
// element by element.
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

}  // namespace
}  // namespace hipops
