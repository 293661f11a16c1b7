// Taking elements of x along dim, as an index says: all that gather and index_select do.
#pragma once

#include "device/aligned_span.h"
#include "device/indices.h"
#include "device/shifted.h"
#include "device/stream.h"
#include "device/strided.h"
#include "device/take_contract.h"

namespace hipops {
namespace {

// The index that `units` units from unit i of the walk on have read is out of range: once for each index, by the first
// element of y that uses it.
HIPOPS_FN void report_index(const TakeArgs& a, int64_t i, int64_t units, int64_t value, int64_t mark) {
  int64_t position = i * a.vector;
  uint64_t count = uint64_t(units * a.vector);
  if (a.run != 0) {
    int64_t j = divide(position, a.run, a.run_divisor);
    count = j < a.length && j * a.run == position;
    position = j;
  }
  checked_index(a.index, value, mark, position, count);
}

// kTakeDepth units a work-item, a block's width apart, so that neighbours store side by side. All indices are loaded
// before the first is waited for, and then all units: two trips to memory for all of them.
template <class T>
HIPOPS_FN void take_any(const TakeArgs& a) {
  constexpr int64_t kTile = kTakeBlock * kTakeDepth;
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for (int64_t tile = int64_t(block_index()) * kTile; tile < a.walk.count; tile += a.step) {
    // There is no branch around loads, nor around stores but in the last tile: the compiler could not count those that
    // are under way, and would wait for all of them. What lies past the end takes the last unit once more.
    int64_t i[kTakeDepth], within[kTakeDepth], offset[kTakeDepth], value[kTakeDepth], from[kTakeDepth];
    Offsets<kTakeOperands> at[kTakeDepth];
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) {
      i[n] = tile + n * kTakeBlock + thread_index();
      within[n] = i[n] < a.walk.count ? i[n] : a.walk.count - 1;
    }
    locate(a.walk, within, at);
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) offset[n] = at[n].of[kTakeIndex];
    int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) {
      from[n] = checked_index(a.index, value[n], mark, 0, 0);
      if (from[n] == kNothing && a.index.report != nullptr && i[n] < a.walk.count)
        report_index(a, i[n], 1, value[n], mark);
    }
    // Where nothing is meant, what index 0 means is loaded, and dropped.
    T unit[kTakeDepth];
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n)
      unit[n] = load_evict_last(x + (at[n].of[kTakeX] + (from[n] == kNothing ? 0 : from[n]) * a.x_step));
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) unit[n] = from[n] == kNothing ? T{} : unit[n];
    if (tile + kTile <= a.walk.count) {
#pragma unroll
      for (int n = 0; n < kTakeDepth; ++n) y[at[n].of[kTakeY]] = unit[n];
    } else {
#pragma unroll
      for (int n = 0; n < kTakeDepth; ++n)
        if (i[n] < a.walk.count) y[at[n].of[kTakeY]] = unit[n];
    }
  }
}

// Rows that have one index each: that and all offsets are found once for the units that a work-item takes of a row, a
// step of as many as share the row apart.
template <class T>
HIPOPS_FN void take_rows(const TakeArgs& a) {
  constexpr int depth = sizeof(T) == kWideBytes ? kTakeRowsDepth : kTakeElementsDepth;
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  const int32_t lane = int32_t(thread_index() % (1u << a.lanes)), cols = int32_t(a.cols);
  for (int64_t w = int64_t(block_index()) * kTakeBlock + thread_index(); w < a.count; w += a.step) {
    const int64_t piece = w >> a.lanes;
    const int64_t r = a.walk.small ? int64_t(divide(uint32_t(piece), a.parts_divisor))
                                   : divide(piece, a.parts, a.wide_parts_divisor);
    const int32_t first = ((int32_t(piece - r * a.parts) * depth) << a.lanes) + lane;
    const Offsets<kTakeOperands> at = locate(a.walk, r);
    int64_t mark;
    const int64_t value = load_index(a.index, at.of[kTakeIndex], &mark);
    const int64_t from = checked_index(a.index, value, mark, 0, 0);
    if (from == kNothing && first == 0 && a.index.report != nullptr) report_index(a, r * a.cols, a.cols, value, mark);
    // Where nothing is meant, what index 0 means is loaded, and dropped; so is the last unit past the end.
    const T* row = x + at.of[kTakeX] + (from == kNothing ? 0 : from) * a.x_step;
    T* y_row = y + at.of[kTakeY];
    T unit[depth];
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.lanes);
      unit[n] = load_evict_last(row + (col < cols ? col : cols - 1));
    }
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.lanes);
      if (col < cols) y_row[col] = from == kNothing ? T{} : unit[n];
    }
  }
}

// The same of rows that begin anywhere.
template <class T>
HIPOPS_FN void take_shifted(const TakeArgs& a) {
  for (int64_t w = int64_t(block_index()) * kTakeBlock + thread_index(); w < a.count; w += a.step) {
    const int64_t piece = w >> a.lanes;
    const int32_t lane = int32_t(w - (piece << a.lanes));  // of more than a block, as may be
    const int64_t r = a.walk.small ? int64_t(divide(uint32_t(piece), a.parts_divisor))
                                   : divide(piece, a.parts, a.wide_parts_divisor);
    const int32_t first = ((int32_t(piece - r * a.parts) * kShiftedDepth) << a.lanes) + lane;
    const Offsets<kTakeOperands> at = locate(a.walk, r);
    int64_t mark;
    const int64_t value = load_index(a.index, at.of[kTakeIndex], &mark);
    const int64_t from = checked_index(a.index, value, mark, 0, 0);
    if (from == kNothing && first == 0 && a.index.report != nullptr) report_index(a, r * a.cols, a.cols, value, mark);
    const T* x = static_cast<const T*>(a.x) + at.of[kTakeX] + (from == kNothing ? 0 : from) * a.x_step;
    copy_shifted_row(x, static_cast<T*>(a.y) + at.of[kTakeY], int32_t(a.cols), first, a.lanes, from == kNothing);
  }
}

// Rows of x in shared memory: read in vectors from aligned addresses, but for what is before the first of those and
// after the last, and placed as in memory. What passes the end of shared memory so is placed before its first element.
template <class T>
class StagedRows {
 public:
  HIPOPS_METHOD StagedRows() : vectors_(storage()), elements_(vectors_.template as<T>()) {}

  HIPOPS_METHOD T operator[](int32_t i) const { return elements_[(shift_ + i) & (kElements - 1)]; }

  // Of `count` elements, which are a vector at least. All work-items call it, and meet before they read.
  HIPOPS_METHOD void load(const T* x, int32_t count) {
    shift_ = misplaced_by(x);
    const AlignedSpan<T> span(shift_, count);
    const T* from = x - shift_;
    const int32_t edge = span.edge();
    // There is no branch around loads: what is not wanted is some vector, or element, once more.
    b128 value[kEach];
#pragma unroll
    for (int n = 0; n < kEach; ++n) {
      const int32_t v = vector(n);
      value[n] = reinterpret_cast<const b128*>(from)[v < span.first ? span.first : v < span.last ? v : span.last - 1];
    }
    const T at_edge = from[edge < 0 ? shift_ : edge];
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) vectors_[vector(n)] = value[n];
    if (edge >= 0) elements_[edge & (kElements - 1)] = at_edge;
  }

 private:
  static constexpr int kElements = kStagedBytes / int(sizeof(T));
  static constexpr int kEach = kStagedBytes / kWideBytes / kStagedBlock;
  static_assert(kEach * kWideBytes * kStagedBlock == kStagedBytes && (kElements & (kElements - 1)) == 0,
                "one round of loads fills it, and a mask finds places in it");

  // The work-item's n-th vector.
  static HIPOPS_METHOD int32_t vector(int n) { return int32_t(thread_index()) + n * kStagedBlock; }

  static HIPOPS_METHOD Shared<b128> storage() {
    HIPOPS_SHARED(b128, vectors, kStagedBytes / kWideBytes);
    return vectors;
  }

  Shared<b128> vectors_;
  Shared<T> elements_;
  int32_t shift_ = 0;
};

// y's rows from row r on, `cols` elements in all, from x's in shared memory, by N at a time; I is the index's type.
template <int N, class I, class T>
HIPOPS_FN void take_staged_rows(const TakeArgs& a, const StagedRows<T>& rows, int64_t r, int32_t cols, int64_t offset,
                                T* y, int64_t mark) {
  constexpr int32_t kStep = kStagedBlock * N;
  const I* index = static_cast<const I*>(a.index.data) + offset;
  const int64_t index_step = a.walk.dim[0].stride[kTakeIndex], y_step = a.walk.dim[0].stride[kTakeY];
  const int32_t begin = int32_t(thread_index()) * N;
  int32_t least = 0;
  for (int32_t tile = begin; tile < cols; tile += kStep * kStagedDepth) {
    // What lies past the end takes the last vector once more.
    int32_t row[kStagedDepth], col[kStagedDepth];
    Vector<I, N> at[kStagedDepth];
#pragma unroll
    for (int d = 0; d < kStagedDepth; ++d) {
      const int32_t last = cols - N, i = tile + d * kStep < last ? tile + d * kStep : last;
      row[d] = int32_t(divide(uint32_t(i), a.cols_divisor));
      col[d] = i - row[d] * int32_t(a.cols);
      at[d] = load_vector<N>(index + row[d] * index_step + col[d]);
    }
#pragma unroll
    for (int d = 0; d < kStagedDepth; ++d) {
      const int32_t base = row[d] * int32_t(a.index.size);
      Vector<T, N> taken;
#pragma unroll
      for (int e = 0; e < N; ++e) {
        const int64_t value = int64_t(at[d].element[e]);
        const bool inside = uint64_t(value) < uint64_t(a.index.size) && value != mark;
        const int32_t place = inside ? base + int32_t(value) : -1;
        const T element = rows[place < 0 ? 0 : place];
        taken.element[e] = place < 0 ? T(0) : element;
        least = place < least ? place : least;
      }
      if (tile + d * kStep < cols) store_vector_at_once<N>(y + row[d] * y_step + col[d], taken);
    }
  }
  if (least == 0 || a.index.report == nullptr) return;
  // Out of the way of indices that are right.
#pragma unroll 1
  for (int32_t tile = begin; tile < cols; tile += kStep) {
#pragma unroll 1
    for (int32_t i = tile; i < tile + N; ++i) {
      const int32_t row = int32_t(divide(uint32_t(i), a.cols_divisor)), col = i - row * int32_t(a.cols);
      const int64_t position = r * a.cols + i;
      if (a.run == 0 || position < a.length)  // an index that serves many rows is the first one's to report
        checked_index(a.index, int64_t(index[row * index_step + col]), mark, position, 1);
    }
  }
}

template <class I, class T>
HIPOPS_FN void take_staged_by(const TakeArgs& a, const StagedRows<T>& rows, int64_t r, int32_t cols, int64_t offset,
                              T* y, int64_t mark) {
  if (a.vectors) take_staged_rows<kStagedVector, I>(a, rows, r, cols, offset, y, mark);
  else take_staged_rows<1, I>(a, rows, r, cols, offset, y, mark);
}

// Where dim is innermost and an index takes most of a row: rows of x in shared memory, where scattered reads cost less
// than they do in any cache.
template <class T>
HIPOPS_FN void take_staged(const TakeArgs& a) {
  StagedRows<T> rows;
  for (int64_t r = int64_t(block_index()) * a.group; r < a.walk.count; r += a.step) {
    const Offsets<kTakeOperands> at = locate(a.walk, r);
    const T* x = static_cast<const T*>(a.x) + at.of[kTakeX];
    T* y = static_cast<T*>(a.y) + at.of[kTakeY];
    const int32_t here = a.walk.count - r < a.group ? int32_t(a.walk.count - r) : a.group;
    const int32_t cols = here * int32_t(a.cols);
    rows.load(x, here * int32_t(a.index.size));
    barrier();
    const int64_t offset = at.of[kTakeIndex];
    switch (a.index.type) {
      case kIndexU8: take_staged_by<uint8_t>(a, rows, r, cols, offset, y, UINT8_MAX); break;
      case kIndexI16: take_staged_by<int16_t>(a, rows, r, cols, offset, y, INT16_MAX); break;
      case kIndexI32: take_staged_by<int32_t>(a, rows, r, cols, offset, y, INT32_MAX); break;
      case kIndexU32: take_staged_by<uint32_t>(a, rows, r, cols, offset, y, UINT32_MAX); break;
      default: take_staged_by<int64_t>(a, rows, r, cols, offset, y, INT64_MAX);
    }
    barrier();  // before the next rows take the place of these
  }
}

}  // namespace
}  // namespace hipops
