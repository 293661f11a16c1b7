// Stacks for fibers, each above a guard page, many to a mapping. Mappings are kept from launch to launch: to open the
// stacks of one block of 256 anew takes the system 1.5 ms, a hundred times as long as to run it.
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
  // Room for `capacity` stacks, none of them open. Null where there is no address space; throws std::bad_alloc.
  static std::unique_ptr<Stacks> make(uint32_t capacity);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // The lowest address of a stack of bytes(); null where there is no memory. Stacks are opened in the order of their
  // indices: most kernels wait nowhere, and need the first only.
  char* open(uint32_t index);
  static size_t bytes();
  // To be called when no fiber uses them any more.
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

// Keeps the stacks that are not in use, for any thread.
class StackPool {
 public:
  // Keeps `most` mappings of `capacity` stacks.
  StackPool(uint32_t most, uint32_t capacity);

  std::unique_ptr<Stacks> take();  // null where there is no address space; throws std::bad_alloc
  void give_back(std::unique_ptr<Stacks> stacks);
  // In the child of a fork: a thread that is gone may have been in the midst of the above.
  void after_fork();

 private:
  const uint32_t capacity_;
  std::mutex lock_;
  std::vector<std::unique_ptr<Stacks>> kept_;  // never holds more than its reserved capacity
};

}  // namespace cpu
}  // namespace hipops
