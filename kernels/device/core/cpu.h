// The CPU as a GPU: what kernels/device/ needs of the executor (capi/runtime/cpu/executor.cpp), which runs each
// work-item of a block as a fiber of one thread. A work-item runs until it waits: at a barrier for its block, at an
// exchange for its wave.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipops {

// One kernel compiled for the CPU: `run` executes one work-item. Tables of these end with a null name.
struct CpuKernel {
  const char* name;
  void (*run)(const void* args);
};

namespace cpu {

// Where in the source a work-item waits or touches shared memory, for reports and to see lanes wait for different
// things.
struct Site {
  const char* file;
  int line;
};

// Of the running work-item.
uint32_t thread_index();
uint32_t block_index();

// Of a steady clock.
uint64_t nanoseconds();

// Waits until every work-item of the block is here. One that ended, or that waits elsewhere, is a fatal report.
void barrier(Site site);

// Waits until every work-item of the wave is here, then replaces `value` (of `bytes`, at most 16) by what lane `source`
// of the wave brought. The wave is a template parameter of the kernels, so they say it: 32 or 64. A source outside the
// wave, or one past the block's end, is a fatal report.
void exchange(void* value, size_t bytes, uint32_t source, uint32_t wave, Site site);

// The same for a bit of each lane: the lanes whose condition holds.
uint64_t ballot(bool condition, uint32_t wave, Site site);

// The block's shared memory: one piece for each `key`, at the same address for every work-item and every call, as a
// __shared__ variable is one however often its declaration is passed. Filled with a NaN pattern when the block starts.
void* shared_memory(const void* key, size_t bytes, size_t align);

// What the launch brings for each block beside that, at least as many bytes: a fatal report where it brings fewer.
void* launch_shared_memory(size_t bytes);

// Told of every access to shared memory, before it happens, for the race check, and to see that it stays in the piece
// that its array, which begins at `base`, is in.
void shared_access(const void* base, const void* address, size_t bytes, bool write, Site site);

}  // namespace cpu
}  // namespace hipops
