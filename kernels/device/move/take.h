// y = x at indices along dim: gather and index_select. An access moves one element or one vector of elements.
#pragma once

#include "device/index/indices.h"
#include "device/move/shifted.h"
#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/move/take_contract.h"

namespace hipops {
namespace {

// Reports an index out of range that serves accesses i to i + accesses - 1 of the walk. If one index serves many
// elements of y (a.shared), the first element reports it.
HIPOPS_FN void report_index(const TakeArgs& args, int64_t i, int64_t accesses, int64_t value, int64_t mark) {
  const TakeArgs& a = reload_arguments(args);
  if (a.index.report == nullptr) return;
  int64_t position = i * a.vector;
  uint64_t count = uint64_t(accesses * a.vector);
  if (a.shared.run != 0) {
    int64_t j = divide(position, a.shared.run, a.shared.run_divisor);
    count = j < a.shared.length && j * a.shared.run == position;
    position = j;
  }
  checked_index(a.index, value, mark, position, count);
}

// A work-item moves kTakeDepth accesses, one block's width apart, so neighbours store to neighbouring addresses. All
// indices are loaded before the first wait, then all elements: two trips to memory for all of them.
template <class T>
HIPOPS_FN void take_any(const TakeArgs& a) {
  constexpr int64_t kTile = kTakeBlock * kTakeDepth;
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  load_walk_arguments(a.walk, a.index.data, a.index.type, a.index.size, a.x, a.x_step);
  for (int64_t tile = int64_t(block_index()) * kTile; tile < a.walk.count; tile += a.step) {
    // No branch is around loads of x, and only the last tile has branches around stores (compiler.h).
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
      if (from[n] == kNothing && i[n] < a.walk.count)
        report_index(a, i[n], 1, value[n], mark);
    }
    // An invalid index loads the element of index 0, and ignores it.
    T moved[kTakeDepth];
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n)
      moved[n] = load_evict_last(x + (at[n].of[kTakeX] + (from[n] == kNothing ? 0 : from[n]) * a.x_step));
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) moved[n] = from[n] == kNothing ? T{} : moved[n];
    if (tile + kTile <= a.walk.count) {
#pragma unroll
      for (int n = 0; n < kTakeDepth; ++n) y[at[n].of[kTakeY]] = moved[n];
    } else {
#pragma unroll
      for (int n = 0; n < kTakeDepth; ++n)
        if (i[n] < a.walk.count) y[at[n].of[kTakeY]] = moved[n];
    }
  }
}

// The place along dim that accesses i to i + accesses - 1 of the walk read, or kNothing.
HIPOPS_FN int64_t source_of(const TakeArgs& a, const Offsets<kTakeOperands>& at, int64_t i, int64_t accesses, bool reports) {
  int64_t value[1];
  const int64_t mark = load_indices(a.index, {at.of[kTakeIndex]}, value), from = checked_index(a.index, value[0], mark, 0, 0);
  if (from == kNothing && reports) report_index(a, i, accesses, value[0], mark);
  return from;
}

// For so few accesses that the path to the first load is most of the launch: one for each work-item, without a loop.
template <class T>
HIPOPS_FN void take_few(const TakeArgs& a) {
  load_walk_arguments(a.walk, a.index.data, a.index.type, a.index.size, a.x, a.x_step);
  const int32_t i = int32_t(block_index() * kTakeFewBlock + thread_index());
  if (i >= a.walk.count) return;
  const Offsets<kTakeOperands> at = locate(a.walk, i);
  const int64_t from = source_of(a, at, i, 1, true);
  T moved{};
  if (from != kNothing) moved = load_evict_last(static_cast<const T*>(a.x) + (at.of[kTakeX] + from * a.x_step));
  static_cast<T*>(a.y)[at.of[kTakeY]] = moved;
}

// For rows with one index each: a work-item loads the index and computes offsets once, for all its accesses of the row.
template <class T>
HIPOPS_FN void take_rows(const TakeArgs& a) {
  constexpr int depth = sizeof(T) == kWideBytes ? kTakeRowsDepth : kTakeElementsDepth;
  const int32_t cols = int32_t(a.rows.cols);
  for_each_row_piece<kTakeBlock, depth>(a, [&](int64_t r, const Offsets<kTakeOperands>& at, int32_t first) {
    const int64_t from = source_of(a, at, r * a.rows.cols, a.rows.cols, first == 0);
    // An invalid index loads the row of index 0, which is ignored. So is an access past the end.
    const T* row = static_cast<const T*>(a.x) + at.of[kTakeX] + (from == kNothing ? 0 : from) * a.x_step;
    T* y_row = static_cast<T*>(a.y) + at.of[kTakeY];
    T moved[depth];
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.rows.lane_bits);
      moved[n] = load_evict_last(row + (col < cols ? col : cols - 1));
    }
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.rows.lane_bits);
      if (col < cols) y_row[col] = from == kNothing ? T{} : moved[n];
    }
  }, a.x, a.index.data, a.index.type, a.index.size, a.x_step);
}

// The same for rows that begin anywhere.
template <class T>
HIPOPS_FN void take_shifted(const TakeArgs& a) {
  for_each_row_piece<kTakeBlock, kShiftedDepth>(a, [&](int64_t r, const Offsets<kTakeOperands>& at, int32_t first) {
    const int64_t from = source_of(a, at, r * a.rows.cols, a.rows.cols, first == 0);
    const T* x = static_cast<const T*>(a.x) + at.of[kTakeX] + (from == kNothing ? 0 : from) * a.x_step;
    T* y = static_cast<T*>(a.y) + at.of[kTakeY];
    copy_shifted_row(x, y, int32_t(a.rows.cols), first, a.rows.lane_bits, from == kNothing);
  }, a.x, a.index.data, a.index.type, a.index.size, a.x_step);
}

}  // namespace
}  // namespace hipops
