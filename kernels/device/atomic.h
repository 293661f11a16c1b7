// Atomic operations on global memory, relaxed, among all work-items of the device. Each is one instruction where the target has it.
#pragma once

#include "device/types.h"

namespace hipops {
namespace {

#if defined(HIPOPS_AMD)
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) { __hip_atomic_fetch_add(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) { __hip_atomic_fetch_min(at, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
#elif defined(HIPOPS_NVIDIA)
static_assert(sizeof(unsigned long long) == sizeof(uint64_t), "CUDA's 64-bit atomics are declared for unsigned long long");
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) { atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v)); }
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) { atomicMin(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(v)); }
#else
HIPOPS_FN void atomic_add(uint64_t* at, uint64_t v) { __atomic_fetch_add(at, v, __ATOMIC_RELAXED); }
HIPOPS_FN void atomic_min(uint64_t* at, uint64_t v) {
  uint64_t seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (v < seen && !__atomic_compare_exchange_n(at, &seen, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
#endif

}  // namespace
}  // namespace hipops
