// One thread of a launch. It runs block after block until no block is left.
//
// A work-item runs on a fiber until it waits; then the thread runs the next ready work-item. A fiber whose work-item
// ends runs the next work-item that has not started, also of the next block. So a kernel that never waits needs one
// fiber. Ready work-items run before those that have not started, so a wave exchanges while its stacks are in the
// cache.
//
// In a correct kernel a work-item is always ready. A work-item that waits for an ended one, or for one that waits for
// another event, is never released. The executor reports this immediately.
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

// A launch, for all of its workers.
class Launch {
 public:
  Launch(const CpuKernel& kernel, const void* args, uint32_t grid, uint32_t block, uint32_t shared_bytes,
         const Settings& settings, StackPool& stacks);

  // The next block to run, in order or shuffled by the seed. False: no block is left.
  bool take_block(uint32_t* index);
  // Memory has run out: no further block begins.
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
  // The i-th block to run is (first + i * step) mod grid; step and grid have no common divisor.
  uint64_t first_ = 0;
  uint64_t step_ = 1;
};

class Worker {
 public:
  explicit Worker(Launch& launch);

  // Makes the first fiber. False: no memory.
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
  enum class State : uint8_t { kNotStarted, kReady, kAtBarrier, kAtExchange, kEnded };
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kLaunchSharedAlign = 16;  // as NVIDIA's
  static constexpr size_t kMostExchanged = 32;
  static constexpr size_t kBallot = 0;  // as the bytes of an exchange: a ballot, with a uint64_t of each lane

  struct Lane {
    Fiber* fiber;  // that runs it; null before it starts
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
    uint32_t bytes;  // of the exchange at which lanes wait
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

  // Report a defect of the running work-item, and abort (defect.cpp).
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
  [[noreturn]] void deadlock(const std::string& what);  // a defect; lists the state of each work-item of the block
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
  // A ring of the ready lanes, each at most once.
  std::unique_ptr<uint32_t[]> ready_;
  const uint32_t ready_mask_;
  uint32_t ready_head_ = 0;
  uint32_t ready_tail_ = 0;
  uint32_t next_lane_ = kNone;  // for a fiber without a work-item that the thread switches to
  uint32_t lane_ = 0;           // that runs
  uint32_t block_ = 0;
  uint32_t not_started_;  // the first lane that has not started
  uint32_t at_barrier_ = 0;
  uint32_t ended_;
  Site barrier_site_ = {nullptr, 0};
  uint64_t random_ = 0;
  SharedMemory shared_;
  std::unique_ptr<RaceCheck> race_;  // null: no check
};

}  // namespace cpu
}  // namespace hipops
