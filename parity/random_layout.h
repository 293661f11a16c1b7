// Random shapes and strides.
#pragma once

#include <cstdint>
#include <vector>

#include "parity/choices.h"
#include "parity/layout.h"

namespace hipops::parity {

// The approximate number of elements of a tensor.
struct Budget {
  int64_t elements;

  // Returns the size of the next dimension, at most `size`, and divides the rest of the budget by it.
  int64_t spend(int64_t size);
};

// Usually small; often near the width of a wave, a vector or a block; sometimes 0.
int64_t random_size(Choices& choices);

Shape random_shape(Choices& choices, size_t rank, Budget budget);

// Prefers common ranks.
size_t random_rank(Choices& choices, size_t least);

// Elements of an output are distinct; elements of a source may share memory.
enum class Use { kOutput, kSource };

Layout random_layout(Choices& choices, hipops_dtype dtype, const Shape& shape, Use use);

// Without gaps.
Layout plain_layout(hipops_dtype dtype, const Shape& shape);

}  // namespace hipops::parity
