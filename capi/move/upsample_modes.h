// How upsampling's arguments are brought into a kernel's form, beside the choice (upsample_plan.cpp).
#pragma once

#include <cstdint>

#include "tensor/strided.h"
#include "move/upsample.h"

namespace hipops {

constexpr int64_t kSmall = int64_t{1} << 31;

double ratio_of(const UpsampleDimension& d);

// How far from the first element of x others lie, in these dimensions; and whether that and sizes are below 2^31.
double reach_of(const UpsampleDimension* dimension, int rank);
bool is_near(const UpsampleDimension* dimension, int rank);

// `run` or `apart`, by vectors of so many bytes, or `few`, by units (0), if y has no gaps: it is one period, or, where it
// is very large, or x is, several of as many places of the outermost dimension, each of whole vectors. Vectors are of
// two lines at most.
bool to_periods(UpsampleArgs* a, int rank, int64_t unit, int64_t vector_bytes);

// `tile`, if neither y nor x has gaps, and most of x is wanted.
bool to_tiles(UpsampleArgs* a, int rank, int64_t unit);

}  // namespace hipops
