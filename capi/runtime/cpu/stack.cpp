#include "runtime/cpu/stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <utility>

namespace hipops {
namespace cpu {
namespace {

// A work-item needs little more than a tile of a row. Frames with a sanitizer are several times as large.
#if defined(HIPOPS_CPU_ASAN) || defined(HIPOPS_CPU_TSAN)
constexpr size_t kStackBytes = size_t{256} << 10;
#else
constexpr size_t kStackBytes = size_t{64} << 10;
#endif

// Most guard pages of all stacks. Each adds two mappings, and a process has 65530 by default, with its own. Further
// stacks, of many launches at a time, have no guard page.
constexpr uint32_t kMostGuards = 12288;
std::atomic<uint32_t> guards_in_use{0};

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
size_t stride() { return page_bytes() + kStackBytes; }

}  // namespace

std::unique_ptr<Stacks> Stacks::make(uint32_t capacity) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* base = mmap(nullptr, stride() * capacity, PROT_NONE, flags, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  try {
    return std::unique_ptr<Stacks>(new Stacks(static_cast<char*>(base), capacity));
  } catch (...) {
    munmap(base, stride() * capacity);
    throw;
  }
}

Stacks::Stacks(char* base, uint32_t capacity) : base_(base), capacity_(capacity) {
#if defined(HIPOPS_CPU_VALGRIND)
  valgrind_.reserve(capacity);
#endif
}

Stacks::~Stacks() {
#if defined(HIPOPS_CPU_VALGRIND)
  for (unsigned id : valgrind_) {
    VALGRIND_STACK_DEREGISTER(id);
    (void)id;
  }
#endif
  munmap(base_, stride() * capacity_);
  guards_in_use.fetch_sub(guards_, std::memory_order_relaxed);
}

size_t Stacks::bytes() { return kStackBytes; }

char* Stacks::guard(uint32_t index) const { return base_ + stride() * index; }

char* Stacks::open(uint32_t index) {
  char* const stack = guard(index) + page_bytes();
  if (index < opened_) return stack;
  // A process may run out of mappings before it runs out of memory. A stack without a guard page shares its neighbour's
  // mapping.
  const bool may = guards_in_use.fetch_add(1, std::memory_order_relaxed) < kMostGuards;
  if (may && mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) == 0) {
    ++guards_;
  } else {
    guards_in_use.fetch_sub(1, std::memory_order_relaxed);
    if (mprotect(guard(index), stride(), PROT_READ | PROT_WRITE) != 0) return nullptr;
  }
  ++opened_;
#if defined(HIPOPS_CPU_VALGRIND)
  valgrind_.push_back(VALGRIND_STACK_REGISTER(stack, stack + kStackBytes));
#endif
  return stack;
}

void Stacks::forget_frames() {
#if defined(HIPOPS_CPU_ASAN)
  // Dropped fibers leave frames on their stacks. The red zones of the frames are still poisoned.
  for (uint32_t i = 0; i < opened_; ++i) __asan_unpoison_memory_region(guard(i) + page_bytes(), kStackBytes);
#endif
}

StackPool::StackPool(uint32_t most, uint32_t capacity) : capacity_(capacity) { kept_.reserve(most); }

std::unique_ptr<Stacks> StackPool::take() {
  {
    std::lock_guard<std::mutex> hold(lock_);
    if (!kept_.empty()) {
      std::unique_ptr<Stacks> stacks = std::move(kept_.back());
      kept_.pop_back();
      return stacks;
    }
  }
  return Stacks::make(capacity_);
}

void StackPool::give_back(std::unique_ptr<Stacks> stacks) {
  stacks->forget_frames();
  std::lock_guard<std::mutex> hold(lock_);
  if (kept_.size() < kept_.capacity()) kept_.push_back(std::move(stacks));
}

// If another thread held the lock, the list may be half changed: it is abandoned, with the stacks in it.
void StackPool::after_fork() {
  if (lock_.try_lock()) return lock_.unlock();
  new (&lock_) std::mutex;
  new (&kept_) std::vector<std::unique_ptr<Stacks>>;
}

}  // namespace cpu
}  // namespace hipops
