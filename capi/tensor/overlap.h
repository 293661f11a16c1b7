// The bytes of a view, and whether two views have a common byte.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"

namespace hipops {

struct ByteRange {
  uintptr_t begin, end;  // the first byte, and the byte after the last
};

inline bool are_apart(const ByteRange& a, const ByteRange& b) { return a.end <= b.begin || b.end <= a.begin; }

// Sets the range that contains all bytes of a view with elements. Returns false if it leaves the address space.
bool byte_range(const hipops_tensor& t, ByteRange* range);

// True if strides nest: sorted by stride, each dimension's step exceeds the span of the smaller dimensions. Each
// element then has its own memory. Elements of interleaved dimensions (shape 2x3, strides 2 and 3) may be distinct too,
// but nobody uses that layout on purpose.
bool elements_are_distinct(const hipops_tensor& t);

// True if both views have the same address, dtype, shape and strides.
bool same_view(const hipops_tensor& a, const hipops_tensor& b);

// True if a byte belongs to both views. The search for a common byte stops after a number of steps. Views that need
// more count as separate; only views with many interleaved dimensions do.
bool overlap(const hipops_tensor& a, const hipops_tensor& b);

}  // namespace hipops
