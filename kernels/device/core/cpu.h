// The CPU as a GPU: the functions of the executor (capi/runtime/cpu/executor.cpp) that kernels/device/ calls. Each
// work-item of a block is a fiber of one thread. It runs until it waits: at a barrier (block) or an exchange (wave).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipops {

// One kernel compiled for the CPU: `run` executes one work-item. Tables of kernels end with a null name.
struct CpuKernel {
  const char* name;
  void (*run)(const void* args);
};

namespace cpu {

// The source line at which a work-item waits or accesses shared memory. All that wait together must wait at one line.
struct Site {
  const char* file;
  int line;
};

// The running work-item's.
uint32_t thread_index();
uint32_t block_index();

// Waits until every work-item of the block is here. A work-item that ended, or waits elsewhere, is a fatal report.
void barrier(Site site);

// Waits until every work-item of the wave is here. Then replaces `value` (of `bytes`, at most 32) by the value of lane
// `source`. `wave` is 32 or 64: kernels are compiled for one size. A missing source is a fatal report.
void exchange(void* value, size_t bytes, uint32_t source, uint32_t wave, Site site);

// The lanes whose condition holds, a bit for each. It waits like exchange().
uint64_t ballot(bool condition, uint32_t wave, Site site);

// The block's shared memory: one array for each `key`, at the same address for every work-item and every call, like a
// __shared__ variable. It is filled with a NaN pattern when the block starts.
void* shared_memory(const void* key, size_t bytes, size_t align);

// The shared memory that the launch adds for each block. Less than `bytes` is a fatal report.
void* launch_shared_memory(size_t bytes);

// Called before every access to shared memory: Checks for races, and for accesses outside of the array at `base`.
void shared_access(const void* base, const void* address, size_t bytes, bool write, Site site);

}  // namespace cpu
}  // namespace hipops
