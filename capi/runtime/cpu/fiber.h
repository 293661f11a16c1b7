// The fibers of one worker thread: Boost.Context fibers. Each switches directly to the next.
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
  // Does not destroy `context`: a fiber that is suspended when its launch ends is dropped with its stack. It has
  // nothing to unwind. Resuming hundreds of fibers to end them would be slower than a short launch.
  ~Fiber() {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  union {
    boost::context::fiber context;  // resumes this fiber while it is suspended
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
  // Every fiber runs body(context), which ends by leave() and never returns.
  using Body = void (*)(void* context);

  Fibers(uint32_t capacity, Body body, void* context, StackPool& pool);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  // Makes the first fiber. False: no memory.
  bool prepare();
  // Runs the first fiber, and those that fibers switch to, until a fiber leaves. Is called once.
  void run();

  Fiber* running() { return running_; }
  // A parked fiber, or a new one if none is parked. Null: no memory for its stack.
  Fiber* take();
  // Parks the running fiber, for take(). It must switch to another fiber next.
  void park() { parked_.push_back(running_); }
  // Suspends the running fiber until another fiber switches to it.
  void switch_to(Fiber& next) {
    move_to(next, false);
#if defined(HIPOPS_CPU_ASAN)
    if (over_) leave();
#endif
  }
  // Returns to run(). No fiber of this worker runs after this.
  [[noreturn]] void leave();

  // Most fibers of all workers of a launch together. Each stack and its guard page are mappings of the process; Linux
  // allows 65530 mappings by default. ThreadSanitizer counts each fiber as one of its 8128 threads.
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
  bool over_ = false;  // every fiber that is resumed leaves
#endif
  Fiber main_;  // the thread's own stack, inside run()
  Fiber* running_ = &main_;
  Fiber* left_ = nullptr;  // the fiber that switched to the running one
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
