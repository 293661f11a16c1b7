// Taking elements of x along dim, as an index says: all that gather and index_select do.
#pragma once

#include "device/indices.h"
#include "device/strided.h"
#include "device/take_contract.h"

namespace hipops {
namespace {

// The index that unit i of the walk has read is out of range: once for each index, by the first element of y that uses
// it. Out of the way of indices that are right, for it divides.
HIPOPS_FN void report_index(const TakeArgs& a, int64_t i, int64_t value, int64_t mark) {
  int64_t position = i * a.vector;
  uint64_t count = uint64_t(a.vector);
  if (a.run != 0) {
    int64_t j = position / a.run;
    count = j < a.length && j * a.run == position;
    position = j;
  }
  checked_index(a.index, value, mark, position, count);
}

// kTakeDepth units a work-item, a block's width apart, so that neighbours store side by side. All indices are loaded
// before the first is waited for, and then all units: two trips to memory for kTakeDepth of them.
template <class T>
HIPOPS_FN void take(const TakeArgs& a) {
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
        report_index(a, i[n], value[n], mark);
    }
    // Where nothing is meant, what index 0 means is loaded, and dropped.
    T unit[kTakeDepth];
#pragma unroll
    for (int n = 0; n < kTakeDepth; ++n) unit[n] = x[at[n].of[kTakeX] + (from[n] == kNothing ? 0 : from[n]) * a.x_step];
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

}  // namespace
}  // namespace hipops
