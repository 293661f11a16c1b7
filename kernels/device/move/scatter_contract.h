// The contract between the kernels of scatter and scatter_add and their launchers.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

// Work-items of a block; elements that each has in flight (scatter_add's `uniform`: more, in vectors).
constexpr int kScatterBlock = 256;
constexpr int kScatterDepth = 4;
constexpr int kScatterVector = 4;  // elements that one atomic adds

// scatter_add's `few`: the most copies of an element, words for copies of all elements, and the most elements. AMD's
// kernels have shared memory for kFewSumsWords only.
constexpr int kFewSumsCopies = 32;
constexpr int64_t kFewSumsWords = 8192, kFewSums = 32768;
// The work-items of its block. AMD's launches add no shared memory, and more work-items have too few registers on gfx9.
constexpr int few_sums_block(bool launch_has_shared_memory) { return launch_has_shared_memory ? 768 : 512; }

// scatter_add's `wide` with f32 sums: vectors of y that a block can keep.
constexpr int32_t kKeptVectors = 2048;

// scatter_add's `claim` and `sparse`: their launches, in this order.
enum ScatterPhase : int32_t { kClearClaims, kClaim, kAddSingle, kAddRepeated, kRoundRepeated, kScatterPhases };

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
  ScatterPhase phase;               // `claim`, `sparse`
  int32_t few_elements, copy_bits;  // `few`: elements in shared memory, each 1 << copy_bits times
  int32_t kept_vectors;             // `wide`: 0, or a power of two
  // Along dim.
  int64_t length;  // sources of a line
  int64_t x_step, y_step, index_step, place_step;
};

}  // namespace hipops
