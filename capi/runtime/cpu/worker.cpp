#include "runtime/cpu/worker.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "runtime/cpu/report.h"

namespace hipops {
namespace cpu {
namespace {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a step, and the output function, which mixes two numbers, too.
constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;

uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint32_t ring_mask(uint32_t lanes) {
  uint32_t capacity = 1;
  while (capacity < lanes) capacity *= 2;
  return capacity - 1;
}

// The worker that the calling thread runs.
thread_local Worker* current = nullptr;

// The common sizes are single moves.
void copy_value(void* to, const void* from, size_t bytes) {
  switch (bytes) {
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    default: std::memcpy(to, from, bytes); return;
  }
}

}  // namespace

Launch::Launch(const CpuKernel& kernel_, const void* args_, uint32_t grid_, uint32_t block_, uint32_t shared_bytes_,
               const Settings& settings_, StackPool& stacks_)
    : kernel(kernel_), args(args_), grid(grid_), block(block_), shared_bytes(shared_bytes_), settings(settings_),
      stacks(stacks_) {
  if (settings.seed == 0 || grid == 1) return;
  first_ = mixed(settings.seed) % grid;
  step_ = 1 + mixed(settings.seed + kStep) % (grid - 1);
  while (std::gcd(step_, uint64_t{grid}) != 1) ++step_;
}

bool Launch::take_block(uint32_t* index) {
  if (given_up()) return false;
  const uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);
  if (i >= grid) return false;
  *index = static_cast<uint32_t>((first_ + i * step_) % grid);
  return true;
}

void Launch::give_up() { given_up_.store(true, std::memory_order_relaxed); }

Worker::Worker(Launch& launch)
    : launch_(launch),
      size_(launch.block),
      shuffled_(launch.settings.seed != 0),
      wave_shift_(launch.settings.wave == 64 ? 6 : 5),
      wave_count_(((size_ - 1) >> wave_shift_) + 1),
      fibers_(size_, body, this, launch.stacks),
      lanes_(new Lane[size_]),
      waves_(new Wave[wave_count_]),
      ready_(new uint32_t[ring_mask(size_) + size_t{1}]),
      ready_mask_(ring_mask(size_)),
      not_started_(size_),  // before the first block: like after a block
      ended_(size_),
      race_(launch.settings.race ? new RaceCheck : nullptr) {}

void Worker::run() {
  Worker* const outer = current;
  current = this;
  fibers_.run();
  current = outer;
}

void Worker::work() {
  uint32_t lane = next_lane_;  // none for the first fiber
  for (;;) {
    if (lane != kNone) run_lane(lane);
    while ((lane = pick()) == kNone) {
      if (ended_ != size_) explain_stuck();
      if (!start_block()) fibers_.leave();
    }
    if (lanes_[lane].fiber == nullptr) continue;
    fibers_.park();
    fibers_.switch_to(*lanes_[lane].fiber);
    lane = next_lane_;
  }
}

bool Worker::start_block() {
  if (!launch_.take_block(&block_)) return false;
  for (uint32_t i = 0; i < size_; ++i) {
    lanes_[i].fiber = nullptr;
    lanes_[i].state = State::kNotStarted;
  }
  for (uint32_t i = 0; i < wave_count_; ++i) {
    const uint32_t first = i << wave_shift_;
    waves_[i] = Wave{first, std::min(size_ - first, wave_size()), 0, 0, 0, 0, {nullptr, 0}, 0};
  }
  at_barrier_ = ended_ = not_started_ = 0;
  shared_.start_block();
  if (race_ != nullptr) race_->start_block();
  if (shuffled_) {
    // Depends on the block only, so a block has the same order on every thread.
    random_ = mixed(launch_.settings.seed ^ mixed(block_ + kStep));
    not_started_ = size_;
    for (uint32_t i = 0; i < size_; ++i) ready_[ready_tail_++ & ready_mask_] = i;
  }
  return true;
}

// The next lane to run. kNone: no lane can run.
inline uint32_t Worker::pick() {
  if (ready_head_ == ready_tail_) return not_started_ < size_ ? not_started_++ : kNone;
  if (shuffled_) shuffle_ready();
  return ready_[ready_head_++ & ready_mask_];
}

// Moves a random ready lane to the front.
void Worker::shuffle_ready() {
  random_ += kStep;
  const uint32_t chosen = static_cast<uint32_t>((mixed(random_) >> 32) * (ready_tail_ - ready_head_) >> 32);
  std::swap(ready_[ready_head_ & ready_mask_], ready_[(ready_head_ + chosen) & ready_mask_]);
}

void Worker::run_lane(uint32_t lane) {
  lane_ = lane;
  lanes_[lane].fiber = fibers_.running();
  lanes_[lane].state = State::kReady;
  launch_.kernel.run(launch_.args);
  end_lane(lane);
}

void Worker::end_lane(uint32_t lane) {
  Wave& wave = wave_of(lane);
  lanes_[lane].state = State::kEnded;
  if (at_barrier_ > 0 || wave.at_exchange > 0) explain_end(wave);
  ++wave.ended;
  ++ended_;
}

inline void Worker::release(uint32_t lane) {
  lanes_[lane].state = State::kReady;
  ready_[ready_tail_++ & ready_mask_] = lane;
}

// Runs other work-items until the running one is picked again. Its state names the event that it waits for.
inline void Worker::wait() {
  const uint32_t self = lane_;
  const uint32_t next = pick();
  if (next == self) return;
  if (next == kNone) explain_stuck();
  Fiber* fiber = lanes_[next].fiber;
  if (fiber == nullptr) {
    fiber = fibers_.take();
    if (fiber == nullptr) give_up();
    next_lane_ = next;
  }
  fibers_.switch_to(*fiber);
  lane_ = self;
}

inline void Worker::barrier(Site site) {
  Wave& wave = wave_of(lane_);
  if (ended_ > 0 || wave.at_exchange > 0 || (at_barrier_ > 0 && !same_place(site, barrier_site_)))
    explain_barrier(wave, site);
  barrier_site_ = site;
  lanes_[lane_].state = State::kAtBarrier;
  ++wave.at_barrier;
  if (++at_barrier_ == size_) open_barrier();
  wait();
}

void Worker::open_barrier() {
  at_barrier_ = 0;
  for (uint32_t i = 0; i < wave_count_; ++i) waves_[i].at_barrier = 0;
  for (uint32_t i = 0; i < size_; ++i) release(i);
  if (race_ != nullptr) race_->passed_barrier();
}

inline void Worker::exchange(void* value, size_t bytes, uint32_t source, uint32_t lanes, Site site) {
  Wave& wave = wave_of(lane_);
  const bool valid = lanes == wave_size() && bytes <= kMostExchanged && source < wave.size;
  const bool alone = wave.at_barrier == 0 && wave.ended == 0;
  const bool agrees = wave.at_exchange == 0 || (bytes == wave.bytes && same_place(site, wave.site));
  if (!valid || !alone || !agrees) explain_exchange(wave, bytes, source, lanes, site);
  wave.site = site;
  wave.bytes = static_cast<uint32_t>(bytes);
  Lane& lane = lanes_[lane_];
  lane.state = State::kAtExchange;
  lane.value = value;
  lane.source = source;
  copy_value(lane.brought, value, bytes);
  if (++wave.at_exchange == wave.size) open_exchange(wave);
  wait();
}

inline uint64_t Worker::ballot(bool condition, uint32_t lanes, Site site) {
  uint64_t value = condition;
  exchange(&value, kBallot, 0, lanes, site);
  return value;
}

void Worker::open_exchange(Wave& wave) {
  wave.at_exchange = 0;
  ++wave.epoch;
  Lane* lanes = &lanes_[wave.first];
  if (wave.bytes == kBallot) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < wave.size; ++i) mask |= *static_cast<uint64_t*>(lanes[i].value) << i;
    for (uint32_t i = 0; i < wave.size; ++i) *static_cast<uint64_t*>(lanes[i].value) = mask;
  } else {
    for (uint32_t i = 0; i < wave.size; ++i)
      copy_value(lanes[i].value, lanes[lanes[i].source].brought, wave.bytes);
  }
  for (uint32_t i = 0; i < wave.size; ++i) release(wave.first + i);
}

// Calls f(), and gives the launch up if memory runs out. No exception may pass a kernel: its frames have no unwind
// tables.
template <class F>
auto Worker::or_give_up(F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  }
  give_up();
}

void* Worker::shared_memory(const void* key, size_t bytes, size_t align) {
  const bool valid_align = align != 0 && (align & (align - 1)) == 0 && align <= SharedMemory::kLargestAlign;
  if (!valid_align) explain_align(align);
  const SharedMemory::Piece* piece = shared_.find(key);
  if (piece == nullptr) {
    piece = or_give_up([&] { return shared_.add(key, bytes, align); });
    if (piece == nullptr) explain_shared_limit(bytes);
  }
  if (piece->bytes != bytes || piece->align != align) explain_shared_request(*piece, bytes, align);
  return shared_.address(*piece);
}

void* Worker::launch_shared_memory(size_t bytes) {
  if (bytes > launch_.shared_bytes) explain_launch_shared(bytes);
  return shared_memory(&launch_, launch_.shared_bytes, kLaunchSharedAlign);
}

void Worker::check_access(const void* base, const void* address, size_t bytes, bool write, Site site) {
  size_t offset = 0;
  const SharedMemory::Piece* piece = shared_.piece_at(base);
  if (piece == nullptr || !shared_.contains(*piece, address, bytes, &offset)) explain_outside(piece, bytes, write, site);
  static_assert(kLargestBlock <= UINT16_MAX && kLargestBlock / 32 <= UINT8_MAX, "Access has room for no more");
  Access access;
  access.file = site.file;
  access.line = site.line;
  access.lane = static_cast<uint16_t>(lane_);
  access.wave = static_cast<uint8_t>(lane_ >> wave_shift_);
  access.wave_epoch = static_cast<uint32_t>(waves_[access.wave].epoch);
  access.write = write;
  size_t at = 0;
  const Access* earlier = or_give_up([&] { return race_->check(access, offset, bytes, &at); });
  if (earlier != nullptr) explain_race(*earlier, access, at);
}

void Worker::give_up() {
  launch_.give_up();
  fibers_.leave();
}

uint32_t thread_index() { return current->thread_index(); }
uint32_t block_index() { return current->block_index(); }

// Flattened, so that one return leads from the switch to the kernel. After a switch the processor's return stack
// belongs to the other fiber, so it predicts each return wrongly.
__attribute__((flatten)) void barrier(Site site) { current->barrier(site); }

__attribute__((flatten)) void exchange(void* value, size_t bytes, uint32_t source, uint32_t wave, Site site) {
  current->exchange(value, bytes, source, wave, site);
}

__attribute__((flatten)) uint64_t ballot(bool condition, uint32_t wave, Site site) {
  return current->ballot(condition, wave, site);
}

void* shared_memory(const void* key, size_t bytes, size_t align) { return current->shared_memory(key, bytes, align); }

void* launch_shared_memory(size_t bytes) { return current->launch_shared_memory(bytes); }

void shared_access(const void* base, const void* address, size_t bytes, bool write, Site site) {
  current->shared_access(base, address, bytes, write, site);
}

}  // namespace cpu
}  // namespace hipops
