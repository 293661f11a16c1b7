// Resizing where y has no gaps: a vector of y may contain the end of a row or plane and the beginning of the next. One
// formula computes the sources for all rules in f32. More code would be slower: instructions that run once must be
// fetched, which costs about 3 us of a launch with cold operands.
#pragma once

#include "device/move/upsample.h"

namespace hipops {
namespace {

// The number that the ratio multiplies, for position i of a dimension, and the ratio. In F.
HIPOPS_FN float position_of(const UpsampleSources& d, int32_t i, float) { return float(i) + d.offset; }
HIPOPS_FN double position_of(const UpsampleSources&, int32_t i, double) { return double(i); }
HIPOPS_FN float ratio_of(const UpsampleSources& d, float) { return d.ratio; }
HIPOPS_FN double ratio_of(const UpsampleSources& d, double) { return d.ratio64; }

// All values fit an int32_t (is_simple in capi/move/upsample_periods.cpp). A check would be a branch for each element.
template <class F>
HIPOPS_FN int32_t source_at(const UpsampleSources& d, F position) {
  const int32_t whole = int32_t(position * ratio_of(d, F()));
  return whole < d.last ? whole : d.last;
}
template <class F>
HIPOPS_FN int32_t source_of(const UpsampleSources& d, int32_t i, F) { return source_at(d, position_of(d, i, F())); }

// The places in x of N elements of a period, from the period's beginning on.
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

// Moves the vector of y that begins at element `first` of its period, in up to `together` periods. It is in one line,
// or in two neighbouring lines. Its places, most of the arithmetic, are computed once.
// F is a parameter of the whole function, not of the places only: a load is issued before the next place is computed.
template <class F, bool has_channels, int length, int together, class T>
HIPOPS_FN void move_vector(const UpsamplePeriods& p, const T* x, T* y, int32_t first, int32_t periods) {
  // A period that is not moved is loaded from the first one, without a branch.
  const T* from_period[together];
#pragma unroll
  for (int k = 0; k < together; ++k) from_period[k] = keep_one_address(k < periods ? x + k * p.x_step : x);
  const int32_t pixel = has_channels ? int32_t(divide(uint32_t(first), p.channels_divisor)) : first;
  const int32_t line = int32_t(divide(uint32_t(pixel), p.column.divisor));
  const int32_t plane = int32_t(divide(uint32_t(line), p.row.divisor));
  const int32_t row = line - plane * p.row.size, column = pixel - line * p.column.size;
  const bool ends = row + 1 == p.row.size;  // the next line is in another plane
  const int32_t here = plane * p.plane_stride + source_of(p.row, row, F()) * p.row.x_stride;
  const int32_t next =
      (ends ? plane + 1 : plane) * p.plane_stride + source_of(p.row, ends ? 0 : row + 1, F()) * p.row.x_stride;
  // Columns are counted in F, which is exact for them: a conversion of each column would cost the same as its source.
  const F at = position_of(p.column, column, F()), at_next = at - F(p.column.size);
  const int32_t left = p.column.size - column;
  int32_t ahead = 0, channel = has_channels ? first - pixel * p.channels : 0;
  F columns_ahead = 0;
  Vector<T, length> value[together];
#pragma unroll
  for (int e = 0; e < length; ++e) {
    const bool beyond = ahead >= left;
    const int32_t source = source_at(p.column, (beyond ? at_next : at) + columns_ahead), from = beyond ? next : here;
    const int32_t place = has_channels ? from + source * p.column.x_stride + channel * p.channel_stride : from + source;
#pragma unroll
    for (int k = 0; k < together; ++k) value[k].element[e] = load_evict_last(element_at(from_period[k], place));
    if (!has_channels || ++channel == p.channels) channel = 0, ++ahead, columns_ahead += 1;
  }
#pragma unroll
  for (int k = 0; k < together; ++k)
    if (k < periods) store_vector_as_one<length>(y + k * p.y_step + first, value[k]);
}

// A work-item moves the same vector of up to `together` periods. Each of the last elements has a work-item, too. There
// is no loop: new blocks keep the same number of loads in flight.
template <class T, int length, int together>
HIPOPS_FN void upsample_vectors(const UpsampleArgs& a) {
  const UpsamplePeriods& p = a.periods;
  const int32_t group = int32_t(divide(uint32_t(block_index()), p.blocks_divisor)), period = group * p.together;
  const int32_t index = (int32_t(block_index()) - group * p.blocks) * kUpsampleBlock + int32_t(thread_index());
  const int32_t first = index * length, last = p.count - 1 - period, vectors = p.last_elements / length;
  const T* x = static_cast<const T*>(a.x) + period * p.x_step;
  T* y = static_cast<T*>(a.y) + period * p.y_step;
  int32_t periods = last < p.together ? last + 1 : p.together;
  if (__builtin_expect(last < p.together && index >= vectors, 0)) {
    const int32_t number[1] = {vectors * length + (index - vectors)};
    if (number[0] < p.last_elements)
      y[last * p.y_step + number[0]] = x[last * p.x_step + PlacesInPeriod<1>(p, number).place[0]];
    periods = last;
  }
  if (first >= p.elements || periods == 0) return;
  if (__builtin_expect(p.in_f64, 0)) move_vector<double, false, length, together>(p, x, y, first, periods);
  else if (p.channels == 1) move_vector<float, false, length, together>(p, x, y, first, periods);
  else move_vector<float, true, length, together>(p, x, y, first, periods);
}

template <class T>
HIPOPS_FN void upsample_run(const UpsampleArgs& a) {
  upsample_vectors<T, kRunBytes / int(sizeof(T)), kRunPeriods>(a);
}
// Shorter vectors, for neighbours in y whose sources are far apart: each load of a wave touches fewer cache lines.
template <class T>
HIPOPS_FN void upsample_apart(const UpsampleArgs& a) { upsample_vectors<T, kApartBytes / int(sizeof(T)), 1>(a); }

// Moves accesses of a single period, without a loop and without vectors. For so few accesses that the path to the first
// load is most of the launch, for lines shorter than a vector, and for channels in f64.
template <class T>
HIPOPS_FN void upsample_few(const UpsampleArgs& a) {
  const int32_t first = int32_t(block_index() * (kUpsampleFewBlock * kUpsampleFewDepth) + thread_index());
  const int32_t count = int32_t(a.count);
  int32_t i[kUpsampleFewDepth];
#pragma unroll
  for (int n = 0; n < kUpsampleFewDepth; ++n) {
    i[n] = first + n * kUpsampleFewBlock;
    if (i[n] >= count) i[n] = count - 1;  // repeated, and ignored later
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
