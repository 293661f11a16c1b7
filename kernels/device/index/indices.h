// Reading an index: what is valid, what is the mark, and what goes to the report.
#pragma once

#include "device/core/atomic.h"
#include "device/index/index_contract.h"

namespace hipops {
namespace {

constexpr int64_t kNothing = -1;  // of checked_index: no element is meant

// The index as a number, and the type's maximum, which is the mark for "nothing here".
HIPOPS_FN int64_t load_index(const IndexArgs& index, int64_t offset, int64_t* mark) {
  switch (index.type) {
    case kIndexU8: return *mark = UINT8_MAX, static_cast<const uint8_t*>(index.data)[offset];
    case kIndexI16: return *mark = INT16_MAX, static_cast<const int16_t*>(index.data)[offset];
    case kIndexI32: return *mark = INT32_MAX, static_cast<const int32_t*>(index.data)[offset];
    case kIndexU32: return *mark = UINT32_MAX, static_cast<const uint32_t*>(index.data)[offset];
    default: return *mark = INT64_MAX, static_cast<const int64_t*>(index.data)[offset];
  }
}

template <class T, int N>
HIPOPS_FN int64_t load_indices_as(const void* data, int64_t mark, const int64_t (&offset)[N], int64_t (&value)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) value[i] = static_cast<const T*>(data)[offset[i]];
  return mark;
}

// Several indices as numbers, loaded side by side: one branch for all of them, so that none waits for another. Returns
// the mark.
template <int N>
HIPOPS_FN int64_t load_indices(const IndexArgs& index, const int64_t (&offset)[N], int64_t (&value)[N]) {
  switch (index.type) {
    case kIndexU8: return load_indices_as<uint8_t>(index.data, UINT8_MAX, offset, value);
    case kIndexI16: return load_indices_as<int16_t>(index.data, INT16_MAX, offset, value);
    case kIndexI32: return load_indices_as<int32_t>(index.data, INT32_MAX, offset, value);
    case kIndexU32: return load_indices_as<uint32_t>(index.data, UINT32_MAX, offset, value);
    default: return load_indices_as<int64_t>(index.data, INT64_MAX, offset, value);
  }
}

template <class T, int N>
HIPOPS_FN int64_t load_spaced_indices_as(const void* data, int64_t mark, int64_t offset, int64_t step, uint32_t there,
                                         int64_t (&value)[N]) {
  const T* at = static_cast<const T*>(data) + offset;
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
  return mark;
}

// The same of indices that are `step` apart, of which the first `there` are there, at least one: the others become the
// mark.
template <int N>
HIPOPS_FN int64_t load_spaced_indices(const IndexArgs& index, int64_t offset, int64_t step, uint32_t there,
                                      int64_t (&value)[N]) {
  switch (index.type) {
    case kIndexU8: return load_spaced_indices_as<uint8_t>(index.data, UINT8_MAX, offset, step, there, value);
    case kIndexI16: return load_spaced_indices_as<int16_t>(index.data, INT16_MAX, offset, step, there, value);
    case kIndexI32: return load_spaced_indices_as<int32_t>(index.data, INT32_MAX, offset, step, there, value);
    case kIndexU32: return load_spaced_indices_as<uint32_t>(index.data, UINT32_MAX, offset, step, there, value);
    default: return load_spaced_indices_as<int64_t>(index.data, INT64_MAX, offset, step, there, value);
  }
}

// What a loaded index means: itself, or kNothing if it is the mark or out of range. One out of range is reported, as
// `count` of them, the first of which has the row-major place `position` in the index tensor: a work-item that uses one
// index for several elements may stand for several equal indices (of stride 0), or for none (another one reports it).
HIPOPS_FN int64_t checked_index(const IndexArgs& index, int64_t value, int64_t mark, int64_t position, uint64_t count) {
  if (value == mark) return kNothing;  // also where the dimension is so long that the mark would be in range
  if (uint64_t(value) < uint64_t(index.size)) return value;
  if (count != 0 && index.report != nullptr) {
    atomic_add(&index.report->count, count);
    atomic_min(&index.report->first, uint64_t(position));
  }
  return kNothing;
}

}  // namespace
}  // namespace hipops
