// Nearest-neighbour resizing of any dimensions of a tensor: the kernels of upsample_nearest1d and upsample_nearest2d.
#pragma once

#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/move/upsample_contract.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

// Positions are int32_t if all of them fit (fits_int32). Conversions and divisions then need fewer instructions.
template <class I> struct PositionLimit;
template <> struct PositionLimit<int32_t> { static constexpr double value = 0x1p31; };
template <> struct PositionLimit<int64_t> { static constexpr double value = 0x1p63; };

HIPOPS_FN int32_t quotient(int32_t n, const UpsampleDimension& d) { return int32_t(divide(uint32_t(n), d.divisor)); }
HIPOPS_FN int64_t quotient(int64_t n, const UpsampleDimension& d) { return divide(n, d.size, d.wide_divisor); }

// floor(v), at most `last`, for v >= 0, also if v does not fit I.
template <class I, class F>
HIPOPS_FN I floor_to(F v, I last) {
  if (!(v < F(PositionLimit<I>::value))) return last;
  I whole = I(v);
  return whole < last ? whole : last;
}

// The rules. A product is never part of a sum, so it cannot be fused, and is rounded by itself.
struct Same {
  template <class I> HIPOPS_METHOD I operator()(const UpsampleDimension&, I i) const { return i; }
};
struct Shifted {
  template <class I> HIPOPS_METHOD I operator()(const UpsampleDimension& d, I i) const { return i >> d.shift; }
};
struct Floor32 {
  template <class I>
  HIPOPS_METHOD I operator()(const UpsampleDimension& d, I i) const {
    return floor_to(float(i) * d.ratio32, I(d.last));
  }
};
struct Floor64 {
  template <class I>
  HIPOPS_METHOD I operator()(const UpsampleDimension& d, I i) const {
    return floor_to(double(i) * d.ratio64, I(d.last));
  }
};
struct Centre32 {
  template <class I> HIPOPS_METHOD I operator()(const UpsampleDimension& d, I i) const {
    return floor_to((float(i) + 0.5f) * d.ratio32, I(d.last));
  }
};

template <class F>
HIPOPS_FN void with_rule(SourceRule rule, F f) {
  switch (rule) {
    case kSourceSame: return f(Same());
    case kSourceShift: return f(Shifted());
    case kSourceFloor32: return f(Floor32());
    case kSourceFloor64: return f(Floor64());
    default: return f(Centre32());
  }
}

struct Place {
  int64_t y, x;  // offsets
};

// Adds the offsets of the dimensions from `first` on to N places. `i` is each element's number, counted from that
// dimension. One branch serves all N, so their arithmetic overlaps.
template <class I, int N>
HIPOPS_FN void add_places(const UpsampleDimension* dimension, int first, int rank, I (&i)[N], Place (&at)[N]) {
  for (int k = first; k < rank; ++k) {
    const UpsampleDimension& d = dimension[k];
    I source[N];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      I outer = k + 1 < rank ? quotient(i[n], d) : I(0);
      source[n] = i[n] - outer * I(d.size);
      at[n].y += source[n] * d.y_stride;
      i[n] = outer;
    }
    with_rule(d.rule, [&](auto rule) {
#pragma unroll
      for (int n = 0; n < N; ++n) source[n] = rule(d, source[n]);
    });
#pragma unroll
    for (int n = 0; n < N; ++n) at[n].x += source[n] * d.x_stride;
  }
}

// Moves one element after the other, with 64-bit positions.
template <class T>
HIPOPS_FN void move_elements(const UpsampleArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for (int64_t w = int64_t(block_index()) * kUpsampleBlock + thread_index(); w < a.count; w += a.step) {
    int64_t i[1] = {w};
    Place at[1] = {{0, 0}};
    add_places(a.dimension, 0, a.rank, i, at);
    y[at[0].y] = x[at[0].x];
  }
}

// The sources of a vector of y in a row of x. Scattered: each element has its own source. Repeated: neighbours of x,
// each several times. kOneRound: UpsampleArgs::rounds is 1 (rounds_of in capi/move/upsample_plan.cpp).
template <class T, int kLength_>
struct Scattered {
  static constexpr int kLength = kLength_;
  static constexpr bool kOneRound = kLength > 1 && sizeof(T) > 1;
  int32_t place[kLength];

  HIPOPS_METHOD Scattered(const UpsampleArgs& a, int32_t vector) {
    const UpsampleDimension& d = a.dimension[0];
    with_rule(d.rule, [&](auto rule) {
#pragma unroll
      for (int e = 0; e < kLength; ++e) place[e] = rule(d, vector * kLength + e) * int32_t(d.x_stride);
    });
  }
  HIPOPS_METHOD Vector<T, kLength> load(const T* x) const {
    const T* row = keep_one_address(x);
    Vector<T, kLength> v;
#pragma unroll
    for (int e = 0; e < kLength; ++e) v.element[e] = load_evict_last(row + place[e]);
    return v;
  }
};
template <class T, int kShift>
struct Repeated {
  static constexpr int kLength = kWideBytes / int(sizeof(T)), kPart = kLength >> kShift > 0 ? kLength >> kShift : 1;
  static constexpr bool kOneRound = true;
  int32_t place;

  HIPOPS_METHOD Repeated(const UpsampleArgs&, int32_t vector) : place(vector * kPart) {}
  HIPOPS_METHOD Vector<T, kLength> load(const T* x) const {
    const Vector<T, kPart> part = load_vector_evict_last<kPart>(x + place);
    Vector<T, kLength> v;
#pragma unroll
    for (int e = 0; e < kLength; ++e) v.element[e] = part.element[e >> kShift];
    return v;
  }
};

// A work-item moves a vector, or element, at the same place of several neighbouring rows. The sources in a row, most of
// the arithmetic, are computed once for all rows.
template <class T, int rows, class Source, bool pairs = false>
HIPOPS_FN void upsample_rows(const UpsampleArgs& a) {
  constexpr int length = Source::kLength;
  const UpsampleDimension& line = a.dimension[1];
  const int32_t groups = int32_t(line.size), last = int32_t(a.rows) - 1;
  // A constant needs no scalar register. On NVIDIA the loop is up to 5 % faster, even with one round.
  const int32_t rounds = Source::kOneRound && !arguments_are_operands ? 1 : a.rounds;
  for (int64_t w = int64_t(block_index()) * kUpsampleBlock + thread_index(); w < a.count; w += a.step) {
    const int32_t group = quotient(int32_t(w), a.dimension[0]);  // among the groups of all lines
    const int32_t vector = int32_t(w) - group * int32_t(a.dimension[0].size);
    int32_t outer[1] = {quotient(group, line)};  // the position in dimensions 2 and up
    int32_t first = (group - outer[0] * groups) * (rows * rounds);
    Place at[1] = {{int64_t(vector) * length * a.dimension[0].y_stride, 0}};
    add_places(a.dimension, 2, a.rank, outer, at);

    const Source source(a, vector);
    const T* x = static_cast<const T*>(a.x) + at[0].x;
    T* y = static_cast<T*>(a.y) + at[0].y + first * line.y_stride;
#pragma unroll 1
    for (int round = 0; round < rounds && first <= last; ++round, first += rows) {
      // Rows past the end read the last row, and ignore it.
      int32_t from[rows];
#pragma unroll
      for (int k = 0; k < rows; ++k) from[k] = first + k < last ? first + k : last;
      with_rule(line.rule, [&](auto rule) {
#pragma unroll
        for (int k = 0; k < rows; ++k) from[k] = rule(line, from[k]);
      });
      Vector<T, length> value[rows];
#pragma unroll
      for (int k = 0; k < rows; ++k) value[k] = source.load(x + from[k] * line.x_stride);
#pragma unroll
      for (int k = 0; k < rows; ++k) {
        if (first + k <= last) {
          store_vector_as_one<length>(y, value[k]);
          if (pairs && a.again[0] != 0) store_vector_as_one<length>(y + a.again[0], value[k]);
          if (pairs && a.again[1] != 0) {
            store_vector_as_one<length>(y + a.again[1], value[k]);
            if (a.again[0] != 0) store_vector_as_one<length>(y + (a.again[0] + a.again[1]), value[k]);
          }
        }
        y += line.y_stride;
      }
    }
  }
}

template <class T>
HIPOPS_FN void upsample_any(const UpsampleArgs& a) {
  if (a.fits_int32) upsample_rows<T, kUpsampleRowsOfElements, Scattered<T, 1>>(a);
  else move_elements<T>(a);
}

// The contract's rows in flight, for accesses of T.
template <class T>
struct InFlight {
  static constexpr int kRows = upsample_rows_of(sizeof(T), false, false);
  static_assert(kRows == upsample_rows_of(sizeof(T), false, true), "the same number with and without repeated rows");
  static constexpr int kRowsOfParts = upsample_rows_of(sizeof(T), true, false);
  static constexpr int kRowsOfPartsAgain = upsample_rows_of(sizeof(T), true, true);
};

// Vectors of 16 bytes of y, whose innermost dimension has no gaps.
template <class T, int shift>
HIPOPS_FN void upsample_repeated(const UpsampleArgs& a) {
  if ((a.again[0] | a.again[1]) != 0) upsample_rows<T, InFlight<T>::kRowsOfPartsAgain, Repeated<T, shift>, true>(a);
  else upsample_rows<T, InFlight<T>::kRowsOfParts, Repeated<T, shift>>(a);
}
template <class T>
HIPOPS_FN void upsample_row(const UpsampleArgs& a) {
  switch (a.repeats) {
    case 0: return upsample_rows<T, InFlight<T>::kRows, Scattered<T, kWideBytes / int(sizeof(T))>, true>(a);
    case 1: return upsample_repeated<T, 1>(a);
    default: return upsample_repeated<T, 2>(a);
  }
}

}  // namespace
}  // namespace hipops
