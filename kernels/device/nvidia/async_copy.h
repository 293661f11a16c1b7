// Copies from global to shared memory that nobody waits for until they are needed, and that take no registers: on
// NVIDIA; on the CPU they are there at once.
#pragma once

#include "device/core/vector.h"

namespace hipops {
namespace {

#if !defined(HIPOPS_AMD)
// Of a vector, which is marked as by load_evict_last.
template <class V>
HIPOPS_FN void copy_to_shared(Shared<V> to, int64_t i, const V* from) {
#if defined(HIPOPS_NVIDIA)
  static_assert(sizeof(V) == kWideBytes, "what cp.async copies past the L1 cache");
  const uint32_t shared = uint32_t(__cvta_generic_to_shared(&to[i]));
  const auto global = __cvta_generic_to_global(from);
#if __CUDA_ARCH__ >= 900
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "l"(policy)
               : "memory");
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
#endif
#else
  to[i] = *from;
#endif
}

// Of the word that an element of 16 bits lies in, which is the least that is copied: without what follows the element,
// as that may be the last of its memory. Memory begins with whole words.
template <class T>
HIPOPS_FN void copy_word_to_shared(Shared<uint32_t> to, int64_t i, const T* from) {
  static_assert(sizeof(T) == 2, "one or two to a word");
  const uint32_t before = uint32_t(uintptr_t(from) % 4);
#if defined(HIPOPS_NVIDIA)
  const char* word = reinterpret_cast<const char*>(from) - before;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(uint32_t(__cvta_generic_to_shared(&to[i]))),
               "l"(__cvta_generic_to_global(word)), "r"(before + uint32_t(sizeof(T)))
               : "memory");
#else
  to[i] = uint32_t(from->bits) << before * 8;
#endif
}
// The element of such a word that came from there.
template <class T>
HIPOPS_FN T element_of_word(uint32_t word, const T* from) { return T{uint16_t(word >> uintptr_t(from) % 4 * 8)}; }

// What has been copied since the last call is one group.
HIPOPS_FN void end_group_of_copies() {
#if defined(HIPOPS_NVIDIA)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups but the last `newer`: 0 or 1.
HIPOPS_FN void wait_for_copies([[maybe_unused]] int newer) {
#if defined(HIPOPS_NVIDIA)
  if (newer > 0) asm volatile("cp.async.wait_group 1;" ::: "memory");
  else asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
}
#endif

}  // namespace
}  // namespace hipops
