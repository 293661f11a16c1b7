// Resizing where y has no gaps, so that vectors of it may have the begin of a row, or of a plane, behind the end of
// another. Where the elements of a vector come from is found once for several periods, by one formula for all rules in f32: code
// that a launch runs but once is fetched, and that takes some 3 us of one that reads its operands from memory too.
#pragma once

#include "device/upsample.h"

namespace hipops {
namespace {

HIPOPS_FN int32_t source_of(const UpsampleSources& d, int32_t i, float) {
  return floor_to((float(i) + d.offset) * d.ratio, d.last);
}
HIPOPS_FN int32_t source_of(const UpsampleSources& d, int32_t i, double) {
  return floor_to(double(i) * d.ratio64, d.last);
}

// Of units of a period, by their numbers in it: where in x, from the period's begin, they are.
template <int N>
struct PlacesInPeriod {
  int32_t place[N] = {};

  HIPOPS_METHOD PlacesInPeriod(const UpsamplePeriods& p, const int32_t (&number)[N]) {
    int32_t i[N];
#pragma unroll
    for (int e = 0; e < N; ++e) i[e] = number[e];
    if (p.channels != 1) {
#pragma unroll
      for (int e = 0; e < N; ++e) {
        const int32_t outer = int32_t(divide(uint32_t(i[e]), p.channels_divisor));
        place[e] = (i[e] - outer * p.channels) * p.channel_stride;
        i[e] = outer;
      }
    }
    if (p.in_f64) add_sources<double>(p, i);
    else add_sources<float>(p, i);
  }

 private:
  template <class F>
  HIPOPS_METHOD void add_sources(const UpsamplePeriods& p, const int32_t (&i)[N]) {
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const int32_t line = int32_t(divide(uint32_t(i[e]), p.column.divisor));
      const int32_t plane = int32_t(divide(uint32_t(line), p.row.divisor));
      place[e] += plane * p.plane_stride + source_of(p.row, line - plane * p.row.size, F()) * p.row.x_stride +
                  source_of(p.column, i[e] - line * p.column.size, F()) * p.column.x_stride;
    }
  }
};

// A vector of periods that are a step apart, so many in flight.
template <class T, int length, int flight>
HIPOPS_FN void move_periods(const UpsampleArgs& a) {
  const UpsamplePeriods& p = a.periods;
  for (int64_t w = int64_t(block_index()) * kUpsampleBlock + thread_index(); w < a.count; w += a.step) {
    const int32_t first = int32_t(divide(uint32_t(w), p.vectors_divisor)), vector = int32_t(w) - first * p.vectors;
    int32_t elements[length];
#pragma unroll
    for (int e = 0; e < length; ++e) elements[e] = vector * length + e;
    const PlacesInPeriod<length> places(p, elements);
    T* y = static_cast<T*>(a.y) + int64_t(vector) * length;
    for (int32_t begin = first; begin < p.count; begin += flight * p.step) {
      Vector<T, length> value[flight];
#pragma unroll
      for (int n = 0; n < flight; ++n) {
        const int32_t period = begin + n * p.step;  // past the end, the last one, which is forgotten
        const T* x = row_at(static_cast<const T*>(a.x) + (period < p.count ? period : p.count - 1) * p.x_step);
#pragma unroll
        for (int e = 0; e < length; ++e) value[n].element[e] = load_evict_last(x + places.place[e]);
      }
#pragma unroll
      for (int n = 0; n < flight; ++n) {
        const int32_t period = begin + n * p.step;
        if (period < p.count) store_vector_at_once<length>(y + period * p.y_step, value[n]);
      }
    }
  }
}

// And what is after the last vector, by elements: from the last work-item on, which may have nothing else to do.
template <class T, int length>
HIPOPS_FN void upsample_periods(const UpsampleArgs& a) {
  if (a.periods.step == a.periods.count) move_periods<T, length, 1>(a);
  else move_periods<T, length, kPeriodsInFlight>(a);
  const UpsamplePeriods& p = read_anew(a).periods;
  int64_t from_last = a.step - 1 - (int64_t(block_index()) * kUpsampleBlock + thread_index());
  for (; from_last < p.rest; from_last += a.step) {
    int32_t i[1] = {p.rest_first + int32_t(from_last)};
    const T* x = static_cast<const T*>(a.x) + p.x_rest;
    static_cast<T*>(a.y)[p.y_rest + i[0]] = x[PlacesInPeriod<1>(p, i).place[0]];
  }
}

template <class T>
HIPOPS_FN void upsample_run(const UpsampleArgs& a) { upsample_periods<T, kRunBytes / int(sizeof(T))>(a); }
// Where neighbours in y come from places apart, shorter vectors: so a wave's loads are of fewer cache lines.
template <class T>
HIPOPS_FN void upsample_apart(const UpsampleArgs& a) { upsample_periods<T, kApartBytes / int(sizeof(T))>(a); }

// So few units, of a single period, that the way to the first load is most of the launch: there is no loop, and no vector.
template <class T>
HIPOPS_FN void upsample_few(const UpsampleArgs& a) {
  const int32_t first = int32_t(block_index() * (kUpsampleFewBlock * kUpsampleFewDepth) + thread_index());
  const int32_t count = int32_t(a.count);
  int32_t i[kUpsampleFewDepth];
#pragma unroll
  for (int n = 0; n < kUpsampleFewDepth; ++n) {
    i[n] = first + n * kUpsampleFewBlock;
    if (i[n] >= count) i[n] = count - 1;  // is loaded once more, and forgotten
  }
  const PlacesInPeriod<kUpsampleFewDepth> places(a.periods, i);
  const T* x = row_at(static_cast<const T*>(a.x));
  T value[kUpsampleFewDepth];
#pragma unroll
  for (int n = 0; n < kUpsampleFewDepth; ++n) value[n] = load_evict_last(x + places.place[n]);
#pragma unroll
  for (int n = 0; n < kUpsampleFewDepth; ++n) {
    const int32_t at = first + n * kUpsampleFewBlock;
    if (at < count) static_cast<T*>(a.y)[at] = value[n];
  }
}

}  // namespace
}  // namespace hipops
