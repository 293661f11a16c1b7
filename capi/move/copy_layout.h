// The layouts of a copy, brought into the order of y, and in units as wide as they allow.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"
#include "tensor/strided.h"
#include "strided_copy.h"

namespace hipops {

// What is to be copied, in units of `unit` bytes. Dimension 0 is innermost in y, whose strides ascend from there and
// are positive.
struct Copy {
  char* y;
  const char* x;
  int64_t unit;
  Layout<kCopyOperands> layout;
  int64_t head = 0, tail = 0;
};

// The dimensions in the order of y, each walked in the direction in which y ascends.
Copy ordered_copy(const hipops_tensor& y, const hipops_tensor& x);

// Without gaps and of any number of bytes: whole units from where y is aligned to them, and single bytes before and
// after.
void widen_run(Copy* copy);

// Rows without gaps, of one length: the widest units that all of them are made of.
void widen_rows(Copy* copy);

// Whether x and y have not even 8 bytes in the same place.
bool lies_apart(const Copy& copy);

// The dimension that is innermost in x; 0 where it is y's as well, and where x has none: it repeats there what it has.
int innermost_in_x(const Layout<kCopyOperands>& layout);

}  // namespace hipops
