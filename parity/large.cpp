#include "parity/large.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

#include "parity/compare.h"

namespace hipops::parity::large {
namespace {

constexpr int64_t kGuardBytes = int64_t{1} << 20;
constexpr unsigned char kGuardByte = 0xa5;
constexpr int64_t kUploadBytes = int64_t{4} << 20;
constexpr int64_t kReach = 1024;                   // elements checked on either side of a border
constexpr int kRandomWindows = 2048;
constexpr size_t kExamples = 3;
constexpr int kOutOfMemory = 2;  // a hipError_t and a CUresult

std::string gib(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

// Runs work() on all processors, with the caller's device current. Rethrows the first exception.
void on_all_processors(Runtime& runtime, size_t most, const std::function<void()>& work) {
  const size_t count = std::min<size_t>({std::max(1u, std::thread::hardware_concurrency()), 16, most});
  int device = 0;
  expect_success(runtime.current_device(&device), "asking for the device");
  std::mutex lock;
  std::string problem;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      try {
        expect_success(runtime.set_device(device), "setting the device");
        work();
      } catch (const std::exception& error) {
        std::lock_guard<std::mutex> hold(lock);
        if (problem.empty()) problem = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (!problem.empty()) throw RuntimeFailure(problem);
}

// Sorts ranges, and merges those that touch.
std::vector<Range> merged(std::vector<Range> ranges, int64_t elements) {
  for (Range& range : ranges) {
    range.first = std::max<int64_t>(range.first, 0);
    range.end = std::min(range.end, elements);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> kept;
  for (const Range& range : ranges) {
    if (range.first >= range.end) continue;
    if (!kept.empty() && range.first <= kept.back().end) {
      kept.back().end = std::max(kept.back().end, range.end);
    } else {
      kept.push_back(range);
    }
  }
  return kept;
}

std::vector<Range> in_chunks(const std::vector<Range>& ranges, int64_t length) {
  std::vector<Range> chunks;
  for (const Range& range : ranges) {
    for (int64_t first = range.first; first < range.end; first += length) {
      chunks.push_back({first, std::min(first + length, range.end)});
    }
  }
  return chunks;
}

void miss(CaseResult* result, const std::string& reason) {
  result->verdict = CaseResult::Verdict::kFailed;
  result->reasons.push_back(reason);
}

}  // namespace

// ---- Patterns

Pattern random_bits(hipops_dtype dtype, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> table(kPeriod);
  for (uint64_t& bits : table) bits = random() & low_bits(dtype);
  return Pattern(dtype, std::move(table));
}

Pattern random_integers(hipops_dtype dtype, uint64_t seed, int64_t bound, int64_t period) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> table(static_cast<size_t>(period));
  for (uint64_t& bits : table) bits = random() % static_cast<uint64_t>(bound);
  return Pattern(dtype, std::move(table));
}

Pattern random_floats(hipops_dtype dtype, uint64_t seed, double reach, double step, int64_t period) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> table(static_cast<size_t>(period));
  for (uint64_t& bits : table) {
    const double value = (static_cast<double>(random() >> 11) * 0x1p-52 - 1) * reach;
    bits = encode(dtype, step == 0 ? value : std::nearbyint(value / step) * step);
  }
  return Pattern(dtype, std::move(table));
}

Pattern unwritten(hipops_dtype dtype) { return Pattern(dtype, {low_bits(dtype), low_bits(dtype)}); }

// ---- Staging

Staging::~Staging() {
  for (unsigned char* buffer : free_) runtime_.release_on_host(buffer);
}

unsigned char* Staging::borrow() {
  std::lock_guard<std::mutex> hold(lock_);
  if (free_.empty()) {
    void* pointer = nullptr;
    expect_success(runtime_.allocate_on_host(kBytes, &pointer), "allocating a buffer to copy to");
    return static_cast<unsigned char*>(pointer);
  }
  unsigned char* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void Staging::give_back(unsigned char* buffer) {
  std::lock_guard<std::mutex> hold(lock_);
  free_.push_back(buffer);
}

namespace {

class StagingBuffer {
 public:
  explicit StagingBuffer(Staging* staging) : staging_(*staging), bytes_(staging->borrow()) {}
  ~StagingBuffer() { staging_.give_back(bytes_); }
  StagingBuffer(const StagingBuffer&) = delete;
  StagingBuffer& operator=(const StagingBuffer&) = delete;
  unsigned char* bytes() const { return bytes_; }

 private:
  Staging& staging_;
  unsigned char* const bytes_;
};

}  // namespace

// ---- Memory

Memory::Memory(Runtime& runtime, std::string name, const Pattern& pattern, int64_t elements)
    : runtime_(runtime),
      name_(std::move(name)),
      pattern_(pattern),
      elements_(elements),
      element_bytes_(static_cast<int64_t>(dtype_size(pattern.dtype()))) {
  const int64_t bytes = elements * element_bytes_, all = bytes + 2 * kGuardBytes;
  void* pointer = nullptr;
  const hipops_status status = runtime.allocate(static_cast<size_t>(all), &pointer);
  if (status == HIPOPS_INTERNAL_ERROR || (status != HIPOPS_SUCCESS && hipops_last_runtime_error() == kOutOfMemory))
    throw MemoryShort(name_ + " needs " + gib(all) + ": " + hipops_last_error());
  expect_success(status, "allocating " + gib(all) + " for " + name_);
  base_ = static_cast<unsigned char*>(pointer);
  first_ = base_ + kGuardBytes;

  const std::vector<unsigned char> guard(kGuardBytes, kGuardByte);
  for (unsigned char* zone : {base_, first_ + bytes})
    expect_success(runtime.copy_to_device(zone, guard.data(), guard.size()), "filling the zones around " + name_);

  // Uploads whole periods, at least one. Copies on the device then double the filled part.
  const int64_t period = pattern.period() * element_bytes_, periods = std::max<int64_t>(kUploadBytes / period, 1);
  std::vector<unsigned char> start(static_cast<size_t>(std::min(bytes, periods * period)));
  is_pattern(pattern).write(0, static_cast<int64_t>(start.size()) / element_bytes_, start.data());
  expect_success(runtime.copy_to_device(first_, start.data(), start.size()), "filling " + name_);
  int64_t filled = static_cast<int64_t>(start.size());
  while (filled < bytes) {
    const int64_t more = std::min(filled, bytes - filled);
    expect_success(runtime.copy_on_device(first_ + filled, first_, static_cast<size_t>(more)), "filling " + name_);
    filled += more;
  }
}

Memory::~Memory() { runtime_.release(base_); }

hipops_tensor Memory::view(const std::vector<int64_t>& shape, std::vector<int64_t> stride, int64_t offset) const {
  Layout layout;
  layout.dtype = pattern_.dtype();
  layout.shape = shape;
  layout.stride = std::move(stride);
  const std::string problem = measure(&layout);
  if (!problem.empty() || offset + layout.first < 0 || offset + layout.last >= elements_)
    throw std::logic_error("a view of " + name_ + " that is not in it: " + problem);
  return parity::view(layout, first_ + offset * element_bytes_);
}

void Memory::set(int64_t element, uint64_t bits) {
  unsigned char bytes[8];
  store_bits(pattern_.dtype(), bytes, bits);
  expect_success(runtime_.copy_to_device(first_ + element * element_bytes_, bytes, dtype_size(pattern_.dtype())),
                 "changing an element of " + name_);
}

struct Memory::Difference {
  int64_t count = 0;
  int64_t worst_at = -1;
  double worst = -1;
  std::vector<std::pair<int64_t, std::string>> examples;

  void merge(const Difference& other) {
    count += other.count;
    if (other.worst > worst) worst = other.worst, worst_at = other.worst_at;
    examples.insert(examples.end(), other.examples.begin(), other.examples.end());
    std::sort(examples.begin(), examples.end());
    if (examples.size() > kExamples) examples.resize(kExamples);
  }
};

void Memory::compare(const Expectation& expectation, Range range, unsigned char* got, unsigned char* want,
                     Difference* difference) const {
  const int64_t count = range.end - range.first;
  const size_t bytes = static_cast<size_t>(count * element_bytes_);
  expect_success(runtime_.copy_to_host(got, first_ + range.first * element_bytes_, bytes),
                 "copying " + name_ + " back");
  expectation.write(range.first, count, want);
  if (std::memcmp(got, want, bytes) == 0) return;
  for (int64_t i = 0; i < count; ++i) {
    const hipops_dtype dtype = pattern_.dtype();
    const uint64_t got_bits = load_bits(dtype, got + i * element_bytes_);
    const uint64_t want_bits = load_bits(dtype, want + i * element_bytes_);
    if (got_bits == want_bits) continue;
    const int64_t place = range.first + i;
    const double error = expectation.error ? expectation.error(place, got_bits) : HUGE_VAL;
    if (error > difference->worst) difference->worst = error, difference->worst_at = place;
    if (error <= expectation.tolerance) continue;
    ++difference->count;
    if (difference->examples.size() >= kExamples) continue;
    difference->examples.emplace_back(
        place, name_ + "[" + std::to_string(place) + "]: expected " + show_bits(dtype, want_bits) + ", got " +
                   show_bits(dtype, got_bits) +
                   (expectation.error ? ", off by " + show_ulps(error) + " ULPs (tolerance " +
                                            show_ulps(expectation.tolerance) + ")"
                                      : ""));
  }
}

void Memory::check(const Expectation& expectation, const std::vector<Range>& ranges, Staging* staging,
                   CaseResult* result) const {
  const int64_t length = Staging::kBytes / element_bytes_;
  const std::vector<Range> chunks = in_chunks(merged(ranges, elements_), length);
  Difference all;
  std::mutex lock;
  std::atomic<size_t> next{0};
  on_all_processors(runtime_, chunks.size(), [&] {
    const StagingBuffer got(staging);
    std::vector<unsigned char> want(Staging::kBytes);
    Difference difference;
    for (size_t i; (i = next.fetch_add(1)) < chunks.size();)
      compare(expectation, chunks[i], got.bytes(), want.data(), &difference);
    std::lock_guard<std::mutex> hold(lock);
    all.merge(difference);
  });
  if (expectation.error && std::max(all.worst, expectation.rounding) > result->worst_ulps) {
    result->worst_ulps = std::max(all.worst, expectation.rounding);
    result->worst_output = name_;
    result->worst_position = std::max<int64_t>(all.worst_at, 0);
    result->worst_index = "[" + std::to_string(result->worst_position) + "]";
  }
  if (all.count > 0) {
    for (const auto& example : all.examples) miss(result, example.second);
    miss(result, name_ + ": " + std::to_string(all.count) + " elements are off");
  }
  check_guards(result);
}

void Memory::check_guards(CaseResult* result) const {
  std::vector<unsigned char> zone(kGuardBytes);
  const int64_t bytes = elements_ * element_bytes_;
  for (const unsigned char* at : {base_, first_ + bytes}) {
    expect_success(runtime_.copy_to_host(zone.data(), at, zone.size()), "copying the zones around " + name_);
    const auto changed = std::find_if(zone.begin(), zone.end(), [](unsigned char c) { return c != kGuardByte; });
    if (changed == zone.end()) continue;
    const int64_t byte = changed - zone.begin();
    miss(result, "wrote outside " + name_ + ": byte " +
                     (at == base_ ? std::to_string(kGuardBytes - byte) + " before its start"
                                  : std::to_string(byte + 1) + " past its end"));
  }
}

// ---- Stage

Memory& Stage::memory(const char* name, const Pattern& pattern, int64_t elements) {
  memories_.push_back(std::make_unique<Memory>(runtime_, name, pattern, elements));
  return *memories_.back();
}

void* Stage::workspace(hipops_status status, int64_t bytes) {
  expect_success(status, "asking for the workspace's size");
  return unwritten_memory("workspace", HIPOPS_U8, bytes).data();
}

void Stage::called(const std::function<hipops_status()>& call) {
  expect_success(runtime_.synchronize(), "waiting for the device");
  const auto start = std::chrono::steady_clock::now();
  expect_success(call(), "the call");
  expect_success(runtime_.synchronize(), "waiting for the device");
  result_.ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void Stage::expect(const Memory& memory, const Expectation& expectation) {
  memory.check(expectation, {{0, memory.elements()}}, &staging_, &result_);
}

void Stage::expect_samples(const Memory& memory, const Expectation& expectation, const std::vector<int64_t>& touched) {
  const int64_t bytes = static_cast<int64_t>(dtype_size(memory.pattern().dtype()));
  std::vector<int64_t> around = touched;
  for (const int64_t step : {giant(), 2 * giant() / bytes})
    for (int64_t border = 0; border < memory.elements(); border += step) around.push_back(border);
  around.push_back(memory.elements());
  std::mt19937_64 random(seed_);
  for (int i = 0; i < kRandomWindows; ++i)
    around.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(memory.elements())));
  std::vector<Range> ranges;
  for (const int64_t place : around) ranges.push_back({place - kReach, place + kReach});
  memory.check(expectation, ranges, &staging_, &result_);
}

void Stage::expect_unchanged(const Memory& memory, const std::vector<int64_t>& apart_from) {
  Expectation expectation = is_pattern(memory.pattern());
  if (!apart_from.empty()) {
    expectation.tolerance = 0;
    expectation.error = [=](int64_t i, uint64_t) {
      return std::find(apart_from.begin(), apart_from.end(), i) != apart_from.end() ? 0.0 : HUGE_VAL;
    };
  }
  expect_samples(memory, expectation);
}

// ---- Places

Places::Places(const hipops_tensor& view, int64_t offset) : lowest_(offset) {
  for (int d = 0; d < view.rank; ++d) {
    if (view.shape[d] <= 1) continue;
    Dimension next = {d, view.shape[d], view.stride[d], view.stride[d] < 0};
    if (next.backwards) {
      lowest_ += (next.size - 1) * next.stride;
      next.stride = -next.stride;
    }
    dimensions_.push_back(next);
  }
  // Elements of an output are distinct in memory, so no two strides are equal.
  std::sort(dimensions_.begin(), dimensions_.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
  if (dimensions_.empty() || dimensions_.back().stride != 1) return;
  inner_ = dimensions_.back().dimension;
  inner_step_ = dimensions_.back().backwards ? -1 : 1;
}

bool Places::find(int64_t place, int64_t* index, int64_t* run) const {
  int64_t rest = place - lowest_, enclosing = INT64_MAX;
  if (rest < 0) {
    *run = -rest;
    return false;
  }
  for (const Dimension& d : dimensions_) {
    const int64_t position = rest / d.stride;
    if (position >= d.size) {
      *run = enclosing - rest;
      return false;
    }
    index[d.dimension] = d.backwards ? d.size - 1 - position : position;
    if (&d == &dimensions_.back() && d.stride == 1) {
      *run = d.size - position;
      return true;
    }
    rest -= position * d.stride;
    enclosing = d.stride;
  }
  // An element alone, or a gap.
  *run = rest == 0 ? 1 : enclosing - rest;
  return rest == 0;
}

}  // namespace hipops::parity::large
