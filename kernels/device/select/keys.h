// Keys: the order of elements as unsigned integers, and the loads of a row's keys.
//
// The largest key is selected first. Equal elements have equal keys, so -0 has the key of +0. Every NaN has one key. A
// key is at least 1: 0 means that there is no element. Keys of 16-bit types have 16 bits.
#pragma once

#include "device/core/cache.h"
#include "device/core/aligned_span.h"
#include "device/core/scan.h"
#include "device/core/strided.h"
#include "device/select/select_contract.h"

namespace hipops {
namespace {

constexpr uint32_t kSign = 1u << 31;
constexpr uint32_t kNoColumn = UINT32_MAX;  // of an entry without an element

// How an element's bits become its key.
struct KeyRule {
  static constexpr bool kHasAbsent = false;  // every element of a window has a key above 0
  uint32_t infinity, flip, nan_key;
  HIPOPS_METHOD KeyRule(uint32_t infinity_, uint32_t flip_, uint32_t nan_key_)
      : infinity(infinity_), flip(flip_), nan_key(nan_key_) {}
  explicit HIPOPS_METHOD KeyRule(const TopkArgs& a) : KeyRule(a.infinity, a.flip, a.nan_key) {}

  template <class T>
  HIPOPS_METHOD uint32_t key_of(T element) const {
    constexpr int kShift = 32 - 8 * int(sizeof(T));
    const uint32_t bits = uint32_t(element) << kShift, ordered = bits ^ flip;
    uint32_t key = ordered ^ (uint32_t(int32_t(ordered) >> 31) | kSign);
    if (key == kSign - 1) key = kSign;
    key >>= kShift;
    return bits << 1 > infinity << 1 ? nan_key : key;
  }
};

// Keys that an earlier launch stored.
struct StoredKeys {
  static constexpr bool kHasAbsent = true;
  explicit HIPOPS_METHOD StoredKeys(const TopkArgs&) {}
  template <class T>
  HIPOPS_METHOD uint32_t key_of(T key) const { return key; }
};

// The least and the greatest word of a row's parts.
HIPOPS_FN WordRange range_of_parts(const TopkArgs& a, const uint32_t* words, int64_t row) {
  WordRange range = WidestRange::identity<WordRange>();
#pragma unroll 1
  for (int64_t part = hide_origin(lane_index()); part < a.parts; part += wave_size) {
    const uint32_t word = words[row * a.parts + part];
    range = WidestRange()(range, {word, word});
  }
  return wave_reduce<wave_size>(range, WidestRange());
}

// The bits of a row's element, for a key that several bits share.
HIPOPS_FN uint32_t element_bits(const TopkArgs& a, int64_t row, uint32_t column) {
  const int64_t at = row + int64_t(column) * a.x_step;
  return a.value_bytes == 2 ? static_cast<const uint16_t*>(a.x)[at] : static_cast<const uint32_t*>(a.x)[at];
}

// The bits of the element with this key. A row's element 0 is at `row`.
HIPOPS_FN uint32_t value_of(const TopkArgs& a, int64_t row, uint32_t key, uint32_t column) {
  const int shift = 32 - 8 * a.value_bytes;
  if (key == a.nan_key || key == kSign >> shift) return element_bits(a, row, column);
  const uint32_t wide = key << shift;
  return ((wide & kSign ? wide ^ kSign : ~wide) ^ a.flip) >> shift;
}

// The columns of a row from `begin` to `end` - 1. Vectors begin at `first`: at a multiple of 16 bytes before `begin`.
template <class T>
struct Window {
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  const T* row;
  int64_t step, first, begin, end;

  HIPOPS_METHOD Window(const T* row_, int64_t step_, int64_t begin_, int64_t end_)
      : row(row_), step(step_), first(begin_), begin(begin_), end(end_) {
    if (step == 1) first -= misalignment(row + begin);
  }
  HIPOPS_METHOD uint32_t count() const { return end - begin < UINT32_MAX ? uint32_t(end - begin) : UINT32_MAX; }
};

// The offsets of a row. Few instructions: a row's other work hides their time.
HIPOPS_FN Offsets<kSelectOperands> locate_row(const TopkArgs& a, int64_t row) {
  const Walk<kSelectOperands>& w = a.rows;
  Offsets<kSelectOperands> at{};
#pragma unroll 1
  for (int d = 0; d + 1 < w.rank; ++d) {
    const int64_t next = w.fits_int32 ? int64_t(quotient(uint32_t(row), w.dim[d])) : quotient(row, w.dim[d]);
    add_steps(w, d, row - next * w.dim[d].size, &at);
    row = next;
  }
#pragma unroll
  for (int k = 0; k < kSelectOperands; ++k) at.of[k] += row * w.outermost[k];
  return at;
}

// A number of each row, of 32 or 64 bits, between 0 and `most`.
HIPOPS_FN int64_t number_of_row(const void* numbers, int64_t at, bool are_64, int64_t most) {
  const int64_t n = are_64 ? static_cast<const int64_t*>(numbers)[at] : static_cast<const int32_t*>(numbers)[at];
  return n < 0 ? 0 : n < most ? n : most;
}

HIPOPS_FN int64_t window_begin(const TopkArgs& a, const Offsets<kSelectOperands>& at) {
  return a.row_begin == nullptr ? 0 : number_of_row(a.row_begin, at.of[kSelectBegin], a.begin_is_64, a.columns);
}

// A row's window, or the window's columns of a block's part: from `from` to `to` - 1.
template <class T>
HIPOPS_FN Window<T> window_of(const TopkArgs& a, const Offsets<kSelectOperands>& at, int64_t from, int64_t to) {
  int64_t begin = window_begin(a, at), end = a.columns;
  if (a.lengths != nullptr)
    end = begin + number_of_row(a.lengths, at.of[kSelectLengths], a.lengths_are_64, a.columns - begin);
  if (begin < from) begin = from;
  if (end > to) end = to;
  if (end < begin) end = begin;
  return Window<T>(static_cast<const T*>(a.x) + at.of[kSelectX], a.x_step, begin, end);
}

// The keys of a tile of Lanes * Depth elements, from element `tile` of the row on. A lane has vectors Lanes vectors
// apart: key[g * kLength + e] is element e of its vector g.
template <int Lanes, class Rule, class T, int Depth>
HIPOPS_FN void load_keys(const Rule& rule, const Window<T>& w, int64_t tile, uint32_t lane, uint32_t (&key)[Depth]) {
  constexpr int kLength = Window<T>::kLength, kGroups = Depth / kLength, kTogether = kGroups < 4 ? kGroups : 4;
  const T* const from = w.row + tile * w.step;
  // Elements of the tile from `low` to `high` - 1 are in the window.
  const int32_t low = w.begin > tile ? int32_t(w.begin - tile) : 0;
  const int32_t high = w.end - tile < Lanes * Depth ? int32_t(w.end - tile) : Lanes * Depth;
  const int32_t whole = (low + kLength - 1) / kLength * kLength;  // the first vector that is inside
  const bool has_vectors = w.step == 1 && whole + kLength <= high;
  // A value, because clang keeps vectors that have none in registers of their own, over all loops around this one.
  Packed<T, kLength> v[kTogether] = {};
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    if (g % kTogether == 0 && has_vectors) {
#pragma unroll
      for (int n = 0; n < kTogether; ++n) {
        const int32_t place = ((g + n) * Lanes + int32_t(lane)) * kLength;
        v[n] = load_packed_once<kLength>(from + (place >= low && place + kLength <= high ? place : whole));
      }
      issue_before_use(v);
    }
    const int32_t place = (g * Lanes + int32_t(lane)) * kLength;
    const bool is_inside = has_vectors && place >= low && place + kLength <= high;
    const bool is_edge = !is_inside && place < high && place + kLength > low;
    T element[kLength];
#pragma unroll
    for (int e = 0; e < kLength; ++e) element[e] = v[g % kTogether][e];
    if (ballot(is_edge) != 0) {
      T single[kLength];
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const int32_t at = place + e < low ? low : place + e < high ? place + e : high - 1;
        single[e] = from[at * w.step];
      }
#pragma unroll
      for (int e = 0; e < kLength; ++e)
        if (is_edge) element[e] = single[e];
    }
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      const bool is_present = uint32_t(place + e - low) < uint32_t(high - low);
      key[g * kLength + e] = is_present ? rule.key_of(element[e]) : 0;
    }
  }
}

// The results of a row.
struct RowResults {
  const TopkArgs& args;
  Offsets<kSelectOperands> at;
  HIPOPS_METHOD RowResults(const TopkArgs& a, int64_t row) : args(a), at(locate_row(a, row)) {}

  // Stores result i: an element, or none.
  HIPOPS_METHOD void store(int64_t i, bool is_element, uint32_t key, uint32_t column) const {
    const TopkArgs& a = reload_arguments(args);
    int64_t index = -1;
    uint32_t value = a.pad_value;
    if (is_element) {
      index = int64_t(column) - (a.in_window ? window_begin(a, at) : 0);
      if (a.values != nullptr) value = value_of(a, at.of[kSelectX], key, column);
    }
    const int64_t index_at = at.of[kSelectIndices] + i * a.indices_step;
    if (a.index_bytes == 8) static_cast<int64_t*>(a.indices)[index_at] = index;
    else static_cast<uint32_t*>(a.indices)[index_at] = uint32_t(index);
    if (a.values == nullptr) return;
    const int64_t value_at = at.of[kSelectValues] + i * a.values_step;
    if (a.value_bytes == 4) static_cast<uint32_t*>(a.values)[value_at] = value;
    else static_cast<uint16_t*>(a.values)[value_at] = uint16_t(value);
  }
};

// The place of entry i in order, if `is_sorted`: the number of entries that come before it. Otherwise i. Entries of a
// list are at `room` from `own` on, in the order of columns.
HIPOPS_FN uint32_t rank_of(Shared<SortEntry> room, uint32_t own, uint32_t count, uint32_t i, uint32_t key,
                           bool is_sorted) {
  constexpr uint32_t kTogether = 4;  // loads in flight
  if (!is_sorted) return i;
  uint32_t rank = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < count; first += kTogether) {
#pragma unroll
    for (uint32_t j = first; j < first + kTogether; ++j) {
      const uint32_t other = SortEntry(room[own + (j < count ? j : first)]).key;
      rank += j < count && (other > key || (other == key && j < i));
    }
  }
  return rank;
}

}  // namespace
}  // namespace hipops
