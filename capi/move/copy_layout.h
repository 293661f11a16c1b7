// The layout of a copy: dimensions in y's order, and accesses as wide as addresses and strides allow.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"
#include "tensor/strided.h"
#include "strided_copy.h"

namespace hipops {

// A copy by accesses of `unit` bytes. Dimension 0 is innermost in y. The strides of y are positive and ascend. `head`
// and `tail` are the single bytes before and after these accesses.
struct Copy {
  char* y;
  const char* x;
  int64_t unit;
  Layout<kCopyOperands> layout;
  int64_t head = 0, tail = 0;
};

// The copy with dimensions sorted by y's strides. A dimension with a negative stride in y is reversed.
Copy ordered_copy(const hipops_tensor& y, const hipops_tensor& x);

// For a single contiguous run: the widest accesses to which x and y can both be aligned, and single bytes at the ends.
void widen_run(Copy* copy);

// For contiguous rows: uses the widest accesses that divide and align all rows.
void widen_rows(Copy* copy);

// True if x and y have different offsets to a multiple of 8 bytes, so that accesses are narrower.
bool lies_apart(const Copy& copy);

// The dimension with x's smallest stride, without dimensions of stride 0, along which x repeats elements. It is 0 if
// y's innermost dimension is also x's, or if x has only strides of 0.
int innermost_in_x(const Layout<kCopyOperands>& layout);

}  // namespace hipops
