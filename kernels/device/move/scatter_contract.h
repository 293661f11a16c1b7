// The contract between the kernels of scatter and scatter_add and their launchers.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

// Work-items of a block; elements that each has in flight (scatter_add's `uniform`: more, in vectors).
constexpr int kScatterBlock = 256;
constexpr int kScatterDepth = 4;
constexpr int kScatterVector = 4;  // elements that one atomic adds

// The operands of a walk. In a walk over sources, y is the element for an index of 0.
enum ScatterOperand {
  kScatterX,
  kScatterY,
  kScatterIndex,
  kScatterPlace,  // not a tensor: a number that is computed like an offset. Each walk defines its meaning
  kScatterOperands,
};

struct ScatterGeometry {
  Walk<kScatterOperands> walk;
  int64_t step;    // elements of the walk that the grid handles at a time
  int64_t vector;  // elements of the tensors for each element of the walk
  int64_t one_index;  // not 0: the elements of a vector have one index (stride 0)
  // Along dim.
  int64_t length;  // sources of a line
  int64_t x_step, y_step, index_step, place_step;
};

}  // namespace hipops
