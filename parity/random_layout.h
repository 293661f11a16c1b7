// Random shapes and strides.
#pragma once

#include <cstdint>
#include <vector>

#include "parity/choices.h"
#include "parity/layout.h"

namespace hipops::parity {

// How many elements a tensor may have, more or less.
struct Budget {
  int64_t elements;

  // The most that a dimension may still have; what it has is taken off.
  int64_t take(int64_t size);
};

// 0 now and then, most often small, often around a wave's, a vector's or a block's width.
int64_t random_size(Choices& choices);

Shape random_shape(Choices& choices, size_t rank, Budget budget);

// Shapes are small with any rank: this prefers the ranks that tensors have.
size_t random_rank(Choices& choices, size_t least);

// What a tensor's layout may be. Outputs have elements of their own; sources may repeat them.
enum class Use { kOutput, kSource };

Layout random_layout(Choices& choices, hipops_dtype dtype, const Shape& shape, Use use);

// Without gaps.
Layout plain_layout(hipops_dtype dtype, const Shape& shape);

}  // namespace hipops::parity
