// Resizing where y has no gaps, so that vectors of it may have the begin of a row, or of a plane, behind the end of
// another. Where elements come from is found by one formula for all rules in f32: code that a launch runs but once is
// fetched, and that takes some 3 us of one that reads its operands from memory too.
#pragma once

#include "device/move/upsample.h"

namespace hipops {
namespace {

// Of a dimension's position i, in F: what the ratio multiplies, and the ratio.
HIPOPS_FN float position_of(const UpsampleSources& d, int32_t i, float) { return float(i) + d.offset; }
HIPOPS_FN double position_of(const UpsampleSources&, int32_t i, double) { return double(i); }
HIPOPS_FN float ratio_of(const UpsampleSources& d, float) { return d.ratio; }
HIPOPS_FN double ratio_of(const UpsampleSources& d, double) { return d.ratio64; }

// All fit an int32_t (is_simple in capi/move/upsample_periods.cpp): what asks is a branch for each element.
template <class F>
HIPOPS_FN int32_t source_at(const UpsampleSources& d, F position) {
  const int32_t whole = int32_t(position * ratio_of(d, F()));
  return whole < d.last ? whole : d.last;
}
template <class F>
HIPOPS_FN int32_t source_of(const UpsampleSources& d, int32_t i, F) { return source_at(d, position_of(d, i, F())); }

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

// A vector of y, from `first` on in its period, of one line or of it and the next. (All of it for each F, not only the
// places: so a load is on its way while the next one's place is found.)
template <class F, bool has_channels, int length, class T>
HIPOPS_FN void move_vector(const UpsamplePeriods& p, const T* x, T* y, int32_t first) {
  const int32_t pixel = has_channels ? int32_t(divide(uint32_t(first), p.channels_divisor)) : first;
  const int32_t line = int32_t(divide(uint32_t(pixel), p.column.divisor));
  const int32_t plane = int32_t(divide(uint32_t(line), p.row.divisor));
  const int32_t row = line - plane * p.row.size, column = pixel - line * p.column.size;
  const bool ends = row + 1 == p.row.size;  // the next line is another plane's
  const int32_t here = plane * p.plane_stride + source_of(p.row, row, F()) * p.row.x_stride;
  const int32_t next =
      (ends ? plane + 1 : plane) * p.plane_stride + source_of(p.row, ends ? 0 : row + 1, F()) * p.row.x_stride;
  // Columns are counted in F, which has all of them: a conversion for each would be as much as what it is for.
  const F at = position_of(p.column, column, F()), at_next = at - F(p.column.size);
  const int32_t left = p.column.size - column;
  int32_t ahead = 0, channel = has_channels ? first - pixel * p.channels : 0;
  F columns_ahead = 0;
  Vector<T, length> value;
#pragma unroll
  for (int e = 0; e < length; ++e) {
    const bool beyond = ahead >= left;
    const int32_t source = source_at(p.column, (beyond ? at_next : at) + columns_ahead), from = beyond ? next : here;
    const int32_t place = has_channels ? from + source * p.column.x_stride + channel * p.channel_stride : from + source;
    value.element[e] = load_evict_last(element_at(x, place));
    if (!has_channels || ++channel == p.channels) channel = 0, ++ahead, columns_ahead += 1;
  }
  store_vector_as_one<length>(y + first, value);
}

// A vector to a work-item, then what is left to one each, and no loop: what several vectors would share is less than
// what it costs to keep, and blocks that come and go have as much on their way.
template <class T, int length>
HIPOPS_FN void upsample_vectors(const UpsampleArgs& a) {
  const UpsamplePeriods& p = a.periods;
  const int32_t period = int32_t(divide(uint32_t(block_index()), p.blocks_divisor));
  const int32_t block = int32_t(block_index()) - period * p.blocks;
  const int32_t index = block * kUpsampleBlock + int32_t(thread_index());
  const int32_t count = period + 1 < p.count ? p.elements : p.last_elements, vectors = count / length;
  const T* x = keep_one_address(static_cast<const T*>(a.x) + period * p.x_step);
  T* y = static_cast<T*>(a.y) + period * p.y_step;
  if (__builtin_expect(index >= vectors, 0)) {
    const int32_t number[1] = {vectors * length + (index - vectors)};
    if (number[0] < count) y[number[0]] = x[PlacesInPeriod<1>(p, number).place[0]];
    return;
  }
  const int32_t first = index * length;
  if (__builtin_expect(p.in_f64, 0)) move_vector<double, false, length>(p, x, y, first);
  else if (p.channels == 1) move_vector<float, false, length>(p, x, y, first);
  else move_vector<float, true, length>(p, x, y, first);
}

template <class T>
HIPOPS_FN void upsample_run(const UpsampleArgs& a) { upsample_vectors<T, kRunBytes / int(sizeof(T))>(a); }
// Where neighbours in y come from places apart, shorter vectors: so a wave's loads are of fewer cache lines.
template <class T>
HIPOPS_FN void upsample_apart(const UpsampleArgs& a) { upsample_vectors<T, kApartBytes / int(sizeof(T))>(a); }

// Units of a single period, without a loop and without vectors: so few that the way to the first load is most of the
// launch, or of lines that are shorter than a vector, or with channels in f64.
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
  const T* x = keep_one_address(static_cast<const T*>(a.x));
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
