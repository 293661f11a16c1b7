// Loads of what is read once.
#pragma once

#include "device/vector.h"

namespace hipops {
namespace {

#if defined(HIPOPS_NVIDIA)
// Leaves the L1 cache to others.
template <int N, class T>
HIPOPS_FN Vector<T, N> load_once(const T* at) {
  using V = Vector<T, N>;
  if constexpr (sizeof(V) == 16) {
    uint4 w;
    asm("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else if constexpr (sizeof(V) == 8) {
    uint2 w;
    asm("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else if constexpr (sizeof(V) == 32) {
    struct Halves { Vector<T, N / 2> half[2]; };
    return bit_cast<V>(Halves{{load_once<N / 2>(at), load_once<N / 2>(at + N / 2)}});
  } else {
    return load_vector<N>(at);
  }
}
#else
template <int N, class T>
HIPOPS_FN Vector<T, N> load_once(const T* at) { return load_vector<N>(at); }
#endif

}  // namespace
}  // namespace hipops
