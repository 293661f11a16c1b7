// Stacks for fibers, each above a guard page, many to a mapping. Launches reuse mappings: the system opens new stacks
// for a block of 256 in 1.5 ms, a hundred times as long as the block runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/sanitizer.h"

namespace hipops {
namespace cpu {

// The stacks of one worker.
class Stacks {
 public:
  // Reserves `capacity` stacks, and opens none. Null: no address space. Throws std::bad_alloc.
  static std::unique_ptr<Stacks> make(uint32_t capacity);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // The lowest address of a stack of bytes(). Null: no memory. Stacks are opened in the order of their indices, because
  // most kernels never wait and need only the first.
  char* open(uint32_t index);
  static size_t bytes();
  // Is called when no fiber uses the stacks any more.
  void forget_frames();

 private:
  Stacks(char* base, uint32_t capacity);
  char* guard(uint32_t index) const;

  char* const base_;
  const uint32_t capacity_;
  uint32_t opened_ = 0, guards_ = 0;
#if defined(HIPOPS_CPU_VALGRIND)
  std::vector<unsigned> valgrind_;
#endif
};

// Keeps stacks that no launch uses, for any thread.
class StackPool {
 public:
  // Keeps at most `most` mappings, each of `capacity` stacks.
  StackPool(uint32_t most, uint32_t capacity);

  std::unique_ptr<Stacks> take();  // null: no address space. Throws std::bad_alloc
  void give_back(std::unique_ptr<Stacks> stacks);
  // In the child of a fork: another thread may have held the lock when the process forked.
  void after_fork();

 private:
  const uint32_t capacity_;
  std::mutex lock_;
  std::vector<std::unique_ptr<Stacks>> kept_;  // never holds more than its reserved capacity
};

}  // namespace cpu
}  // namespace hipops
