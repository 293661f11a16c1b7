// The sums of a narrow part of a row with a long list of sources. A lane with a vector of the row, and a few sources on
// their way, would be at it long after all others are done: here all of a block loads, each work-item a vector of
// another source, and each of the part's elements has a lane that adds what they have loaded, in order: the same bits as
// RunningSum's.
#pragma once

#include "device/running_sum.h"

namespace hipops {
namespace {

template <class T, int Length, int Block>
class BlockSum {
 public:
  static constexpr uint32_t kVectors = 4;  // of a part: 64 bytes

  // Of the part's vectors, the one that the work-item loads, and the one that it adds to.
  static HIPOPS_METHOD uint32_t loaded() { return thread_index() % kVectors; }
  static HIPOPS_METHOD uint32_t added_to() { return thread_index() / Length % kVectors; }

  // y is the vector that is added to; is_live: whether the row has it.
  HIPOPS_METHOD void begin(const T* y, bool is_live) {
    is_live_ = is_live && adds();
    if (is_live_) sum_ = Row::of(y[thread_index() % Length]);
  }
  HIPOPS_METHOD void store(T* y) const {
    if (is_live_) y[thread_index() % Length] = Row::rounded(sum_);
  }

  // x is the vector that is loaded, of the first source that there is (past the row's end, another one of the row). The
  // next one is on its way while what has come is added, and where the two after it are is known before. All work-items of
  // the block call it, with a stage of as many vectors, which is in use until the next barrier.
  HIPOPS_METHOD void add(Shared<b128> stage, const T* x, int64_t step, const uint32_t* source, uint32_t count) {
    const uint32_t own = thread_index() / kVectors, last = count - 1;
    const auto place = [&](uint32_t first) { return source[first + own < count ? first + own : last]; };
    uint32_t next = place(kSources), next_but_one = place(2 * kSources);
    b128 v = load(x + int64_t(place(0)) * step);
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += kSources) {
      const uint32_t far = place(first + 3 * kSources);
      const b128 ahead = load(x + int64_t(next) * step);
      barrier();  // until what was there has been added
      stage[thread_index()] = v;
      barrier();
      if (adds()) add_staged(stage.template as<T>(), count - first < kSources ? count - first : kSources);
      v = ahead;
      next = next_but_one;
      next_but_one = far;
    }
  }

 private:
  using Row = Summed<T>;
  static constexpr uint32_t kSources = Block / kVectors;  // in the stage at a time
  static constexpr uint32_t kElements = kVectors * Length;
  static constexpr uint32_t kTogether = 8;
  static_assert(kSources % kTogether == 0 && kElements <= Block, "no source is left over, and each element has a lane");

  static HIPOPS_METHOD bool adds() { return thread_index() < kElements; }
  static HIPOPS_METHOD b128 load(const T* at) { return load_once<1>(reinterpret_cast<const b128*>(at)).element[0]; }

  // Those next are looked up while some are added.
  HIPOPS_METHOD void add_staged(Shared<T> element, uint32_t sources) {
    const uint32_t whole = sources / kTogether * kTogether;
    T next[kTogether];
    look(element, 0, next);
#pragma unroll 1
    for (uint32_t n = kTogether; n <= whole; n += kTogether) {
      T now[kTogether];
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) now[k] = next[k];
      look(element, n % kSources, next);
#pragma unroll
      for (uint32_t k = 0; k < kTogether; ++k) sum_ += Row::of(now[k]);
    }
#pragma unroll 1
    for (uint32_t n = whole; n < sources; ++n) sum_ += Row::of(T(element[n * kElements + thread_index()]));
  }
  static HIPOPS_METHOD void look(Shared<T> element, uint32_t first, T (&source)[kTogether]) {
#pragma unroll
    for (uint32_t k = 0; k < kTogether; ++k) source[k] = element[(first + k) * kElements + thread_index()];
  }

  bool is_live_ = false;
  typename Row::Sum sum_ = {};
};

}  // namespace
}  // namespace hipops
