// Random shapes and strides.
#pragma once

#include <cstdint>
#include <vector>

#include "parity/choices.h"
#include "parity/layout.h"

namespace hipops::parity {

// About how many elements a tensor may have.
struct Budget {
  int64_t elements;

  // Returns the size of the next dimension, at most `size`, and divides what is left by it.
  int64_t take(int64_t size);
};

// Most often small; often near the width of a wave, a vector or a block; sometimes 0.
int64_t random_size(Choices& choices);

Shape random_shape(Choices& choices, size_t rank, Budget budget);

// Prefers the ranks that are common.
size_t random_rank(Choices& choices, size_t least);

// Elements of an output are distinct; a source may repeat them.
enum class Use { kOutput, kSource };

Layout random_layout(Choices& choices, hipops_dtype dtype, const Shape& shape, Use use);

// Without gaps.
Layout plain_layout(hipops_dtype dtype, const Shape& shape);

}  // namespace hipops::parity
