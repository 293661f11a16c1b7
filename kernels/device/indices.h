// Reading an index: what is valid, what is the mark, and what goes to the report.
#pragma once

#include "device/atomic.h"
#include "device/index_contract.h"

namespace hipops {
namespace {

constexpr int64_t kNothing = -1;  // of read_index: no element is meant

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

// The index at `offset`, or kNothing if it is the mark or out of range. One out of range is reported, once for each index: by the work-item
// that says so with `reports` (others may read the same index, for other elements). `position` is the index's row-major place in its tensor.
HIPOPS_FN int64_t read_index(const IndexArgs& index, int64_t offset, int64_t position, bool reports) {
  int64_t mark;
  int64_t value = load_index(index, offset, &mark);
  if (value == mark) return kNothing;  // also where the dimension is so long that the mark would be in range
  if (uint64_t(value) < uint64_t(index.size)) return value;
  if (reports && index.report != nullptr) {
    atomic_add(&index.report->count, 1);
    atomic_min(&index.report->first, uint64_t(position));
  }
  return kNothing;
}

}  // namespace
}  // namespace hipops
