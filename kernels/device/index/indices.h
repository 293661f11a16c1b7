// Loads elements of an index tensor, and checks them.
#pragma once

#include "device/core/atomic.h"
#include "device/index/index_contract.h"

namespace hipops {
namespace {

constexpr int64_t kNothing = -1;  // from checked_index: the index names no element

// Fibonacci hashing: a row's number times this odd constant, 2^32 by the golden ratio, modulo a power of two. Rows that
// are neighbours or equally spaced get different upper bits, so different blocks handle them. kUnspread reverses it.
constexpr uint32_t kSpread = 0x9e3779b1, kUnspread = 0x0e8b2f51;
static_assert(uint32_t(kSpread * kUnspread) == 1, "one reverses the other");

// Calls f(the index in its own type, its mark) by one uniform branch.
template <class F>
HIPOPS_FN void in_own_type(const IndexArgs& index, F f) {
  switch (index.type) {
    case kIndexU8: return f(static_cast<const uint8_t*>(index.data), kMarkOf<kIndexU8>);
    case kIndexI16: return f(static_cast<const int16_t*>(index.data), kMarkOf<kIndexI16>);
    case kIndexI32: return f(static_cast<const int32_t*>(index.data), kMarkOf<kIndexI32>);
    case kIndexU32: return f(static_cast<const uint32_t*>(index.data), kMarkOf<kIndexU32>);
    default: return f(static_cast<const int64_t*>(index.data), kMarkOf<kIndexI64>);
  }
}

// Loads several indices together, so that no load waits for another. Returns the mark.
template <int N>
HIPOPS_FN int64_t load_indices(const IndexArgs& index, const int64_t (&offset)[N], int64_t (&value)[N]) {
  int64_t mark;
  in_own_type(index, [&](auto data, int64_t of_type) {
    mark = of_type;
#pragma unroll
    for (int i = 0; i < N; ++i) value[i] = data[offset[i]];
  });
  return mark;
}

// The same for indices that are `step` apart. The first `there`, at least one, exist. The others become the mark.
template <int N>
HIPOPS_FN int64_t load_spaced_indices(const IndexArgs& index, int64_t offset, int64_t step, uint32_t there,
                                      int64_t (&value)[N]) {
  int64_t mark;
  in_own_type(index, [&](auto data, int64_t of_type) {
    mark = of_type;
    auto at = data + offset;
#pragma unroll
    for (uint32_t i = 0; i < N; ++i) {
      if (loads_are_predicated) {
        value[i] = mark;
        if (i < there) value[i] = *at;
      } else {
        value[i] = *at;
        if (i >= there) value[i] = mark;
      }
      if (loads_are_predicated || i + 1 < there) at += step;
    }
  });
  return mark;
}

// Returns a loaded index, or kNothing if it is the mark or out of range. Reports `count` indices out of range, the
// first at row-major place `position`. A count of 0: another work-item reports the index. Above 1: the index represents
// equal indices (of stride 0), or the caller has counted several.
HIPOPS_FN int64_t checked_index(const IndexArgs& index, int64_t value, int64_t mark, int64_t position, uint64_t count) {
  if (value == mark) return kNothing;  // even if the dimension is so long that the mark is in range
  if (uint64_t(value) < uint64_t(index.size)) return value;
  if (count != 0 && index.report != nullptr) {
    atomic_add(&index.report->count, count);
    atomic_min(&index.report->first, uint64_t(position));
  }
  return kNothing;
}

// scatter_add's flag rows_differ: null, or whether the indices of a row differ. If no row's differ, whole rows are
// added, and the kernels that follow have nothing left to do. Otherwise the kernels that add whole rows do nothing.
HIPOPS_FN bool rows_are_added(const uint32_t* rows_differ) { return rows_differ != nullptr && *rows_differ == 0; }
HIPOPS_FN bool rows_do_differ(const uint32_t* rows_differ) { return rows_differ != nullptr && *rows_differ != 0; }

}  // namespace
}  // namespace hipops
