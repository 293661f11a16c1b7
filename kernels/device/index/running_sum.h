// The sum of a vector of y and its sources. All modes of index_add add in this order, and get the same bits.
#pragma once

#include "device/core/cache.h"
#include "device/core/wave.h"

namespace hipops {
namespace {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

// The type of a sum. Integers are summed unsigned, so that they wrap around; the bits are the same as for signed.
template <class T> struct Summed {
  using Sum = compute_t<T>;
  static HIPOPS_METHOD Sum of(T v) { return widen(v); }
  static HIPOPS_METHOD T rounded(Sum v) { return narrow<T>(v); }
};
template <class T, class S> struct SummedInteger {
  using Sum = S;
  static HIPOPS_METHOD Sum of(T v) { return v; }
  static HIPOPS_METHOD T rounded(Sum v) { return T(v); }
};
template <> struct Summed<u8> : SummedInteger<u8, u32> {};
template <> struct Summed<u32> : SummedInteger<u32, u32> {};
template <> struct Summed<u64> : SummedInteger<u64, u64> {};

template <class T, int Length>
class RunningSum {
 public:
  using Row = Summed<T>;

  HIPOPS_METHOD void load(const T* y) {
    ask_for(y);
    begin();
  }
  // Loads y's vector without a wait: the first add() waits for it, when sources are in flight too.
  HIPOPS_METHOD void ask_for(const T* y) {
    y_ = load_packed<Length>(y);
    if constexpr (Length == 16) begin();  // or registers would hold y twice
  }

  HIPOPS_METHOD void store(T* y) const {
    Vector<T, Length> v;
#pragma unroll
    for (int i = 0; i < Length; ++i) v.element[i] = Row::rounded(sum_[i]);
    store_vector<Length>(y, v);
  }

  HIPOPS_METHOD void add(const Packed<T, Length>& source) {
    begin();
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] += Row::of(source[i]);
  }

  // Stores the sums to shared memory, which has room for the lanes of one wave.
  HIPOPS_METHOD void park(Shared<typename Row::Sum> parked, uint32_t lane) const {
#pragma unroll
    for (int i = 0; i < Length; ++i) parked[i * wave_size + lane] = sum_[i];
  }
  HIPOPS_METHOD void unpark(Shared<typename Row::Sum> parked, uint32_t lane) {
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = parked[i * wave_size + lane];
  }

  // Adds the listed sources in order, Flight in flight together, and loads the next places meanwhile. Past the end it
  // loads the last source again, from the cache, and drops it: so loads need no branch.
  template <int Flight, class Sources>
  HIPOPS_METHOD void add_list(const T* x, int64_t step, const Sources& source, uint32_t count) {
    uint32_t from[Flight];
    find(source, 0, count, from);
    for (uint32_t first = 0; first < count; first += Flight) {
      Packed<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) v[n] = load_packed_once<Length>(x + int64_t(from[n]) * step);
      issue_before_use(v);
      begin();
      find(source, first + Flight, count, from);
      add_some(v, count - first);
    }
  }

  // The same with y's vector as the first load in flight. A short list has its own path only if a wave has one list:
  // otherwise lanes of a wave would run both paths, one after the other.
  template <int Flight, class Sources>
  HIPOPS_METHOD void add_list_to(const T* y, const T* x, int64_t step, const Sources& source, uint32_t count,
                                 bool wave_has_one) {
    constexpr int kShort = 4;
    if (wave_has_one && count <= kShort) {
      ask_for(y);
      return add_short_list<kShort>(x, step, source, count);
    }
    uint32_t from[Flight];
    find(source, 0u - 1, count, from);
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = -typename Row::Sum(0);  // -0 + y is y, for -0 too
    for (uint32_t first = 0; first <= count; first += Flight) {
      Packed<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) {
        const T* at = x + int64_t(from[n]) * step;
        v[n] = load_packed_once<Length>(n == 0 && first == 0 ? y : at);
      }
      issue_before_use(v);
      find(source, first + Flight - 1, count, from);
      add_some(v, count + 1 - first);
    }
  }

  // Adds the sources of the row of `entry`, from this entry on: short runs, different for each lane of a wave.
  template <int Flight, class Lists>
  HIPOPS_METHOD void add_run(const T* x, int64_t step, const Lists& lists, uint32_t entry) {
    const uint32_t row = lists.row(entry);
    bool more = true;
    while (more) {
      uint32_t from[Flight];
      bool there[Flight];
      Packed<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) {
        there[n] = lists.is_of_row(entry + n, row, &from[n]);
        if (n > 0 && !there[n]) from[n] = from[n - 1];
      }
      if (!there[0]) return;
#pragma unroll
      for (int n = 0; n < Flight; ++n)
        if (!loads_are_predicated || there[n]) v[n] = load_packed<Length>(x + int64_t(from[n]) * step);
      issue_before_use(v);
      begin();
#pragma unroll
      for (int n = 0; n < Flight; ++n) {
        if (loads_are_predicated && !there[n]) break;
#pragma unroll
        for (int i = 0; i < Length; ++i) {
          const typename Row::Sum sum = sum_[i] + Row::of(v[n][i]);
          sum_[i] = loads_are_predicated || there[n] ? sum : sum_[i];
        }
      }
      entry += Flight;
      more = there[Flight - 1];
    }
  }

  // add_list for long lists, after load(): half of Flight is loaded while the other half is added.
  template <int Flight>
  HIPOPS_METHOD void add_long_list(const T* x, int64_t step, const uint32_t* source, uint32_t count) {
    constexpr int kHalf = Flight / 2;
    uint32_t from[kHalf], first = 0;
    Packed<T, Length> now[kHalf], next[kHalf];
    find(source, 0, count, from);
    load(x, step, from, now);
    find(source, kHalf, count, from);
    for (; count - first >= Flight; first += Flight) {
      load(x, step, from, next);
      find(source, first + Flight, count, from);
      add_all(now);
      load(x, step, from, now);
      find(source, first + Flight + kHalf, count, from);
      add_all(next);
    }
    const uint32_t left = count - first;
    if (left == 0) return;
    add_some(now, left);
    if (left > kHalf) add_list<8>(x, step, source + first + kHalf, left - kHalf);
  }

 private:
  HIPOPS_METHOD void begin() {
    if (is_here_) return;
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = Row::of(y_[i]);
  }

  template <int Flight, class Sources>
  HIPOPS_METHOD void add_short_list(const T* x, int64_t step, const Sources& source, uint32_t count) {
    if constexpr (Flight > 1) {
      if (count <= Flight / 2) return add_short_list<Flight / 2>(x, step, source, count);
    }
    uint32_t from[Flight];
    find(source, 0, count, from);
    Packed<T, Length> v[Flight];
#pragma unroll
    for (int n = 0; n < Flight; ++n) v[n] = load_packed_once<Length>(x + int64_t(from[n]) * step);
    issue_before_use(v);
    begin();
    add_some(v, count);
  }

  template <int n>
  static HIPOPS_METHOD void load(const T* x, int64_t step, const uint32_t (&from)[n], Packed<T, Length> (&v)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] = load_packed_once<Length>(x + int64_t(from[i]) * step);
  }
  template <int n>
  HIPOPS_METHOD void add_all(const Packed<T, Length> (&v)[n]) {
#pragma unroll
    for (int k = 0; k < n; ++k) {
#pragma unroll
      for (int i = 0; i < Length; ++i) sum_[i] += Row::of(v[k][i]);
    }
  }

  // Adds the first `left` vectors, at least one.
  template <int Flight>
  HIPOPS_METHOD void add_some(const Packed<T, Length> (&v)[Flight], uint32_t left) {
#pragma unroll
    for (uint32_t n = 0; n < Flight; ++n) {
#pragma unroll
      for (int i = 0; i < Length; ++i) {
        const typename Row::Sum sum = sum_[i] + Row::of(v[n][i]);
        sum_[i] = n == 0 || n < left ? sum : sum_[i];
      }
    }
  }

  // Loads the places of the sources from `first` on. Outside of the list, it uses the last place.
  template <int Count, class Sources>
  static HIPOPS_METHOD void find(const Sources& source, uint32_t first, uint32_t count, uint32_t (&from)[Count]) {
    const uint32_t last = count - 1;
#pragma unroll
    for (uint32_t n = 0; n < Count; ++n) from[n] = source[first + n < last ? first + n : last];
  }

  typename Row::Sum sum_[Length] = {};
  Packed<T, Length> y_;
  bool is_here_ = false;
};

}  // namespace
}  // namespace hipops
