#include "runtime/cpu/fiber.h"

#include <cstdlib>
#include <new>

namespace hipops {
namespace cpu {
namespace {

// Gives Boost.Context a stack that the worker owns.
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

// The offset of a fiber's stack in its page. A fiber touches mostly the first cache lines of its stack. Equal offsets
// would map these lines of all fibers to a few cache sets. Boost.Context aligns to 256 bytes, so a page has 16 offsets.
size_t colour(uint32_t index) { return size_t{index % 16} * 256; }

}  // namespace

Fibers::Fibers(uint32_t capacity, Body body, void* context, StackPool& pool)
    : capacity_(capacity), body_(body), context_(context), pool_(pool), fibers_(new Fiber[capacity]) {
  parked_.reserve(capacity);
#if defined(HIPOPS_CPU_TSAN)
  main_.tsan = __tsan_get_current_fiber();
#endif
}

Fibers::~Fibers() {
#if defined(HIPOPS_CPU_TSAN)
  for (uint32_t i = 0; i < made_; ++i) __tsan_destroy_fiber(fibers_[i].tsan);
#endif
  if (stacks_ != nullptr) pool_.give_back(std::move(stacks_));
}

bool Fibers::prepare() {
  stacks_ = pool_.take();
  if (stacks_ == nullptr) return false;
  Fiber* first = take();
  if (first == nullptr) return false;
  parked_.push_back(first);
  return true;
}

void Fibers::run() {
  switch_to(*take());
#if defined(HIPOPS_CPU_ASAN)
  // Only the fiber itself can release its fake stack, when it leaves.
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
  char* stack = stacks_->open(made_);
  if (stack == nullptr) return nullptr;
  Fiber& fiber = fibers_[made_];
  start(fiber, stack);
  ++made_;
  return &fiber;
}

void Fibers::start(Fiber& fiber, char* stack) {
  const size_t usable = Stacks::bytes() - colour(made_);
#if defined(HIPOPS_CPU_ASAN)
  fiber.stack_bottom = stack;
  fiber.stack_bytes = Stacks::bytes();
#endif
#if defined(HIPOPS_CPU_TSAN)
  // Boost.Context enters the new stack once to set it up, in a function that never returns. ThreadSanitizer has to
  // count this call in the new fiber's record of calls, not in the record of the fiber that creates it.
  fiber.tsan = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
  fiber.context =
      boost::context::fiber(std::allocator_arg, Borrowed{stack + usable, usable}, [this](boost::context::fiber&& from) {
        arrive(*running_, std::move(from));
        body_(context_);
        return boost::context::fiber();
      });
#if defined(HIPOPS_CPU_TSAN)
  __tsan_switch_to_fiber(running_->tsan, 0);
#endif
}

#if defined(HIPOPS_CPU_ASAN)
__attribute__((no_sanitize_address))  // this frame must not be on the fake stack that the fiber releases
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
