// Splits elements that begin anywhere into vectors at multiples of 16 bytes, and the edges before and after these.
#pragma once

#include "device/core/vector.h"

namespace hipops {
namespace {

// How many elements an address is past a multiple of 16 bytes.
template <class T>
HIPOPS_FN int32_t misalignment(const T* at) {
  return int32_t(uintptr_t(at) % kWideBytes / sizeof(T));
}

// `count` elements that begin `shift` elements after a multiple of 16 bytes. Counts from that multiple on. Vectors
// `first` to `last` - 1 are inside. The edges are the elements before and after them, at most one for each work-item.
template <class T>
struct AlignedSpan {
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  int shift, end, first, last;  // elements; vectors

  HIPOPS_METHOD AlignedSpan(int shift_, int count)
      : shift(shift_), end(shift_ + count), first(shift_ > 0), last(end / kLength) {}

  HIPOPS_METHOD bool has(int v) const { return v >= first && v < last; }
  // The place of the work-item's edge element, or -1.
  HIPOPS_METHOD int edge() const {
    const int i = int(thread_index());
    if (i < kLength) return first > 0 && i >= shift && i < end ? i : -1;
    const int after = (last > first ? last : first) * kLength + i - kLength;
    return i < 2 * kLength && after < end ? after : -1;
  }
};

}  // namespace
}  // namespace hipops
