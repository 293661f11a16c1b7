// The three machines that kernels run on:
//   AMD GPUs     clang's HIP language and builtins, without a HIP header: ROCm 5 and later compile it
//   NVIDIA GPUs  nvcc, -x cu
//   the CPU      the host compiler. Work-items are fibers of the executor (cpu.h). HIPOPS_CPU_WAVE lanes are a wave
//
// HIPOPS_KERNEL(block) declares a kernel for blocks of `block` work-items (NVIDIA: at most); HIPOPS_KERNEL_UP_TO(block)
// one for at most `block`. Their second argument is the number of blocks that an NVIDIA multiprocessor must have room
// for. A smaller number avoids spilled registers. A larger one stops the compiler from using all registers for few
// blocks. HIPOPS_ARGS(T) is a kernel's one parameter. HIPOPS_FN declares a device function.
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

// Each .hip file and target compiles kernels/device for itself. So one CPU library has the code of both wave sizes.
namespace hipops {
namespace {

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__) || defined(__gfx9_4_generic__)
#define HIPOPS_FROM_GFX90A 1
#endif

// Whether a block of 512 work-items leaves each at most 128 registers, with no other block on the unit: gfx9 before
// gfx90a. capi/runtime/hip.cpp has the same rule for a device.
#if defined(__GFX9__) && !defined(HIPOPS_FROM_GFX90A)
constexpr bool few_registers = true;
#else
constexpr bool few_registers = false;
#endif

// The machine, for numbers and branches. Only core/ and nvidia/ have code that other compilers reject, in an #if.
#if defined(HIPOPS_AMD)
constexpr bool on_amd = true, on_nvidia = false;
#elif defined(HIPOPS_NVIDIA)
constexpr bool on_amd = false, on_nvidia = true;
#else
constexpr bool on_amd = false, on_nvidia = false;
#endif

// ---- Differences between machines, by name.

// Whether instructions can read a launch's arguments in place. On AMD they are in scalar registers, and gfx9 has few.
constexpr bool arguments_are_operands = on_nvidia;

// Whether the bound on work-items (HIPOPS_KERNEL_UP_TO) decides how many registers a kernel has: NVIDIA, and the CPU
// with waves of 32, which follows it. On AMD the bound is only a limit: a kernel has as few registers as it needs.
#if defined(HIPOPS_CPU_WAVE)
constexpr bool bounds_set_registers = HIPOPS_CPU_WAVE == 32;
#else
constexpr bool bounds_set_registers = on_nvidia;
#endif

// Whether tiles in shared memory are small, so that a compute unit has room for several blocks. The CPU follows AMD with
// waves of 64.
#if defined(HIPOPS_CPU_WAVE)
constexpr bool has_small_tiles = HIPOPS_CPU_WAVE == 64;
#else
constexpr bool has_small_tiles = on_amd;
#endif

// Whether a launch can add shared memory for each block. On AMD, kernels declare all of it.
constexpr bool has_launch_shared = !on_amd;

// Loads in flight for each work-item that keep a full device busy.
constexpr int enough_loads = on_nvidia ? 6 : 8;

// Whether a load that only some lanes need is one instruction. On AMD it needs a branch, so all lanes load.
constexpr bool loads_are_predicated = on_nvidia;

template <class To, class From>
HIPOPS_FN To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs equal sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// ---- The place of a work-item. Launches are one-dimensional.

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

// ---- NVIDIA may place a launch on the device while the previous launch ends. So every kernel begins with a wait:
// wait_for_launch_before() if its launches have begins_early, otherwise follow_launch_before(). After the wait the next
// launch may be placed (docs/design/architecture.md#nvidia).

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
HIPOPS_FN void follow_launch_before() {
#if defined(HIPOPS_NVIDIA)
  if (gridDim.x > kMostBlocksEarly) return;  // without begins_early, such a launch is never placed early
  wait_for_launch_before();
#endif
}

// ---- The block's barrier. Every work-item of the block must reach it. Shared memory that was written before it can be
// read after it. It does not order accesses to global memory: before it, a kernel must wait for each load of an address
// that another work-item overwrites after it.

#if defined(HIPOPS_AMD)
#if __clang_major__ >= 20
// Only shared memory must be ordered: global loads may stay in flight across the barrier.
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

// ---- Shared memory (AMD's LDS). HIPOPS_SHARED(T, name, n) declares `Shared<T> name`, n elements for the block. On the
// CPU each access is reported to the executor's race check.

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

  struct Index {  // has the place of the access: operator[] has no default arguments
    Index(int64_t i, const char* f = __builtin_FILE(), int l = __builtin_LINE()) : value(i), site{f, l} {}
    int64_t value;
    cpu::Site site;
  };
  Element operator[](Index i) const { return Element(base_, i.value, i.site); }
  // Atomically adds, and returns the value before. It counts as a read: several work-items may do it between barriers.
  T fetch_add(Index i, T v) const {
    const T before = (*this)[i];
    base_[i.value] = T(before + v);
    return before;
  }
  // Atomically replaces `expected` by v, and returns the value before. It counts as a read, too.
  T compare_swap(Index i, T expected, T v) const {
    const T before = (*this)[i];
    if (before == expected) base_[i.value] = v;
    return before;
  }
  template <class U>  // the same memory as elements of U
  Shared<U> as() const {
    static_assert(alignof(U) <= alignof(T), "U needs no larger alignment than T");
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
  HIPOPS_METHOD T compare_swap(int64_t i, T expected, T v) const {
#if defined(HIPOPS_AMD)
    __hip_atomic_compare_exchange_strong(base_ + i, &expected, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_WORKGROUP);
    return expected;
#else
    return atomicCAS(base_ + i, expected, v);
#endif
  }
  template <class U>
  HIPOPS_METHOD Shared<U> as() const {
    static_assert(alignof(U) <= alignof(T), "U needs no larger alignment than T");
    return Shared<U>(reinterpret_cast<U*>(base_));
  }

 private:
  T* base_;
};
#define HIPOPS_SHARED(T, name, n)                        \
  __attribute__((shared)) T name##_storage[n];           \
  ::hipops::Shared<T> name(name##_storage)
#endif

// The shared memory of a member of class Owner: Count elements, which all its objects in a block share. Members with
// one type and one length differ in Which.
template <class Owner, class T, int Count, int Which = 0>
HIPOPS_FN Shared<T> shared_member() {
  HIPOPS_SHARED(T, elements, Count);
  return elements;
}

// The shared memory that a launch adds to the kernel's own: n elements. AMD's launches add none.
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

// Shared memory for kernels that run everywhere: `Own` elements of the kernel (AMD), or n of the launch.
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

// ---- The table in which the CPU runtime finds the kernels of a .hip file. GPUs find them by symbol.
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
