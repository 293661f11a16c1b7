// Relaxed atomic operations on global memory, among all work-items of the device. Each is one instruction if the target
// has one. Otherwise, those on floats compare and swap in a loop. Only atomic_fetch_add and atomic_fetch_or return the
// value before: that costs a trip back.
//
// Blocks hand results to the block that is last to add to a counter. Each work-item stores its results, and calls
// release_to_device(). After a barrier one work-item adds to the counter, and calls acquire_from_device(). After one more
// barrier each calls acquire_from_block(). In the last block all work-items then see all results. They may overwrite
// the bytes that other blocks have loaded.
//
// AMD's float atomics work on memory of the device (coarse-grained: memory of hipMalloc). On fine-grained memory, of
// the host or of another device, the instructions of some generations do nothing. A compiler that does not know the
// memory replaces them by a loop, which is slower. The builtins of this file forbid that, so callers must not pass
// fine-grained memory (docs/ops/scatter_add.md).
#pragma once

#include "device/core/vector.h"

namespace hipops {
namespace {

#if defined(HIPOPS_AMD)

template <class T>
HIPOPS_FN void amd_atomic_add(T* at, T v) { __hip_atomic_fetch_add(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

template <class T>
HIPOPS_FN bool amd_compare_swap(T* at, T* seen, T next) {
  return __hip_atomic_compare_exchange_weak(at, seen, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            __HIP_MEMORY_SCOPE_AGENT);
}

template <class T>
using GlobalPointer = __attribute__((address_space(1))) T*;

HIPOPS_FN void atomic_add(uint32_t* at, uint32_t v) { amd_atomic_add(at, v); }
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) { amd_atomic_add(at, v); }
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) {
  __hip_atomic_fetch_min(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HIPOPS_FN void atomic_max(uint32_t* at, uint32_t v) {
  __hip_atomic_fetch_max(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HIPOPS_FN uint32_t atomic_fetch_add(uint32_t* at, uint32_t v) {
  return __hip_atomic_fetch_add(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HIPOPS_FN uint64_t atomic_fetch_add(uint64_t* at, uint64_t v) {
  return __hip_atomic_fetch_add(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
HIPOPS_FN void release_to_device() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#if defined(__GFX9__)
  // If clang knows no access in flight, it does not wait for the fence's buffer_wbl2, which stores dirty lines.
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#endif
}
HIPOPS_FN void acquire_from_device() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); }
HIPOPS_FN void acquire_from_block() { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }

// The builtins force the instruction: f32 from gfx90a (CDNA) and gfx11 (RDNA) on, f64 on CDNA alone.
HIPOPS_FN void atomic_add(float* at, float v) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_f32)
  __builtin_amdgcn_global_atomic_fadd_f32((GlobalPointer<float>)at, v);
#else
  amd_atomic_add(at, v);
#endif
}

HIPOPS_FN void atomic_add(double* at, double v) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_f64)
  __builtin_amdgcn_global_atomic_fadd_f64((GlobalPointer<double>)at, v);
#else
  amd_atomic_add(at, v);
#endif
}

// A 16-bit float is half of a word, and only words have atomics. The launcher has checked that y contains the word.
template <class T>
HIPOPS_FN void add_in_word(T* at, float v) {
  int upper = int(uintptr_t(at) >> 1 & 1), shift = 16 * upper;
  uint32_t* word = reinterpret_cast<uint32_t*>(at - upper);
  uint32_t seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT), next;
  do {
    T sum = narrow<T>(widen(T{uint16_t(seen >> shift)}) + v);
    next = (seen & ~(0xffffu << shift)) | uint32_t(sum.bits) << shift;
  } while (!amd_compare_swap(word, &seen, next));
}

// A word with v in its half and -0.0 in the other half, for an instruction that adds to both halves. Adding -0.0
// changes no number. (It makes a signalling NaN quiet.)
template <class T>
HIPOPS_FN uint32_t with_minus_zero(const T* at, T v) {
  return uintptr_t(at) >> 1 & 1 ? 0x8000u | uint32_t(v.bits) << 16 : 0x80000000u | v.bits;
}

HIPOPS_FN void atomic_add(f16* at, f16 v) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_v2f16)
  typedef _Float16 Pair __attribute__((ext_vector_type(2)));
  f16* word = at - (uintptr_t(at) >> 1 & 1);
  __builtin_amdgcn_global_atomic_fadd_v2f16((GlobalPointer<Pair>)word, bit_cast<Pair>(with_minus_zero(at, v)));
#else
  add_in_word(at, widen(v));
#endif
}

HIPOPS_FN void atomic_add(bf16* at, bf16 v) {
#if __has_builtin(__builtin_amdgcn_global_atomic_fadd_v2bf16)
  typedef short Pair __attribute__((ext_vector_type(2)));
  bf16* word = at - (uintptr_t(at) >> 1 & 1);
  __builtin_amdgcn_global_atomic_fadd_v2bf16((GlobalPointer<Pair>)word, bit_cast<Pair>(with_minus_zero(at, v)));
#else
  add_in_word(at, widen(v));
#endif
}

#elif defined(HIPOPS_NVIDIA)

static_assert(sizeof(unsigned long long) == sizeof(uint64_t),
              "CUDA's 64-bit atomics are declared for unsigned long long");
HIPOPS_FN void atomic_add(uint32_t* at, uint32_t v) { atomicAdd(at, v); }
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) {
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
}
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) {
  atomicMin(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
}
HIPOPS_FN void atomic_max(uint32_t* at, uint32_t v) { atomicMax(at, v); }
HIPOPS_FN uint32_t atomic_fetch_add(uint32_t* at, uint32_t v) { return atomicAdd(at, v); }
HIPOPS_FN uint64_t atomic_fetch_add(uint64_t* at, uint64_t v) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v));
}
HIPOPS_FN void release_to_device() { __threadfence(); }
HIPOPS_FN void acquire_from_device() { __threadfence(); }
HIPOPS_FN void acquire_from_block() {}
HIPOPS_FN void atomic_add(float* at, float v) { atomicAdd(at, v); }
HIPOPS_FN void atomic_add(double* at, double v) { atomicAdd(at, v); }
HIPOPS_FN void atomic_add(f16* at, f16 v) { atomicAdd(reinterpret_cast<__half*>(at), bit_cast<__half>(v)); }
HIPOPS_FN void atomic_add(bf16* at, bf16 v) {
  atomicAdd(reinterpret_cast<__nv_bfloat16*>(at), bit_cast<__nv_bfloat16>(v));
}

#else

// Replaces the value at `at` by f(value). Bits is the unsigned integer of its size.
template <class Bits, class T, class F>
HIPOPS_FN void atomic_update(T* at, F f) {
  Bits* bits = reinterpret_cast<Bits*>(at);
  Bits seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &seen, bit_cast<Bits>(f(bit_cast<T>(seen))), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}

HIPOPS_FN void atomic_add(uint32_t* at, uint32_t v) { __atomic_fetch_add(at, v, __ATOMIC_RELAXED); }
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) { __atomic_fetch_add(at, v, __ATOMIC_RELAXED); }
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) {
  atomic_update<uint64_t>(at, [v](uint64_t seen) { return v < seen ? v : seen; });
}
HIPOPS_FN void atomic_max(uint32_t* at, uint32_t v) {
  atomic_update<uint32_t>(at, [v](uint32_t seen) { return v > seen ? v : seen; });
}
HIPOPS_FN uint32_t atomic_fetch_add(uint32_t* at, uint32_t v) { return __atomic_fetch_add(at, v, __ATOMIC_RELAXED); }
// ThreadSanitizer knows no fences. A block runs in one thread, so an ordered addition is enough.
HIPOPS_FN uint64_t atomic_fetch_add(uint64_t* at, uint64_t v) { return __atomic_fetch_add(at, v, __ATOMIC_ACQ_REL); }
HIPOPS_FN void release_to_device() {}
HIPOPS_FN void acquire_from_device() {}
HIPOPS_FN void acquire_from_block() {}
HIPOPS_FN void atomic_add(float* at, float v) { atomic_update<uint32_t>(at, [v](float seen) { return seen + v; }); }
HIPOPS_FN void atomic_add(double* at, double v) { atomic_update<uint64_t>(at, [v](double seen) { return seen + v; }); }
HIPOPS_FN void atomic_add(f16* at, f16 v) {
  atomic_update<uint16_t>(at, [v](f16 seen) { return narrow<f16>(widen(seen) + widen(v)); });
}
HIPOPS_FN void atomic_add(bf16* at, bf16 v) {
  atomic_update<uint16_t>(at, [v](bf16 seen) { return narrow<bf16>(widen(seen) + widen(v)); });
}

#endif

#if defined(HIPOPS_AMD)
HIPOPS_FN uint32_t atomic_fetch_or(uint32_t* at, uint32_t v) {
  return __hip_atomic_fetch_or(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
#elif defined(HIPOPS_NVIDIA)
HIPOPS_FN uint32_t atomic_fetch_or(uint32_t* at, uint32_t v) { return atomicOr(at, v); }
#else
HIPOPS_FN uint32_t atomic_fetch_or(uint32_t* at, uint32_t v) { return __atomic_fetch_or(at, v, __ATOMIC_RELAXED); }
#endif

// Whether one atomic on four neighbours is faster than four. On AMD it is not, and one kind of instruction is enough.
constexpr bool vectors_pay_in_atomics = !on_amd;

// Adds four neighbours, aligned as a whole: one operation if the target has it.
template <class T>
HIPOPS_FN void atomic_add_vector(T* at, const Vector<T, 4>& v) {
#pragma unroll
  for (int i = 0; i < 4; ++i) atomic_add(at + i, v.element[i]);
}
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900
HIPOPS_FN void atomic_add_vector(float* at, const Vector<float, 4>& v) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.element[0]), "f"(v.element[1]),
               "f"(v.element[2]), "f"(v.element[3])
               : "memory");
}
HIPOPS_FN void atomic_add_vector(f16* at, const Vector<f16, 4>& v) {
  const uint2 words = bit_cast<uint2>(v);
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(at), "r"(words.x), "r"(words.y) : "memory");
}
HIPOPS_FN void atomic_add_vector(bf16* at, const Vector<bf16, 4>& v) {
  const uint2 words = bit_cast<uint2>(v);
  asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %2};" ::"l"(at), "r"(words.x), "r"(words.y) : "memory");
}
#endif

// Stores to an element that other work-items may store to at the same time; any of the values may win. GPUs store each
// element whole, also inside of a vector. A vector of 16 bytes is stored as two halves, because no element is larger.
// The CPU needs atomic stores.
template <class T>
HIPOPS_FN void store_contended(T* at, const T& v) {
  struct alignas(16) Halves { uint64_t half[2]; };
  static_assert(sizeof(T) <= 8 || sizeof(T) == sizeof(Halves), "an element, or a vector of them");
#if defined(HIPOPS_CPU)
  if constexpr (sizeof(T) <= 8) {
    __atomic_store(at, const_cast<T*>(&v), __ATOMIC_RELAXED);
  } else {
    const Halves halves = bit_cast<Halves>(v);
    for (int i = 0; i < 2; ++i) __atomic_store_n(reinterpret_cast<uint64_t*>(at) + i, halves.half[i], __ATOMIC_RELAXED);
  }
#elif defined(HIPOPS_NVIDIA)
  if constexpr (sizeof(T) <= 8) {
    *at = v;
  } else {
    const Halves halves = bit_cast<Halves>(v);  // nvcc would store four words
    asm volatile("st.global.v2.b64 [%0], {%1, %2};" ::"l"(at), "l"(halves.half[0]), "l"(halves.half[1]) : "memory");
  }
#else
  *at = v;
#endif
}

}  // namespace
}  // namespace hipops
