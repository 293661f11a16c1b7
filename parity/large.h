// Cases past 2^31 elements and 4 GiB (hipops-parity --large). A pattern fills each tensor's memory. Its period divides
// no power of two, so an access that is off by 2^31 elements or 2^32 bytes reads a wrong value. Copies on the device
// fill the memory, and all host processors compare results with a formula, so no image is needed.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "parity/number.h"
#include "parity/run_case.h"

namespace hipops::parity::large {

// i % divisor by two multiplications, for 0 <= i and 1 < divisor with a product below 2^64.
class Modulo {
 public:
  explicit Modulo(int64_t divisor) : divisor_(static_cast<uint64_t>(divisor)), inverse_(UINT64_MAX / divisor_ + 1) {}
  int64_t operator()(int64_t i) const {
    __extension__ typedef unsigned __int128 Wide;
    const uint64_t n = static_cast<uint64_t>(i);
    return static_cast<int64_t>(n - static_cast<uint64_t>(Wide(n) * inverse_ >> 64) * divisor_);
  }

 private:
  uint64_t divisor_, inverse_;
};

// Element i of a memory: table[i % period].
class Pattern {
 public:
  Pattern(hipops_dtype dtype, std::vector<uint64_t> table)
      : dtype_(dtype), table_(std::move(table)), modulo_(static_cast<int64_t>(table_.size())) {}
  uint64_t operator()(int64_t i) const { return table_[static_cast<size_t>(modulo_(i))]; }
  hipops_dtype dtype() const { return dtype_; }
  const std::vector<uint64_t>& table() const { return table_; }
  int64_t period() const { return static_cast<int64_t>(table_.size()); }

 private:
  hipops_dtype dtype_;
  std::vector<uint64_t> table_;
  Modulo modulo_;
};

constexpr int64_t kPeriod = 65521;  // a prime

Pattern random_bits(hipops_dtype dtype, uint64_t seed);
// Values below `bound`.
Pattern random_integers(hipops_dtype dtype, uint64_t seed, int64_t bound, int64_t period = kPeriod);
// Values from -reach to reach; multiples of `step` if that is not 0.
Pattern random_floats(hipops_dtype dtype, uint64_t seed, double reach, double step = 0, int64_t period = kPeriod);
// All bits set, as in an output before the call.
Pattern unwritten(hipops_dtype dtype);

// The correct elements of a memory after the call.
struct Expectation {
  // Writes the right elements [first, first + count). Several threads call it.
  std::function<void(int64_t first, int64_t count, unsigned char* out)> write;
  // If other bits may be correct: returns the error of `got` as element i, in ULPs.
  std::function<double(int64_t i, uint64_t got)> error;
  double tolerance = 0;
  double rounding = 0;  // the largest error of the bits that `write` writes
};

// Buffers for copies from the device. Cases reuse them.
class Staging {
 public:
  static constexpr int64_t kBytes = int64_t{4} << 20;  // two buffers fit a processor's cache

  explicit Staging(Runtime& runtime) : runtime_(runtime) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Any thread may call it.
  unsigned char* borrow();
  void give_back(unsigned char* buffer);

 private:
  Runtime& runtime_;
  std::mutex lock_;
  std::vector<unsigned char*> free_;
};

struct Range {
  int64_t first, end;
};

// Elements of one dtype on the device, between guard zones.
class Memory {
 public:
  Memory(Runtime& runtime, std::string name, const Pattern& pattern, int64_t elements);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const std::string& name() const { return name_; }
  const Pattern& pattern() const { return pattern_; }
  int64_t elements() const { return elements_; }
  // Without strides: contiguous. `offset` is the offset of element 0.
  hipops_tensor view(const std::vector<int64_t>& shape, std::vector<int64_t> stride = {}, int64_t offset = 0) const;
  void* data() const { return first_; }

  void set(int64_t element, uint64_t bits);

  // Compares the elements of the ranges with the expectation, and the guard zones with their pattern.
  void check(const Expectation& expectation, const std::vector<Range>& ranges, Staging* staging,
             CaseResult* result) const;

 private:
  struct Difference;
  void compare(const Expectation& expectation, Range range, unsigned char* got, unsigned char* want,
               Difference* difference) const;
  void check_guards(CaseResult* result) const;

  Runtime& runtime_;
  const std::string name_;
  const Pattern pattern_;
  const int64_t elements_;
  const int64_t element_bytes_;
  unsigned char* base_ = nullptr;
  unsigned char* first_ = nullptr;  // element 0
};

// The device has too little memory for a case.
class MemoryShort : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The memories of a case, and its result.
class Stage {
 public:
  // Sizes and borders are divided by `scale`, a power of two.
  Stage(Runtime& runtime, Staging& staging, int64_t scale, uint64_t seed)
      : runtime_(runtime), staging_(staging), scale_(scale), seed_(seed) {}

  int64_t giant() const { return (int64_t{1} << 31) / scale_; }

  Memory& memory(const char* name, const Pattern& pattern, int64_t elements);
  Memory& unwritten_memory(const char* name, hipops_dtype dtype, int64_t elements) {
    return memory(name, unwritten(dtype), elements);
  }
  void* workspace(hipops_status status, int64_t bytes);  // of a workspace query

  // Calls, waits for the device, and notes a failure.
  void called(const std::function<hipops_status()>& call);

  void expect(const Memory& memory, const Expectation& expectation);
  // Checks only near the borders (multiples of 2^31 elements and of 4 GiB), near `touched`, and at random places.
  void expect_samples(const Memory& memory, const Expectation& expectation, const std::vector<int64_t>& touched = {});
  void expect_unchanged(const Memory& memory, const std::vector<int64_t>& apart_from = {});

  CaseResult& result() { return result_; }

 private:
  Runtime& runtime_;
  Staging& staging_;
  const int64_t scale_;
  const uint64_t seed_;
  std::vector<std::unique_ptr<Memory>> memories_;
  CaseResult result_;
};

// ---- Expectations

// Finds the element of a view at a place of the memory.
class Places {
 public:
  // The view's element 0 is element `offset` of the memory. The view's elements must be distinct.
  Places(const hipops_tensor& view, int64_t offset);

  // Whether an element is at `place`. If so, returns its index and the number of next places over which index[inner()]
  // grows by inner_step(). If not, returns the number of next places without an element.
  bool find(int64_t place, int64_t* index, int64_t* run) const;
  int inner() const { return inner_; }
  int64_t inner_step() const { return inner_step_; }

 private:
  struct Dimension {
    int dimension;
    int64_t size, stride;
    bool backwards;
  };
  std::vector<Dimension> dimensions_;  // with more than one element, the outermost first
  int64_t lowest_;
  int inner_ = 0;
  int64_t inner_step_ = 0;
};

// Calls f(T()) with the unsigned integer T that has the dtype's width.
template <class F>
void with_integer(hipops_dtype dtype, F f) {
  switch (dtype_size(dtype)) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

// The elements of a view are bits(index). The places between them do not change.
template <class Bits>
Expectation elements_are(const hipops_tensor& view, int64_t offset, const Pattern& before, Bits bits) {
  Expectation expectation;
  const Places places(view, offset);
  const hipops_dtype dtype = view.dtype;
  expectation.write = [=](int64_t place, int64_t count, unsigned char* out) {
    with_integer(dtype, [&](auto element) {
      int64_t run = 0;
      for (const int64_t end = place + count; place < end; place += run) {
        int64_t index[HIPOPS_MAX_RANK] = {};
        const bool found = places.find(place, index, &run);
        if (run > end - place) run = end - place;
        for (int64_t i = 0; i < run; ++i, out += sizeof element) {
          element = static_cast<decltype(element)>(found ? bits(index) : before(place + i));
          std::memcpy(out, &element, sizeof element);
          index[places.inner()] += places.inner_step();
        }
      }
    });
  };
  return expectation;
}

// The elements of a contiguous memory are bits(place).
template <class Bits>
Expectation each_is(hipops_dtype dtype, Bits bits) {
  Expectation expectation;
  expectation.write = [=](int64_t place, int64_t count, unsigned char* out) {
    with_integer(dtype, [&](auto element) {
      for (int64_t i = 0; i < count; ++i, out += sizeof element) {
        element = static_cast<decltype(element)>(bits(place + i));
        std::memcpy(out, &element, sizeof element);
      }
    });
  };
  return expectation;
}

inline Expectation is_pattern(const Pattern& pattern) { return each_is(pattern.dtype(), pattern); }

}  // namespace hipops::parity::large
