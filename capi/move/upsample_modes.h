// Functions that convert upsampling's arguments to a kernel's form. upsample_plan.cpp chooses the kernel.
#pragma once

#include <cstdint>

#include "tensor/strided.h"
#include "move/upsample.h"

namespace hipops {

constexpr int64_t kSmall = int64_t{1} << 31;

double ratio_of(const UpsampleDimension& d);

// The largest offset of an element of x in these dimensions; true if the offset and all sizes are below 2^31.
double reach_of(const UpsampleDimension* dimension, int rank);
bool is_near(const UpsampleDimension* dimension, int rank);

// Converts to the form of `run` or `apart`, by vectors of vector_bytes. If vector_bytes is 0, converts to the form of
// `few`, by units. Returns false if y has gaps or the form does not support the sizes. y is one period. If y or x is
// very large, y is several periods of whole vectors, each with the same number of positions in the outermost dimension.
// A vector has elements of at most two lines.
bool to_periods(const PlanOptions& options, UpsampleArgs* a, int rank, int64_t unit, int64_t vector_bytes);

// Converts to the form of `tile`. Returns false if y or x has gaps, or if y needs too little of x.
bool to_tiles(UpsampleArgs* a, int rank, int64_t unit);

}  // namespace hipops
