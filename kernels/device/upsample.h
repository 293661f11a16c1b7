// Nearest-neighbour resizing of any of a tensor's dimensions: what upsample_nearest1d and upsample_nearest2d are made
// of.
#pragma once

#include "device/strided.h"
#include "device/upsample_contract.h"
#include "device/vector.h"

namespace hipops {
namespace {

// Positions are int32_t where they all fit (UpsampleArgs::small): conversions are one instruction then, and divisions a
// multiplication.
template <class I> struct PositionLimit;
template <> struct PositionLimit<int32_t> { static constexpr double value = 0x1p31; };
template <> struct PositionLimit<int64_t> { static constexpr double value = 0x1p63; };

HIPOPS_FN int32_t quotient(int32_t n, const UpsampleDimension& d) { return int32_t(divide(uint32_t(n), d.divisor)); }
HIPOPS_FN int64_t quotient(int64_t n, const UpsampleDimension& d) { return n / d.size; }

// floor(v), at most `last`, for v >= 0: beyond what fits an I, too.
template <class I, class F>
HIPOPS_FN I floor_to(F v, I last) {
  if (!(v < F(PositionLimit<I>::value))) return last;
  I whole = I(v);
  return whole < last ? whole : last;
}

// The rules. Each product is rounded by itself: nothing is added to it, so there is nothing to contract it with.
struct Same {
  template <class I> HIPOPS_METHOD I operator()(const UpsampleDimension&, I i) const { return i; }
};
struct Half {
  template <class I> HIPOPS_METHOD I operator()(const UpsampleDimension&, I i) const { return i >> 1; }
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

// f(rule), by a branch that is the same for all work-items.
template <class F>
HIPOPS_FN void with_rule(SourceRule rule, F f) {
  switch (rule) {
    case kSourceSame: return f(Same());
    case kSourceHalf: return f(Half());
    case kSourceFloor32: return f(Floor32());
    case kSourceFloor64: return f(Floor64());
    default: return f(Centre32());
  }
}

struct Place {
  int64_t y, x;  // offsets
};

// Adds to the places of N units what the dimensions from `first` on have to say of them; `i` is each unit's number,
// counted from that dimension. One branch for all of them: so their arithmetic is side by side.
template <class I, int N>
HIPOPS_FN void add_places(const UpsampleArgs& a, int first, I (&i)[N], Place (&at)[N]) {
  for (int k = first; k < a.rank; ++k) {
    const UpsampleDimension& d = a.dimension[k];
    I source[N];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      I outer = k + 1 < a.rank ? quotient(i[n], d) : I(0);
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

// Calls f(first) for the first of the work-item's units or vectors in turn, N of them at a time, of the `depth` that it
// takes of each tile of the block's; the next ones are kUpsampleBlock further each.
template <int N, class F>
HIPOPS_FN void for_each_batch(const UpsampleArgs& a, int depth, F f) {
  for (int64_t tile = int64_t(block_index()) * (kUpsampleBlock * depth); tile < a.count; tile += a.step) {
    for (int n = 0; n < depth; n += N) f(tile + n * kUpsampleBlock + thread_index());
  }
}

template <class T, class I, int N>
HIPOPS_FN void move_units(const UpsampleArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for_each_batch<N>(a, kUpsampleDepth, [&](int64_t first) {
    // Places past the end read the last unit, and forget it: without a branch all loads are under way before the first
    // is waited for.
    I i[N];
    Place at[N];
    T value[N];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      int64_t unit = first + n * kUpsampleBlock;
      i[n] = I(unit < a.count ? unit : a.count - 1);
      at[n] = {0, 0};
    }
    add_places(a, 0, i, at);
#pragma unroll
    for (int n = 0; n < N; ++n) value[n] = x[at[n].x];
#pragma unroll
    for (int n = 0; n < N; ++n)
      if (first + n * kUpsampleBlock < a.count) y[at[n].y] = value[n];
  });
}

template <class T, class I, int N>
HIPOPS_FN void gather_vectors(const UpsampleArgs& a, int depth) {
  constexpr int length = kWideBytes / int(sizeof(T));
  const UpsampleDimension& d = a.dimension[0];
  T* y = static_cast<T*>(a.y);
  for_each_batch<N>(a, depth, [&](int64_t first) {
    I i[N], position[N];
    Place at[N];
    Vector<T, length> value[N];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      int64_t vector = first + n * kUpsampleBlock;
      vector = vector < a.count ? vector : a.count - 1;
      i[n] = quotient(I(vector), d);
      position[n] = (I(vector) - i[n] * I(d.size)) * length;
      at[n] = {position[n], 0};
    }
    add_places(a, 1, i, at);
    with_rule(d.rule, [&](auto rule) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        const T* x = static_cast<const T*>(a.x) + at[n].x;
#pragma unroll
        for (int e = 0; e < length; ++e) value[n].element[e] = x[rule(d, I(position[n] + e)) * d.x_stride];
      }
    });
#pragma unroll
    for (int n = 0; n < N; ++n)
      if (first + n * kUpsampleBlock < a.count) store_vector<length>(y + at[n].y, value[n]);
  });
}

// A unit of y at a time, wherever it comes from. What needs 64 bits has long divisions, and moves its units one after
// the other.
template <class T>
HIPOPS_FN void upsample_any(const UpsampleArgs& a) {
  if (a.small) move_units<T, int32_t, kUpsampleDepth>(a);
  else move_units<T, int64_t, 1>(a);
}

// A vector of 16 bytes of y at a time, along a resized innermost dimension without gaps.
template <class T>
HIPOPS_FN void upsample_row(const UpsampleArgs& a) {
  constexpr int length = kWideBytes / int(sizeof(T));
  constexpr int depth = length < kUpsampleElements ? kUpsampleElements / length : 1;
  if (a.small) gather_vectors<T, int32_t, depth>(a, depth);
  else gather_vectors<T, int64_t, 1>(a, depth);
}

}  // namespace
}  // namespace hipops
