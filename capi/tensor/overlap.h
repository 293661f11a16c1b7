// Which bytes a view names, and whether two views name a common one.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"

namespace hipops {

struct ByteRange {
  uintptr_t begin, end;  // from the lowest element's first byte to past the highest one's last
};

inline bool are_apart(const ByteRange& a, const ByteRange& b) { return a.end <= b.begin || b.end <= a.begin; }

// The bytes between which a view with elements lies; false where they leave the address space.
bool byte_range(const hipops_tensor& t, ByteRange* range);

// True if every element is known to have memory of its own: ordered by stride, each dimension steps over all that the
// smaller ones span. (Interleaved dimensions, as shape 2x3 with strides 2 and 3, may be distinct too; nobody makes
// those on purpose.)
bool elements_are_distinct(const hipops_tensor& t);

// The same memory, element by element, in the same dtype and shape.
bool same_view(const hipops_tensor& a, const hipops_tensor& b);

// True if some byte belongs to both views. Exact, but for views whose strides have so little in common that the search
// for a common byte is given up: those count as separate.
bool overlap(const hipops_tensor& a, const hipops_tensor& b);

}  // namespace hipops
