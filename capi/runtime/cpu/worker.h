// One thread's share of a launch: it runs block after block, and of each block the work-items that can go on, until
// there is no block left.
//
// A work-item runs on a fiber until it waits; then the next one that can go on takes the thread. A fiber whose
// work-item ends takes the next work-item that has not started, and so on into the next block: kernels that wait
// nowhere need one fiber. By that rule, and because work-items that can go on come before those that have not started,
// a wave does its exchanges while its stacks are in the cache.
//
// In a correct kernel something can always go on. Where a work-item comes to wait for one that ended, or that waits for
// something else, nothing could release them any more, and that is reported at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/cpu/executor.h"
#include "runtime/cpu/fiber.h"
#include "runtime/cpu/race.h"
#include "runtime/cpu/shared.h"

namespace hipops {
namespace cpu {

// What the workers of a launch share.
class Launch {
 public:
  Launch(const CpuKernel& kernel, const void* args, uint32_t grid, uint32_t block, uint32_t shared_bytes,
         const Settings& settings, StackPool& stacks);

  // The next block to run, in order or shuffled by the seed; false when there is none.
  bool take_block(uint32_t* index);
  // Gives the launch up for want of memory: no further block is taken.
  void give_up();
  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

  const CpuKernel& kernel;
  const void* const args;
  const uint32_t grid;
  const uint32_t block;
  const uint32_t shared_bytes;
  const Settings& settings;
  StackPool& stacks;

 private:
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> given_up_{false};
  // Block i of the order is (first + i * step) mod grid, step and grid having no common divisor.
  uint64_t first_ = 0;
  uint64_t step_ = 1;
};

class Worker {
 public:
  explicit Worker(Launch& launch);

  // Gets the memory for the first fiber; false where there is none.
  bool prepare() { return fibers_.prepare(); }
  void run();

  // For the running work-item; see device/core/cpu.h.
  uint32_t thread_index() const { return lane_; }
  uint32_t block_index() const { return block_; }
  void barrier(Site site);
  void exchange(void* value, size_t bytes, uint32_t source, uint32_t lanes, Site site);
  uint64_t ballot(bool condition, uint32_t lanes, Site site);
  void* shared_memory(const void* key, size_t bytes, size_t align);
  void* launch_shared_memory(size_t bytes);
  void shared_access(const void* base, const void* address, size_t bytes, bool write, Site site) {
    if (race_ != nullptr) check_access(base, address, bytes, write, site);
  }

 private:
  enum class State : uint8_t { kNotStarted, kCanGoOn, kAtBarrier, kAtExchange, kEnded };
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kLaunchSharedAlign = 16;  // as NVIDIA's
  static constexpr size_t kMostExchanged = 16;
  static constexpr size_t kBallot = 0;  // bytes of an exchange that is a ballot: its values are a uint64_t each

  struct Lane {
    Fiber* fiber;  // that it runs on, null before it starts
    void* value;   // of an exchange
    uint32_t source;
    State state;
    alignas(16) unsigned char brought[kMostExchanged];
  };
  struct Wave {
    uint32_t first;  // lane
    uint32_t size;
    uint32_t at_exchange;
    uint32_t at_barrier;
    uint32_t ended;
    uint32_t bytes;  // of the exchange that lanes wait at
    Site site;
    uint64_t epoch;  // exchanges passed
  };

  static void body(void* worker) { static_cast<Worker*>(worker)->work(); }
  [[noreturn]] void work();
  bool start_block();
  void run_lane(uint32_t lane);
  void end_lane(uint32_t lane);
  uint32_t pick();
  void shuffle_ready();
  void release(uint32_t lane);
  void wait();
  void open_barrier();
  void open_exchange(Wave& wave);
  void check_access(const void* base, const void* address, size_t bytes, bool write, Site site);
  [[noreturn]] void give_up();
  template <class F>
  auto or_give_up(F f);

  // What is wrong with the running work-item's wish, in cpu/defect.cpp; they do not return.
  [[noreturn]] void explain_exchange(const Wave& wave, size_t bytes, uint32_t source, uint32_t lanes, Site site);
  [[noreturn]] void explain_barrier(const Wave& wave, Site site);
  [[noreturn]] void explain_end(const Wave& wave);
  [[noreturn]] void explain_stuck();
  [[noreturn]] void explain_align(size_t align);
  [[noreturn]] void explain_shared_limit(size_t bytes);
  [[noreturn]] void explain_shared_request(const SharedMemory::Piece& piece, size_t bytes, size_t align);
  [[noreturn]] void explain_launch_shared(size_t bytes);
  [[noreturn]] void explain_outside(const SharedMemory::Piece* piece, size_t bytes, bool write, Site site);
  [[noreturn]] void explain_race(const Access& earlier, const Access& now, size_t offset);
  [[noreturn]] void defect(const std::string& what);
  [[noreturn]] void deadlock(const std::string& what);  // a defect, with what each work-item of the block does
  std::string doing(uint32_t lane);

  Wave& wave_of(uint32_t lane) { return waves_[lane >> wave_shift_]; }
  uint32_t wave_size() const { return uint32_t{1} << wave_shift_; }

  Launch& launch_;
  const uint32_t size_;  // of the block
  const bool shuffled_;
  const uint32_t wave_shift_;
  const uint32_t wave_count_;
  Fibers fibers_;
  std::unique_ptr<Lane[]> lanes_;
  std::unique_ptr<Wave[]> waves_;
  // A ring of the lanes that can go on, each at most once.
  std::unique_ptr<uint32_t[]> ready_;
  const uint32_t ready_mask_;
  uint32_t ready_head_ = 0;
  uint32_t ready_tail_ = 0;
  uint32_t next_lane_ = kNone;  // for the fiber that is switched to without a work-item of its own
  uint32_t lane_ = 0;           // that runs
  uint32_t block_ = 0;
  uint32_t not_started_;  // the first of them, when they are started in order
  uint32_t at_barrier_ = 0;
  uint32_t ended_;
  Site barrier_site_ = {nullptr, 0};
  uint64_t random_ = 0;
  SharedMemory shared_;
  std::unique_ptr<RaceCheck> race_;  // null when not asked for
};

}  // namespace cpu
}  // namespace hipops
