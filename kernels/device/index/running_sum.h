// The sum of a vector of y and its sources, in the order of a sum (hipops.h). All modes of index_add get the same bits.
#pragma once

#include "device/core/cache.h"
#include "device/core/wave.h"

namespace hipops {
namespace {

// The type of a sum. Integers are summed unsigned, so that they wrap around; the bits are the same as for signed.
template <class T> struct Summed {
  using Sum = compute_t<T>;
  static constexpr bool kShowsOrder = true;
  static HIPOPS_METHOD Sum of(T v) { return widen(v); }
  static HIPOPS_METHOD T rounded(Sum v) { return narrow<T>(v); }
};
template <class T, class S> struct SummedInteger {
  using Sum = S;
  static constexpr bool kShowsOrder = false;
  static HIPOPS_METHOD Sum of(T v) { return v; }
  static HIPOPS_METHOD T rounded(Sum v) { return T(v); }
};
template <> struct Summed<u8> : SummedInteger<u8, u32> {};
template <> struct Summed<u32> : SummedInteger<u32, u32> {};
template <> struct Summed<u64> : SummedInteger<u64, u64> {};

// The value of type T, of up to 4 bytes, in the lowest bits.
template <class T>
HIPOPS_FN T from_low_bits(uint32_t v) {
  if constexpr (sizeof(T) == 4) return bit_cast<T>(v);
  else if constexpr (sizeof(T) == 2) return bit_cast<T>(uint16_t(v));
  else return T(v);
}

template <class T, int Length>
class RunningSum {
 public:
  using Sum = typename Summed<T>::Sum;

  HIPOPS_METHOD void load(const T* y) {
    issue_load(y);
    begin();
  }
  // Loads y's vector without a wait: the first add() waits for it, when sources are in flight too.
  HIPOPS_METHOD void issue_load(const T* y) {
    y_ = load_packed<Length>(y);
    if constexpr (Length == 16) begin();  // or registers would hold y twice
  }

  HIPOPS_METHOD void store(T* y) const {
    Vector<T, Length> v;
#pragma unroll
    for (int i = 0; i < Length; ++i) v.element[i] = Summed<T>::rounded(sum_[i]);
    store_vector<Length>(y, v);
  }

  // Stores the sums without rounding them to y's type.
  HIPOPS_METHOD void store_sums(Sum* at) const {
    Vector<Sum, Length> v;
#pragma unroll
    for (int i = 0; i < Length; ++i) v.element[i] = sum_[i];
    store_vector<Length>(at, v);
  }

  HIPOPS_METHOD void add(const Packed<T, Length>& source) {
    begin();
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] += Summed<T>::of(source[i]);
  }

  // Stores the sums to shared memory, which has room for `lanes` lanes.
  HIPOPS_METHOD void park(Shared<Sum> parked, uint32_t lane, uint32_t lanes) const {
#pragma unroll
    for (int i = 0; i < Length; ++i) parked[i * lanes + lane] = sum_[i];
  }
  HIPOPS_METHOD void unpark(Shared<Sum> parked, uint32_t lane, uint32_t lanes) {
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = parked[i * lanes + lane];
  }

  // Adds a chunk's sources in order, with Flight loads in flight. The first is y's vector, which a chunk that is not its
  // row's first drops. Past the end it loads the last source again, and drops it, so loads need no branch.
  template <int Flight, class Sources>
  HIPOPS_METHOD void sum_chunk(const T* y, bool is_first, const T* x, int64_t step, const Sources& source,
                               uint32_t count) {
    uint32_t from[Flight];
    find(source, 0u - 1, count, from);  // y's vector is before place 0
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = is_first ? -Sum(0) : Sum(0);  // -0 + y is y
    for (uint32_t first = 0; first <= count; first += Flight) {
      Packed<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) {
        const T* at = x + int64_t(from[n]) * step;
        v[n] = load_packed_once<Length>(n == 0 && first == 0 ? y : at);
      }
      issue_before_use(v);
      find(source, first + Flight - 1, count, from);
      add_some(v, count + 1 - first, first != 0 || is_first);
    }
  }

  // The same for sources in shared memory: value(i) is source i.
  template <class Value>
  HIPOPS_METHOD void sum_values(const T* y, bool is_first, uint32_t count, Value value) {
    is_here_ = true;
    sum_[0] = is_first ? Summed<T>::of(*y) : Sum(0);
#pragma unroll 4
    for (uint32_t i = 0; i < count; ++i) sum_[0] += Summed<T>::of(value(i));
  }

  // Adds the sources of the row of `entry`, from this entry on: short segments, different for each lane of a wave.
  template <int Flight, class Lists>
  HIPOPS_METHOD void add_segment(const T* x, int64_t step, const Lists& lists, uint32_t entry) {
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
          const Sum sum = sum_[i] + Summed<T>::of(v[n][i]);
          sum_[i] = loads_are_predicated || there[n] ? sum : sum_[i];
        }
      }
      entry += Flight;
      more = there[Flight - 1];
    }
  }

 private:
  HIPOPS_METHOD void begin() {
    if (is_here_) return;
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = Summed<T>::of(y_[i]);
  }

  // Adds v[0] if `with_first`, and vectors 1 to left - 1.
  template <int Flight>
  HIPOPS_METHOD void add_some(const Packed<T, Length> (&v)[Flight], uint32_t left, bool with_first = true) {
#pragma unroll
    for (uint32_t n = 0; n < Flight; ++n) {
#pragma unroll
      for (int i = 0; i < Length; ++i) {
        const Sum sum = sum_[i] + Summed<T>::of(v[n][i]);
        sum_[i] = (n == 0 ? with_first : n < left) ? sum : sum_[i];
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

  Sum sum_[Length] = {};
  Packed<T, Length> y_;
  bool is_here_ = false;  // sum_ has y's elements
};

}  // namespace
}  // namespace hipops
