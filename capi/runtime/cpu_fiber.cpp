#include "runtime/cpu_fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace hipops {
namespace cpu {
namespace {

// A work-item holds a tile of a row and little else. The sanitizers' frames are several times as large.
#if defined(HIPOPS_CPU_ASAN) || defined(HIPOPS_CPU_TSAN)
constexpr size_t kStackBytes = size_t{256} << 10;
#else
constexpr size_t kStackBytes = size_t{64} << 10;
#endif

// Hands Boost.Context a stack that the worker owns.
struct Borrowed {
  using traits_type = boost::context::stack_traits;
  void* top;
  size_t bytes;

  boost::context::stack_context allocate() const {
    boost::context::stack_context stack;
    stack.sp = top;
    stack.size = bytes;
    return stack;
  }
  void deallocate(boost::context::stack_context&) const noexcept {}
};

// Stacks that all begin at the same place of a page would share a few sets of the caches, as a fiber touches little but
// its first lines. Boost.Context aligns to 256 bytes: 16 different places in a page.
size_t colour(uint32_t index) { return size_t{index % 16} * 256; }

}  // namespace

Fibers::Fibers(uint32_t capacity, Body body, void* context)
    : capacity_(capacity),
      body_(body),
      context_(context),
      page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      stride_(page_ + kStackBytes),
      fibers_(new Fiber[capacity]) {
  parked_.reserve(capacity);
#if defined(HIPOPS_CPU_TSAN)
  main_.tsan = __tsan_get_current_fiber();
#endif
}

Fibers::~Fibers() {
#if defined(HIPOPS_CPU_TSAN)
  for (uint32_t i = 0; i < made_; ++i) __tsan_destroy_fiber(fibers_[i].tsan);
#endif
#if defined(HIPOPS_CPU_VALGRIND)
  for (uint32_t i = 0; i < made_; ++i) VALGRIND_STACK_DEREGISTER(fibers_[i].valgrind);
#endif
  if (stacks_ == nullptr) return;
#if defined(HIPOPS_CPU_ASAN)
  // The frames that were dropped had their red zones marked; the addresses will be somebody else's.
  for (uint32_t i = 0; i < made_; ++i) __asan_unpoison_memory_region(fibers_[i].stack, kStackBytes);
#endif
  munmap(stacks_, stride_ * capacity_);
}

bool Fibers::prepare() {
  Fiber* first = take();
  if (first == nullptr) return false;
  parked_.push_back(first);
  return true;
}

void Fibers::run() {
  switch_to(*take());
#if defined(HIPOPS_CPU_ASAN)
  // Only a fiber itself can give back its fake stack, as it leaves.
  over_ = true;
  for (uint32_t i = 0; i < made_; ++i) {
    if (!fibers_[i].gone) move_to(fibers_[i], false);
  }
#endif
}

Fiber* Fibers::take() {
  if (parked_.empty()) return make();
  Fiber* fiber = parked_.back();
  parked_.pop_back();
  return fiber;
}

Fiber* Fibers::make() {
  if (made_ == capacity_) return nullptr;
  Fiber& fiber = fibers_[made_];
  if (!open_stack(fiber, made_)) return nullptr;
  start(fiber, made_++);
  return &fiber;
}

// The whole mapping starts out closed, and each stack is opened when it is first needed: most kernels wait nowhere.
bool Fibers::open_stack(Fiber& fiber, uint32_t index) {
  if (stacks_ == nullptr) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void* mapping = mmap(nullptr, stride_ * capacity_, PROT_NONE, flags, -1, 0);
    if (mapping == MAP_FAILED) return false;
    stacks_ = static_cast<char*>(mapping);
  }
  char* guard = stacks_ + stride_ * index;
  fiber.stack = guard + page_;
  if (mprotect(fiber.stack, kStackBytes, PROT_READ | PROT_WRITE) == 0) return true;
  // A process may be out of mappings rather than out of memory. Without the guard page the stack joins its neighbour's
  // mapping.
  return mprotect(guard, stride_, PROT_READ | PROT_WRITE) == 0;
}

void Fibers::start(Fiber& fiber, uint32_t index) {
  const Borrowed stack{fiber.stack + kStackBytes - colour(index), kStackBytes - colour(index)};
#if defined(HIPOPS_CPU_ASAN)
  fiber.stack_bottom = fiber.stack;
  fiber.stack_bytes = kStackBytes;
#endif
#if defined(HIPOPS_CPU_VALGRIND)
  fiber.valgrind = VALGRIND_STACK_REGISTER(fiber.stack, fiber.stack + kStackBytes);
#endif
#if defined(HIPOPS_CPU_TSAN)
  // Boost.Context enters the new stack once to set itself up, in a function that never returns: let the fiber's own
  // record of calls grow by that, not the record of the one that makes it.
  fiber.tsan = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
  fiber.context = boost::context::fiber(std::allocator_arg, Borrowed(stack), [this](boost::context::fiber&& from) {
    arrive(*running_, std::move(from));
    body_(context_);
    return boost::context::fiber();
  });
#if defined(HIPOPS_CPU_TSAN)
  __tsan_switch_to_fiber(running_->tsan, 0);
#endif
}

#if defined(HIPOPS_CPU_ASAN)
__attribute__((no_sanitize_address))  // its own frame must not be on the fake stack that it gives back
#endif
void Fibers::leave() {
#if defined(HIPOPS_CPU_ASAN)
  running_->gone = true;
#endif
  Fiber& self = *running_;
  left_ = &self;
  running_ = &main_;
  before_switch(self, main_, true);
  std::move(main_.context).resume();
  std::abort();
}

}  // namespace cpu
}  // namespace hipops
