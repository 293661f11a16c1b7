// Loads of what is read once.
#pragma once

#include "device/vector.h"

namespace hipops {
namespace {

// As load_vector. On NVIDIA it leaves the L1 cache to others.
template <int N, class T>
HIPOPS_FN Vector<T, N> load_once(const T* at) {
#if defined(HIPOPS_NVIDIA)
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
  }
#endif
  return load_vector<N>(at);
}

}  // namespace
}  // namespace hipops
