// The three machines that the kernels run on:
//   AMD GPUs     clang's HIP language, by builtins: no HIP header, so any ROCm from 5 on compiles it
//   NVIDIA GPUs  nvcc, -x cu
//   the CPU      the host compiler; work-items are fibers of the executor (cpu.h), HIPOPS_CPU_WAVE lanes make a wave
//
// HIPOPS_KERNEL(block) declares a kernel for blocks of exactly `block` work-items, HIPOPS_KERNEL_UP_TO(block) one for
// any number up to that, HIPOPS_ARGS(T) its one parameter, HIPOPS_FN a device function. A second argument tells
// NVIDIA's compiler how many blocks a multiprocessor is to have room for: fewer where it would spill registers to make
// room for another, more where it would take all registers for few.
#pragma once

#include <math.h>
#include <stdint.h>

#include "device/core/launch_contract.h"

#if defined(__HIP__)
#define HIPOPS_AMD 1
#define HIPOPS_FN static inline __attribute__((device, always_inline))
#define HIPOPS_METHOD inline __attribute__((device, always_inline))
#define HIPOPS_KERNEL(block, ...) extern "C" __attribute__((global, amdgpu_flat_work_group_size(block, block))) void
#define HIPOPS_KERNEL_UP_TO(block, ...) extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, block))) void
#define HIPOPS_ARGS(T) const T
#elif defined(__CUDACC__)
#define HIPOPS_NVIDIA 1
#define HIPOPS_FN static __device__ __forceinline__
#define HIPOPS_METHOD __device__ __forceinline__
#define HIPOPS_KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)
#define HIPOPS_KERNEL_UP_TO(...) HIPOPS_KERNEL(__VA_ARGS__)
#define HIPOPS_ARGS(T) const __grid_constant__ T  // read in place, never copied to the stack
#else
#define HIPOPS_CPU 1
#include "device/core/cpu.h"
#define HIPOPS_FN static inline
#define HIPOPS_METHOD inline
#define HIPOPS_KERNEL(...) static void
#define HIPOPS_KERNEL_UP_TO(...) static void
#define HIPOPS_ARGS(T) const T&
#endif

// Everything in kernels/device is compiled anew for each .hip file and target, with internal linkage: wave 32 and wave
// 64 live in one CPU library without meeting.
namespace hipops {
namespace {

// gfx9 from gfx90a on.
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__) || defined(__gfx9_4_generic__)
#define HIPOPS_FROM_GFX90A 1
#endif

// Whether a block of 512 work-items leaves each no more than 128 registers, with no other block beside it: on gfx9
// before gfx90a. capi/runtime/hip.cpp says the same of a device.
#if defined(__GFX9__) && !defined(HIPOPS_FROM_GFX90A)
constexpr bool few_registers = true;
#else
constexpr bool few_registers = false;
#endif

// Which machine this is, where that decides about a number or a way. What another machine's compiler would not take is
// behind an #if, in this folder: an op's own file has none.
#if defined(HIPOPS_AMD)
constexpr bool on_amd = true, on_nvidia = false;
#elif defined(HIPOPS_NVIDIA)
constexpr bool on_amd = false, on_nvidia = true;
#else
constexpr bool on_amd = false, on_nvidia = false;
#endif

// ---- What machines differ in, by name.

// Whether instructions take a launch's arguments from where they are, if the place is known when compiled. Elsewhere
// each takes scalar registers, of which gfx9 has few enough.
constexpr bool arguments_are_operands = on_nvidia;

// Whether a kernel has as many registers as its bound on work-items leaves it (HIPOPS_KERNEL_UP_TO). Elsewhere it has as
// many as it needs. The CPU goes NVIDIA's way with waves of 32.
#if defined(HIPOPS_CPU_WAVE)
constexpr bool bounds_set_registers = HIPOPS_CPU_WAVE == 32;
#else
constexpr bool bounds_set_registers = on_nvidia;
#endif

// Whether a launch may bring shared memory for each block. Elsewhere kernels have all of it themselves.
constexpr bool has_launch_shared = !on_amd;

// Loads that are enough for a work-item of a full device to have under way.
constexpr int enough_loads = on_nvidia ? 6 : 8;

// Whether loads that only some lanes want are one instruction, which does nothing for the others. Elsewhere it takes a
// branch for each, and loads that are wanted by none are better.
constexpr bool loads_are_predicated = on_nvidia;

// ---- Where a work-item is. Launches are one-dimensional.

#if defined(HIPOPS_AMD)
HIPOPS_FN uint32_t thread_index() { return __builtin_amdgcn_workitem_id_x(); }
HIPOPS_FN uint32_t block_index() { return __builtin_amdgcn_workgroup_id_x(); }
#elif defined(HIPOPS_NVIDIA)
HIPOPS_FN uint32_t thread_index() { return threadIdx.x; }
HIPOPS_FN uint32_t block_index() { return blockIdx.x; }
#else
HIPOPS_FN uint32_t thread_index() { return cpu::thread_index(); }
HIPOPS_FN uint32_t block_index() { return cpu::block_index(); }
#endif

// ---- Every kernel begins with one of these: wait_for_launch_before if its launches have begins_early, else follow_launch_before.
// `next_at_once` lets the next launch be placed before the wait: allowed only if the launch before did not, and neither of the two
// writes what the next one prefetches (docs/design/architecture.md#nvidia).

HIPOPS_FN void allow_next_launch() {
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
HIPOPS_FN void wait_for_launch_before() {
#if defined(HIPOPS_NVIDIA) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  allow_next_launch();
}
HIPOPS_FN void follow_launch_before([[maybe_unused]] bool next_at_once = false) {
#if defined(HIPOPS_NVIDIA)
  if (gridDim.x > kMostBlocksEarly) return;
  if (next_at_once) allow_next_launch();
  wait_for_launch_before();
#endif
}

// ---- The block's barrier: every work-item of the block reaches it, and shared memory written before it is seen after it.
// It orders no access to global memory: what one work-item reads there before it, and another overwrites after it, has to
// have arrived (vector.h).

#if defined(HIPOPS_AMD)
#if __clang_major__ >= 20
// Only LDS needs to be ordered: global loads may stay in flight across the barrier.
#define HIPOPS_LDS_FENCE(order) __builtin_amdgcn_fence(order, "workgroup", "local")
#else
#define HIPOPS_LDS_FENCE(order) __builtin_amdgcn_fence(order, "workgroup")
#endif
HIPOPS_FN void barrier() {
  HIPOPS_LDS_FENCE(__ATOMIC_RELEASE);
  __builtin_amdgcn_s_barrier();
  HIPOPS_LDS_FENCE(__ATOMIC_ACQUIRE);
}
#elif defined(HIPOPS_NVIDIA)
HIPOPS_FN void barrier() { __syncthreads(); }
#else
HIPOPS_FN void barrier(cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) { cpu::barrier(site); }
#endif

// The same for global memory as well, of what the block's work-items tell each other there: a fence on AMD, where a
// barrier before it is none.
#if defined(HIPOPS_AMD)
HIPOPS_FN void barrier_for_memory() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#elif defined(HIPOPS_NVIDIA)
HIPOPS_FN void barrier_for_memory() { __syncthreads(); }
#else
HIPOPS_FN void barrier_for_memory(cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) { cpu::barrier(site); }
#endif

// ---- Shared memory (LDS). HIPOPS_SHARED(T, name, n) declares `Shared<T> name`, n elements for the block. On the CPU each access
// is reported to the executor's race check.

#if defined(HIPOPS_CPU)
template <class T>
class Shared {
 public:
  explicit Shared(T* base) : base_(base) {}

  class Element {
   public:
    Element(T* base, int64_t i, cpu::Site site) : base_(base), at_(base + i), site_(site) {}
    operator T() const {
      cpu::shared_access(base_, at_, sizeof(T), false, site_);
      return *at_;
    }
    void operator=(const T& value) {
      cpu::shared_access(base_, at_, sizeof(T), true, site_);
      *at_ = value;
    }
    void operator=(const Element& other) { *this = T(other); }

   private:
    T *base_, *at_;
    cpu::Site site_;
  };

  struct Index {  // carries the place of the access, which operator[] cannot take as a default argument
    Index(int64_t i, const char* f = __builtin_FILE(), int l = __builtin_LINE()) : value(i), site{f, l} {}
    int64_t value;
    cpu::Site site;
  };
  Element operator[](Index i) const { return Element(base_, i.value, i.site); }
  // Adds to an element, and gives what was there before: among work-items that do so, none comes between. To the race
  // check it is a read, which other such ones may be beside.
  T fetch_add(Index i, T v) const {
    const T before = (*this)[i];
    base_[i.value] = T(before + v);
    return before;
  }
  // The same memory as elements of U.
  template <class U>
  Shared<U> as() const {
    static_assert(alignof(U) <= alignof(T), "it lies as T asks");
    return Shared<U>(reinterpret_cast<U*>(base_));
  }

 private:
  T* base_;
};
#define HIPOPS_SHARED(T, name, n)     \
  static const char name##_key = 0;   \
  ::hipops::Shared<T> name(static_cast<T*>(::hipops::cpu::shared_memory(&name##_key, sizeof(T) * (n), alignof(T))))
#else
template <class T>
class Shared {
 public:
  explicit HIPOPS_METHOD Shared(T* base) : base_(base) {}
  HIPOPS_METHOD T& operator[](int64_t i) const { return base_[i]; }
  HIPOPS_METHOD T fetch_add(int64_t i, T v) const {
#if defined(HIPOPS_AMD)
    return __hip_atomic_fetch_add(base_ + i, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
#else
    return atomicAdd(base_ + i, v);
#endif
  }
  // The same memory as elements of U.
  template <class U>
  HIPOPS_METHOD Shared<U> as() const {
    static_assert(alignof(U) <= alignof(T), "it lies as T asks");
    return Shared<U>(reinterpret_cast<U*>(base_));
  }

 private:
  T* base_;
};
#define HIPOPS_SHARED(T, name, n)                        \
  __attribute__((shared)) T name##_storage[n];           \
  ::hipops::Shared<T> name(name##_storage)
#endif

// The shared memory that a launch brings beside the kernel's own: n elements. AMD's launches bring none.
#if defined(HIPOPS_CPU)
template <class T>
HIPOPS_FN Shared<T> launch_shared(int64_t n) {
  void* const memory = cpu::launch_shared_memory(sizeof(T) * size_t(n));
  return Shared<T>(static_cast<T*>(memory));
}
#elif defined(HIPOPS_NVIDIA)
template <class T>
HIPOPS_FN Shared<T> launch_shared(int64_t) {
  extern __shared__ uint4 from_launch[];
  return Shared<T>(reinterpret_cast<T*>(from_launch));
}
#endif

// The same for kernels that run everywhere: AMD's have Own elements of their own, other launches bring n.
template <class T, int64_t Own>
HIPOPS_FN Shared<T> static_or_launch_shared([[maybe_unused]] int64_t n) {
#if defined(HIPOPS_AMD)
  HIPOPS_SHARED(T, own, Own);
  return own;
#else
  return launch_shared<T>(n);
#endif
}

}  // namespace
}  // namespace hipops

// ---- The table by which the CPU runtime finds the kernels of a .hip file; GPUs find them by symbol.
// HIPOPS_KERNEL_TABLE(rms_norm, RmsNormArgs, HIPOPS_RMS_NORM_KERNELS) closes each file.

#if defined(HIPOPS_CPU)
#define HIPOPS_PASTE_(a, b) a##b
#define HIPOPS_PASTE(a, b) HIPOPS_PASTE_(a, b)
#define HIPOPS_KERNEL_ENTRY(name, ...) {#name, [](const void* args) { name(*static_cast<const KernelArgs*>(args)); }},
#define HIPOPS_KERNEL_TABLE(op, Args, LIST)                                     \
  using KernelArgs = Args;                                                      \
  extern const CpuKernel HIPOPS_PASTE(cpu_##op##_wave, HIPOPS_CPU_WAVE)[];      \
  const CpuKernel HIPOPS_PASTE(cpu_##op##_wave, HIPOPS_CPU_WAVE)[] = {LIST(HIPOPS_KERNEL_ENTRY){nullptr, nullptr}};
#else
#define HIPOPS_KERNEL_TABLE(op, Args, LIST)
#endif
