// Functions that steer the compilers that they name. Most change only speed; `hide_origin`, `forbid_fusing` and
// `rounded_product` are needed for right results. "clang" is AMD's compiler, "nvcc" NVIDIA's, "ptxas" nvcc's assembler.
#pragma once

#include "device/core/platform.h"

namespace hipops {
namespace {

// ---- Arguments of a launch.

// Argument i, or the last one if there are fewer.
template <int i, class T, class... More>
HIPOPS_FN auto argument_or_last(T first, More... more) {
  if constexpr (i == 0 || sizeof...(More) == 0) return first;
  else return argument_or_last<i - 1>(more...);
}
// clang: loads up to 30 arguments together. Otherwise it would load each one before its first use, and wait there.
template <class... T>
HIPOPS_FN void load_arguments_together([[maybe_unused]] T... args) {
#if defined(HIPOPS_AMD)
  static_assert(sizeof...(T) <= 30, "the asm statement has 30 operands");
#define HIPOPS_ARGUMENT(i) "s"(argument_or_last<i>(args...))
#define HIPOPS_ARGUMENTS(i) \
  HIPOPS_ARGUMENT(i), HIPOPS_ARGUMENT(i + 1), HIPOPS_ARGUMENT(i + 2), HIPOPS_ARGUMENT(i + 3), HIPOPS_ARGUMENT(i + 4)
  asm volatile("" ::HIPOPS_ARGUMENTS(0), HIPOPS_ARGUMENTS(5), HIPOPS_ARGUMENTS(10), HIPOPS_ARGUMENTS(15),
               HIPOPS_ARGUMENTS(20), HIPOPS_ARGUMENTS(25));
#endif
}

// clang: 0 as an unknown number. Code that depends on it is not moved in front of a loop.
HIPOPS_FN int64_t hidden_zero() {
  int64_t zero = 0;
#if defined(HIPOPS_AMD)
  asm volatile("s_mov_b64 %0, 0" : "=s"(zero));
#endif
  return zero;
}

// clang: loads arguments again where they are used after this call. Otherwise it would keep them, and values derived
// from them, over a loop or a long function. gfx9 has too few scalar registers for that.
template <class T>
HIPOPS_FN const T& reload_arguments(const T& args) {
#if defined(HIPOPS_AMD)
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(&args) + hidden_zero());
#else
  return args;
#endif
}

// clang: the kernel's argument, which is its only one, without a copy. Otherwise a kernel that uses it in more than 300
// places would copy it to scratch memory first.
template <class T>
HIPOPS_FN const T& arguments_in_place([[maybe_unused]] const T& args) {
#if defined(HIPOPS_AMD)
  return *(const T*)__builtin_amdgcn_kernarg_segment_ptr();
#else
  return args;
#endif
}

// nvcc: places the loads of `args` above this call, so they are in flight during the kernel's next wait.
template <class... T>
HIPOPS_FN void wait_for_arguments([[maybe_unused]] const T&... args) {
#if defined(HIPOPS_NVIDIA)
  (..., [&] { asm volatile("" ::"l"(int64_t(args))); }());
#endif
}

#if defined(HIPOPS_NVIDIA)
// nvcc: reads the index from its special register again. Otherwise it would keep a copy in a register to the end.
HIPOPS_FN uint32_t reread_block_index() {
  uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}
HIPOPS_FN uint32_t reread_thread_index() {
  uint32_t thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
#endif

// ---- Order of loads, and waits.

// clang: hides where a number comes from. Otherwise clang hoists comparisons with a known number out of loops, for two
// scalar registers each. It also turns an atomic addition of 0 into a plain load, which may return a stale value.
HIPOPS_FN uint32_t hide_origin(uint32_t v) {
#if defined(HIPOPS_AMD)
  asm volatile("" : "+v"(v));
#endif
  return v;
}

// nvcc: hides which values a number can have, so a case that never happens is not removed.
HIPOPS_FN uint32_t hide_range(uint32_t v) {
#if defined(HIPOPS_NVIDIA)
  asm volatile("" : "+r"(v));
#endif
  return v;
}

// clang: called for each of several loaded words, before any is used. All loads are then issued before the first wait.
// Otherwise it would wait for the first word, convert it, and only then issue the next load.
template <class Word>
HIPOPS_FN void issue_before_use([[maybe_unused]] Word& word) {
#if defined(HIPOPS_AMD)
  asm volatile("" : "+v"(word));
#endif
}

// nvcc: issues the loads from shared memory above this call before a use of any. Otherwise it would wait for each.
HIPOPS_FN void issue_shared_loads_before_use() {
#if defined(HIPOPS_NVIDIA)
  asm volatile("" ::: "memory");
#endif
}

// clang: waits for the load of v here, not at its first use. Otherwise it would wait for later accesses, too: loads and
// stores complete in order. Only for values of 4 bytes: f64 is not waited for.
template <class T>
HIPOPS_FN T wait_for_load(T v) {
  if constexpr (sizeof(T) == sizeof(uint32_t)) return bit_cast<T>(hide_origin(bit_cast<uint32_t>(v)));
  else return v;
}

// Rules that no function enforces. After a branch, a compiler does not know how many loads are in flight, and waits for
// all. So load without a branch: past the end, load the last address again. If a load must be in a branch, load raw
// words, and convert them after the branch. Each branch has its own variables. Otherwise the wait is inside the branch.

// ---- Values that a compiler would derive early, keep long, or simplify.

// clang and nvcc: values derived from the word before this call are computed again after it. Otherwise they would be
// kept in registers, and converted elements need more registers than packed words.
HIPOPS_FN void recompute_derived([[maybe_unused]] uint32_t& word) {
#if defined(HIPOPS_NVIDIA)
  asm volatile("" : "+r"(word));
#elif defined(HIPOPS_AMD)
  asm volatile("" : "+v"(word));
#endif
}

// The same for ptxas, which sees through an empty asm statement. `zero` is a 0 that it cannot know when it compiles.
// The call uses the word, so a kernel also waits here for the word's load (Packed::wait_for_load_by).
HIPOPS_FN void recompute_derived_by([[maybe_unused]] uint32_t zero, uint32_t& word) {
#if defined(HIPOPS_NVIDIA)
  word ^= zero;
#else
  recompute_derived(word);
#endif
}

// ptxas: element `upper` (0 or 1) of a word of bf16, as f32, by an instruction that it does not merge with an earlier
// conversion of the same element. Otherwise it would keep the earlier result in a register.
#if defined(HIPOPS_NVIDIA)
HIPOPS_FN uint32_t widen_bf16_again(uint32_t word, bool upper) {
  uint32_t bits;
  if (!upper) asm("prmt.b32 %0, %1, 0, 0x1044;" : "=r"(bits) : "r"(word));
  else asm("prmt.b32 %0, %1, 0, 0x3244;" : "=r"(bits) : "r"(word));
  return bits;
}
#endif

// clang: keeps the operation that made v apart from the conversion of v. Otherwise it fuses a product and its
// conversion into a sum with +0, which turns -0 into +0.
HIPOPS_FN void forbid_fusing([[maybe_unused]] float& v) {
#if defined(HIPOPS_AMD)
  asm("" : "+v"(v));
#endif
}

// clang and nvcc: a * b, rounded by itself. Otherwise they would fuse the product and a sum that uses it.
#if defined(HIPOPS_NVIDIA)
HIPOPS_FN float rounded_product(float a, float b) { return __fmul_rn(a, b); }
HIPOPS_FN double rounded_product(double a, double b) { return __dmul_rn(a, b); }
#else
template <class C>
HIPOPS_FN C rounded_product(C a, C b) {
#if defined(HIPOPS_AMD)
#pragma clang fp contract(off)
#endif
  return a * b;
}
#endif

// ---- Addresses.

// nvcc: keeps an address as one number. Otherwise it would add the parts of the address again for each access, in 64 bits.
template <class T>
HIPOPS_FN const T* keep_one_address(const T* at) {
#if defined(HIPOPS_NVIDIA)
  asm("" : "+l"(at));
  __builtin_assume(__isGlobal(at));
#endif
  return at;
}

// The address at + place. clang: an unsigned offset of 32 bits is an operand of the load, so no addition is needed.
// nvcc: the plain sum is one instruction, which multiplies and adds.
template <class T>
HIPOPS_FN const T* element_at(const T* at, int32_t place) {
  if constexpr (on_amd)
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(at) + uint32_t(place) * uint32_t(sizeof(T)));
  else return at + place;
}

}  // namespace
}  // namespace hipops
