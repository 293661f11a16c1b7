// Loads and prefetches with cache hints.
#pragma once

#include "device/core/vector.h"

namespace hipops {
namespace {

// Loads of an input that the L2 cache evicts last. It then evicts the op's output first: docs/notebook/memory.md.
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900
template <class T>
HIPOPS_FN T load_evict_last(const T* at) {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  const auto global = __cvta_generic_to_global(at);
  if constexpr (sizeof(T) == 16) {
    uint4 w;
    asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(global), "l"(policy));
    return bit_cast<T>(w);
  } else if constexpr (sizeof(T) == 8) {
    uint64_t w;
    asm volatile("ld.global.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(w) : "l"(global), "l"(policy));
    return bit_cast<T>(w);
  } else if constexpr (sizeof(T) == 4) {
    uint32_t w;
    asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(w) : "l"(global), "l"(policy));
    return bit_cast<T>(w);
  } else if constexpr (sizeof(T) == 2) {
    uint16_t w;
    asm volatile("ld.global.L2::cache_hint.b16 %0, [%1], %2;" : "=h"(w) : "l"(global), "l"(policy));
    return bit_cast<T>(w);
  } else {
    uint16_t w;
    asm volatile("ld.global.L2::cache_hint.u8 %0, [%1], %2;" : "=h"(w) : "l"(global), "l"(policy));
    return bit_cast<T>(uint8_t(w));
  }
}
template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector_evict_last(const T* at) {
  return load_evict_last(reinterpret_cast<const Vector<T, N>*>(at));
}
template <int N, class T>
HIPOPS_FN Packed<T, N> load_packed_evict_last(const T* at) { return load_vector_evict_last<N>(at); }
#else
template <class T>
HIPOPS_FN T load_evict_last(const T* at) { return *at; }
template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector_evict_last(const T* at) { return load_vector<N>(at); }
template <int N, class T>
HIPOPS_FN Packed<T, N> load_packed_evict_last(const T* at) { return load_packed<N>(at); }
#endif

// Copies 16 bytes to place i of shared memory in the background, without a register, if the target can. The work-item
// waits for its copies before the barrier after which others read them.
#if defined(HIPOPS_NVIDIA)
constexpr bool has_background_copies = true;
HIPOPS_FN void copy_in_background(const Shared<b128>& to, int32_t i, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(uint32_t(__cvta_generic_to_shared(&to[i]))),
               "l"(__cvta_generic_to_global(from))
               : "memory");
}
HIPOPS_FN void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
constexpr bool has_background_copies = false;
HIPOPS_FN void copy_in_background(const Shared<b128>&, int32_t, const void*) {}
HIPOPS_FN void wait_for_copies() {}
#endif

// 0, which the compiler does not know. Added to an address that all lanes share, it keeps the loaded number in a register
// of each lane. Otherwise ptxas moves the number to a uniform register, and waits for the load there.
HIPOPS_FN uint32_t zero_of_lane() {
#if defined(HIPOPS_NVIDIA)
  uint32_t own, below;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  return own & below;
#else
  return 0;
#endif
}

// Copies of `Bytes` bytes from global to shared memory that need no register. Only the lane that issued a copy may use it,
// after wait_for_copies(). The lane's earlier loads of the place must be complete. The CPU does not delay copies.
constexpr bool has_copies_ahead = bounds_set_registers;
template <int Bytes, class T>
HIPOPS_FN void copy_ahead(const Shared<T>& to, uint32_t i, const void* from) {
#if defined(HIPOPS_NVIDIA)
  const uint32_t at = uint32_t(__cvta_generic_to_shared(&to[i]));
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(at), "l"(__cvta_generic_to_global(from)),
               "n"(Bytes), "l"(policy)
               : "memory");
#else
  static_assert(sizeof(T) == Bytes, "one element");
  to[i] = *static_cast<const T*>(from);
#endif
}

// Whether load_uniform() is a scalar load, which waits for no vector load. The CPU follows AMD with waves of 64.
#if defined(HIPOPS_CPU_WAVE)
constexpr bool has_scalar_loads = HIPOPS_CPU_WAVE == 64;
#else
constexpr bool has_scalar_loads = on_amd;
#endif
// Loads from a uniform address that the kernel does not write. On AMD it is a scalar load, which no vector load waits for.
template <class T>
HIPOPS_FN T load_uniform(const T* at) {
#if defined(HIPOPS_AMD)
  return *(const __attribute__((address_space(4))) T*)at;
#else
  return *at;
#endif
}

// Prefetches a line to the L1 cache, if the target has an instruction for it that does not wait. No other block may write
// the line before this block reads it.
#if defined(HIPOPS_NVIDIA)
constexpr bool has_prefetch = true;
HIPOPS_FN void prefetch_l1(const void* at) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(at)));
}
// The same to the L2 cache alone, which evicts the line last.
HIPOPS_FN void prefetch_evict_last(const void* at) {
  asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(__cvta_generic_to_global(at)));
}
#else
constexpr bool has_prefetch = false;
HIPOPS_FN void prefetch_l1(const void*) {}
HIPOPS_FN void prefetch_evict_last(const void*) {}
#endif

// Prefetches memory to the L2 cache: `pieces` pieces of kPrefetchBytes from `from` on, a multiple of 16. For blocks
// that wait for the previous launch. The first `blocks` blocks share the pieces, some megabytes together.
HIPOPS_FN void prefetch_l2_by_blocks([[maybe_unused]] const void* from, [[maybe_unused]] uint32_t pieces,
                            [[maybe_unused]] uint32_t blocks) {
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900
  uint32_t block = reread_block_index();
  if (block >= pieces || block >= blocks) return;
  if (reread_thread_index() != 0) return;
#pragma unroll 1
  for (; block < pieces; block += blocks)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(
                     __cvta_generic_to_global(static_cast<const char*>(from) + int64_t(block) * kPrefetchBytes)),
                 "n"(kPrefetchBytes)
                 : "memory");
#endif
}

#if defined(HIPOPS_NVIDIA)
// Loads without a place in the L1 cache, which other loads need more.
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

// Loads that both caches evict first. Neighbouring loads still share a sector, and the elements that a kernel updates
// stay in the L2 cache.
template <int N, class T>
HIPOPS_FN Vector<T, N> load_streamed(const T* at) {
  using V = Vector<T, N>;
  if constexpr (sizeof(V) == 32) {
    struct Halves { Vector<T, N / 2> half[2]; };
    return bit_cast<V>(Halves{{load_streamed<N / 2>(at), load_streamed<N / 2>(at + N / 2)}});
  } else if constexpr (sizeof(V) == 16) {
    uint4 w;
    asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else if constexpr (sizeof(V) == 8) {
    uint2 w;
    asm("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else if constexpr (sizeof(V) == 4) {
    uint32_t w;
    asm("ld.global.cs.u32 %0, [%1];" : "=r"(w) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else if constexpr (sizeof(V) == 2) {
    uint16_t w;
    asm("ld.global.cs.u16 %0, [%1];" : "=h"(w) : "l"(at) : "memory");
    return bit_cast<V>(w);
  } else {
    return load_vector<N>(at);
  }
}
#else
template <int N, class T>
HIPOPS_FN Vector<T, N> load_once(const T* at) { return load_vector<N>(at); }
template <int N, class T>
HIPOPS_FN Vector<T, N> load_streamed(const T* at) { return load_vector<N>(at); }
#endif
// The same, as words (see Packed).
template <int N, class T>
HIPOPS_FN Packed<T, N> load_packed_once(const T* at) {
#if defined(HIPOPS_NVIDIA)
  return load_once<N>(at);
#else
  return load_packed<N>(at);
#endif
}

}  // namespace
}  // namespace hipops
