// Neighbouring elements that begin anywhere, as vectors of 16 bytes from aligned addresses, and what is left of them.
#pragma once

#include "device/core/vector.h"

namespace hipops {
namespace {

// How many elements past a multiple of 16 bytes an address is.
template <class T>
HIPOPS_FN int32_t misalignment(const T* at) {
  return int32_t(uintptr_t(at) % kWideBytes / sizeof(T));
}

// `count` elements from `shift` on, counted from the aligned address before them: the vectors that are whole, and the
// elements before and after those, of which a work-item of a block has one at most.
template <class T>
struct AlignedSpan {
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  int shift, end, first, last;  // elements; vectors

  HIPOPS_METHOD AlignedSpan(int shift_, int count)
      : shift(shift_), end(shift_ + count), first(shift_ > 0), last(end / kLength) {}

  HIPOPS_METHOD bool has(int v) const { return v >= first && v < last; }
  // The work-item's element, or -1.
  HIPOPS_METHOD int edge() const {
    const int i = int(thread_index());
    if (i < kLength) return first > 0 && i >= shift && i < end ? i : -1;
    const int after = (last > first ? last : first) * kLength + i - kLength;
    return i < 2 * kLength && after < end ? after : -1;
  }
};

}  // namespace
}  // namespace hipops
