// Sums a narrow part of a row with a long list of sources. All work-items of a block load a vector each, from several
// sources. A lane for each element of the part then adds them in order, which gives the same bits as RunningSum.
#pragma once

#include "device/index/running_sum.h"

namespace hipops {
namespace {

template <class T, int Length, int Block>
class BlockSum {
 public:
  static constexpr uint32_t kVectors = 4;         // of a part: 64 bytes
  static constexpr uint32_t kStaged = 2 * Block;  // vectors

  // The part's vector that the work-item loads, and the vector with the element that it sums.
  static HIPOPS_METHOD uint32_t loaded() { return thread_index() % kVectors; }
  static HIPOPS_METHOD uint32_t added_to() { return thread_index() / Length % kVectors; }

  // y: the vector added_to(). is_live: false past the end of the row.
  HIPOPS_METHOD void begin(const T* y, bool is_live) {
    is_live_ = is_live && adds();
    if (is_live_) sum_ = Row::of(y[thread_index() % Length]);
  }
  HIPOPS_METHOD void store(T* y) const {
    if (is_live_) y[thread_index() % Length] = Row::rounded(sum_);
  }

  // x: the vector loaded() of source 0, or any vector of the row if that is past its end. All work-items call it.
  // `stage` has kStaged vectors, and is in use until the next barrier.
  HIPOPS_METHOD void add(Shared<b128> stage, const T* x, int64_t step, const uint32_t* source, uint32_t count) {
    const uint32_t own = thread_index() / kVectors, last = count - 1;
    const auto find = [&](uint32_t first, uint32_t (&place)[kEach]) {
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) {
        const uint32_t i = first + n * kLoaded + own;
        place[n] = source[i < count ? i : last];
      }
    };
    const auto load = [&](const uint32_t (&place)[kEach], b128 (&v)[kEach]) {
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n)
        v[n] = load_once<1>(reinterpret_cast<const b128*>(x + int64_t(place[n]) * step)).element[0];
    };
    uint32_t next[kEach];
    b128 v[kEach], ahead[kEach];
    find(0, next);
    load(next, v);
    find(kSources, next);
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += kSources) {
      load(next, ahead);
      find(first + 2 * kSources, next);
      barrier();  // the previous vectors have been added
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) stage[n * Block + thread_index()] = v[n];
      barrier();
      if (adds()) add_staged(stage.template as<T>(), int(count - first < kSources ? count - first : kSources));
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) v[n] = ahead[n];
    }
  }

 private:
  using Row = Summed<T>;
  static constexpr uint32_t kEach = kStaged / Block;  // vectors that a work-item loads at a time
  static constexpr uint32_t kLoaded = Block / kVectors, kSources = kEach * kLoaded;  // sources: of one load, of a stage
  static constexpr int kElements = int(kVectors) * Length, kTogether = 8;
  static_assert(kElements <= Block, "each element has a lane");

  static HIPOPS_METHOD bool adds() { return int(thread_index()) < kElements; }

  HIPOPS_METHOD void add_staged(Shared<T> element, int sources) {
    const int own = int(thread_index()), last = sources - kTogether;
    T next[kTogether];
    int n = 0;
    if (last >= 0) look(element, own, next);
#pragma unroll 1
    for (; n <= last; n += kTogether) {
      typename Row::Sum now[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) now[k] = Row::of(next[k]);
      look(element, own + (n + kTogether <= last ? n + kTogether : n) * kElements, next);
#pragma unroll
      for (int k = 0; k < kTogether; ++k) sum_ += now[k];
    }
#pragma unroll 1
    for (; n < sources; ++n) sum_ += Row::of(T(element[own + n * kElements]));
  }
  static HIPOPS_METHOD void look(Shared<T> element, int first, T (&source)[kTogether]) {
#pragma unroll
    for (int k = 0; k < kTogether; ++k) source[k] = element[first + k * kElements];
    issue_shared_loads_before_use();
  }

  bool is_live_ = false;
  typename Row::Sum sum_ = {};
};

}  // namespace
}  // namespace hipops
