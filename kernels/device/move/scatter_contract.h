// What scatter and scatter_add share between kernel and launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

// Every kernel runs in blocks of kScatterBlock work-items, each of which has kScatterDepth elements in flight; or, of
// scatter_add's `uniform`, more vectors.
constexpr int kScatterBlock = 256;
constexpr int kScatterDepth = 4;
constexpr int kScatterVector = 4;  // elements that are added as one

// The operands of a walk. Of a walk over sources, y is where the source would go with an index of 0.
enum ScatterOperand {
  kScatterX,
  kScatterY,
  kScatterIndex,
  kScatterPlace,  // a number rather than memory, as each walk says
  kScatterOperands,
};

struct ScatterGeometry {
  Walk<kScatterOperands> walk;
  int64_t step;    // elements of the walk that the whole grid takes at a time
  int64_t vector;  // elements of the tensors that one of the walk stands for
  int64_t one_index;  // not 0: a vector's elements have one, as the index has a stride of 0
  // Along dim.
  int64_t length;  // sources of a line
  int64_t x_step, y_step, index_step, place_step;
};

}  // namespace hipops
