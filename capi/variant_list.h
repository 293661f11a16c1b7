// What the launchers need to read an op's list of kernels (HIPOPS_<OP>_KERNELS) as a table of variants.
#pragma once

#include <cassert>
#include <cstddef>

#include "hipops/hipops.h"

namespace hipops {

// The names that the lists use for types.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr hipops_dtype u8 = HIPOPS_U8, u32 = HIPOPS_U32, u64 = HIPOPS_U64;  // and those for signed ones, too

// Bytes of a float, where a table is made when compiled.
constexpr int bytes_of(hipops_dtype dtype) { return dtype == f64 ? 8 : dtype == f32 ? 4 : 2; }

// Where in the list the variant is that `is_it` is true of. Who asks knows that there is one.
template <class Variant, size_t length, class Predicate>
int place_of(const Variant (&list)[length], Predicate is_it) {
  size_t place = 0;
  while (place < length && !is_it(list[place])) ++place;
  assert(place < length);
  return static_cast<int>(place);
}

}  // namespace hipops
