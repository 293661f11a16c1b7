// The fibers of one worker thread: Boost.Context fibers that switch straight from one to the next.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cpu/sanitizer.h"
#include "runtime/cpu/stack.h"

namespace hipops {
namespace cpu {

struct Fiber {
  Fiber() : context() {}
  // Leaves `context` alone: a fiber that is suspended when its launch is over is dropped together with its stack. It
  // has nothing to unwind, and to resume hundreds of them just to see them end would take longer than many a launch.
  ~Fiber() {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  union {
    boost::context::fiber context;  // what resumes it, while it is suspended
  };
#if defined(HIPOPS_CPU_ASAN)
  void* fake_stack = nullptr;
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
  bool gone = false;
#endif
#if defined(HIPOPS_CPU_TSAN)
  void* tsan = nullptr;
#endif
};

class Fibers {
 public:
  // Every fiber runs body(context), which never returns: it ends by leave().
  using Body = void (*)(void* context);

  Fibers(uint32_t capacity, Body body, void* context, StackPool& pool);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Makes the first fiber; false where there is no memory for it.
  bool prepare();
  // Runs it and those that it switches to, until one of them leaves. Only once.
  void run();

  Fiber* running() { return running_; }
  // A parked fiber, or else a new one; null where there is no memory for its stack.
  Fiber* take();
  // Puts the running fiber where take() finds it; it must switch to another one at once.
  void park() { parked_.push_back(running_); }
  // Suspends the running fiber until something switches to it.
  void switch_to(Fiber& next) {
    move_to(next, false);
#if defined(HIPOPS_CPU_ASAN)
    if (over_) leave();
#endif
  }
  // Back to run(), for good: no fiber of this worker goes on after this.
  [[noreturn]] void leave();

  // The most fibers that all workers of a launch may have together. Each stack and its guard page count against the
  // process's mappings, of which Linux allows 65530 by default; ThreadSanitizer counts each fiber as one of its 8128
  // threads.
#if defined(HIPOPS_CPU_TSAN)
  static constexpr uint32_t kMostOfLaunch = 4096;
#else
  static constexpr uint32_t kMostOfLaunch = 8192;
#endif

 private:
  Fiber* make();
  void start(Fiber& fiber, char* stack);
  void before_switch(Fiber& from, Fiber& to, bool for_good);
  void after_switch(Fiber& now);
  void move_to(Fiber& next, bool for_good);
  void arrive(Fiber& now, boost::context::fiber&& from);

  const uint32_t capacity_;
  const Body body_;
  void* const context_;
  StackPool& pool_;
  std::unique_ptr<Stacks> stacks_;
  uint32_t made_ = 0;
#if defined(HIPOPS_CPU_ASAN)
  bool over_ = false;  // every fiber that is resumed from now on leaves
#endif
  Fiber main_;  // the thread's own stack, inside run()
  Fiber* running_ = &main_;
  Fiber* left_ = nullptr;  // which fiber switched to the one that now runs
  std::unique_ptr<Fiber[]> fibers_;
  std::vector<Fiber*> parked_;  // never holds more than its reserved capacity
};

inline void Fibers::before_switch(Fiber& from, Fiber& to, bool for_good) {
#if defined(HIPOPS_CPU_ASAN)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if defined(HIPOPS_CPU_TSAN)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  (void)from, (void)to, (void)for_good;
}

inline void Fibers::after_switch(Fiber& now) {
#if defined(HIPOPS_CPU_ASAN)
  __sanitizer_finish_switch_fiber(now.fake_stack, &left_->stack_bottom, &left_->stack_bytes);
#endif
  (void)now;
}

inline void Fibers::arrive(Fiber& now, boost::context::fiber&& from) {
  after_switch(now);
  left_->context = std::move(from);
}

inline void Fibers::move_to(Fiber& next, bool for_good) {
  Fiber& self = *running_;
  left_ = &self;
  running_ = &next;
  before_switch(self, next, for_good);
  boost::context::fiber from = std::move(next.context).resume();
  arrive(self, std::move(from));
}

}  // namespace cpu
}  // namespace hipops
