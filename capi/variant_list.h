// Turns an op's list of kernels (HIPOPS_<OP>_KERNELS) into a table of variants, for launchers.
#pragma once

#include <cassert>
#include <cstddef>

#include "hipops/hipops.h"

namespace hipops {

// The types' names in the lists.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr hipops_dtype u8 = HIPOPS_U8, u32 = HIPOPS_U32, u64 = HIPOPS_U64;  // used for signed integers, too

// The bytes of a float type, for tables at compile time.
constexpr int bytes_of(hipops_dtype dtype) { return dtype == f64 ? 8 : dtype == f32 ? 4 : 2; }

// The position of the first variant for which `is_it` returns true. The list must have one.
template <class Variant, size_t length, class Predicate>
int place_of(const Variant (&list)[length], Predicate is_it) {
  size_t place = 0;
  while (place < length && !is_it(list[place])) ++place;
  assert(place < length);
  return static_cast<int>(place);
}

}  // namespace hipops
