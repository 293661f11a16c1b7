// The reports of a kernel's defects.
#include "runtime/cpu/report.h"
#include "runtime/cpu/worker.h"

namespace hipops {
namespace cpu {
namespace {

std::string exchange_at(size_t bytes, Site site) {
  if (bytes == 0) return "a ballot at " + place(site);
  return text("an exchange of %zu bytes at %s", bytes, place(site).c_str());
}

const char* verb(bool write) { return write ? "writes" : "reads"; }

}  // namespace

std::string Worker::doing(uint32_t lane) {
  const Wave& wave = wave_of(lane);
  switch (lanes_[lane].state) {
    case State::kNotStarted: return "have not started";
    case State::kReady: return lane == lane_ ? "is running" : "are ready";
    case State::kAtBarrier: return "wait at the barrier at " + place(barrier_site_);
    case State::kAtExchange: return "wait at " + exchange_at(wave.bytes, wave.site);
    case State::kEnded: return "have ended";
  }
  return "";
}

void Worker::explain_exchange(const Wave& wave, size_t bytes, uint32_t source, uint32_t lanes, Site site) {
  const std::string here = text("work-item %u reaches ", lane_) + exchange_at(bytes, site);
  if (lanes != wave_size()) defect(here + text(" in waves of %u, and the wave is %u", lanes, wave_size()));
  if (bytes > kMostExchanged) defect(here + text(": at most %zu can be exchanged", kMostExchanged));
  if (source >= wave.size) {
    const uint32_t last = wave.first + wave.size - 1;
    defect(here + text(" with the source lane %u: its wave, work-items %u-%u, has lanes 0-%u", source, wave.first, last,
                       wave.size - 1));
  }
  if (wave.ended > 0) deadlock(here + ", which others of its wave ended without");
  deadlock(here + ", while others of its wave wait for something else");
}

void Worker::explain_barrier(const Wave& wave, Site site) {
  const std::string here = text("work-item %u reaches the barrier at ", lane_) + place(site);
  if (ended_ > 0) deadlock(here + ", which others of its block ended without");
  if (wave.at_exchange > 0) deadlock(here + ", while others of its wave wait at an exchange");
  deadlock(here + ", while others of its block wait at another barrier");
}

void Worker::explain_end(const Wave& wave) {
  const char* where =
      wave.at_exchange > 0 ? "others of its wave wait at an exchange" : "others of its block wait at a barrier";
  deadlock(text("work-item %u has ended, while %s", lane_, where));
}

void Worker::explain_stuck() { deadlock("no work-item can run"); }

void Worker::explain_align(size_t align) {
  defect(text("work-item %u requests shared memory aligned to %zu, expected a power of two of at most %zu", lane_, align,
              SharedMemory::kLargestAlign));
}

void Worker::explain_shared_limit(size_t bytes) {
  defect(text("work-item %u requests %zu bytes of shared memory with %zu in use: a block can have %zu", lane_, bytes,
              shared_.used(), SharedMemory::kLimit));
}

void Worker::explain_shared_request(const SharedMemory::Piece& piece, size_t bytes, size_t align) {
  defect(
      text("work-items disagree on shared memory: a piece had %zu bytes aligned to %zu, and work-item %u makes it %zu "
           "aligned to %zu",
           piece.bytes, piece.align, lane_, bytes, align));
}

void Worker::explain_launch_shared(size_t bytes) {
  defect(text("work-item %u has %zu bytes of shared memory from the launch, which brings %u", lane_, bytes,
              launch_.shared_bytes));
}

void Worker::explain_outside(const SharedMemory::Piece* piece, size_t bytes, bool write, Site site) {
  const std::string all = piece == nullptr ? "the block's shared memory"
                                           : text("its array's %zu bytes of shared memory", piece->bytes);
  defect(text("work-item %u %s %zu bytes outside of ", lane_, verb(write), bytes) + all + " at " + place(site));
}

void Worker::explain_race(const Access& earlier, const Access& now, size_t offset) {
  defect(text(
      "race at byte %zu of shared memory: work-item %u %s it at %s, work-item %u %s it at %s, and no barrier%s lies "
      "between",
      offset, earlier.lane, verb(earlier.write), place(earlier.site()).c_str(), now.lane, verb(now.write),
      place(now.site()).c_str(), earlier.wave == now.wave ? " or exchange" : ""));
}

void Worker::deadlock(const std::string& what) {
  Doings doings;
  for (uint32_t i = 0; i < size_; ++i) doings.add(i, doing(i));
  defect(what + "\n" + doings.lines());
}

void Worker::defect(const std::string& what) {
  const Settings& settings = launch_.settings;
  std::string report =
      text("hipops: defect in kernel %s, block %u of %u: ", launch_.kernel.name, block_, launch_.grid) + what;
  if (report.back() != '\n') report += '\n';
  report += text("  block of %u, HIPOPS_CPU_WAVE=%u HIPOPS_CPU_UNITS=%u HIPOPS_CPU_SEED=%llu\n", size_, settings.wave,
                 settings.units, static_cast<unsigned long long>(settings.seed));
  fatal(report);
}

}  // namespace cpu
}  // namespace hipops
