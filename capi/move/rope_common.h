// What the launchers of rope, rope_i and rope_thd share: the checks, and the choice of a variant with its arguments.
#pragma once

#include <cstdint>

#include "device/move/rope_contract.h"
#include "hipops/hipops.h"
#include "runtime/runtime.h"

namespace hipops {

// One kernel of a rope op's list. Kernel i of an op is rope_variants[i]; rope and rope_thd have the first
// kRopeVariants, rope_i has all.
struct RopeVariant {
  hipops_dtype dtype;
  int heads;
  bool wide;
  int length;  // elements of a vector
};
constexpr int kRopeVariants = 8, kRopeIVariants = 12;
extern const RopeVariant rope_variants[kRopeIVariants];

// Which dimensions of x are the heads and the tokens, and whether neighbours are pairs.
struct RopeDims {
  int heads, tokens;
  bool interleaved;
};
constexpr RopeDims kHeadsThenTokens = {1, 2, false}, kTokensThenHeads = {2, 1, false}, kNeighbours = {1, 2, true};

// The tensors of a call; positions may be NULL.
struct RopeTensors {
  const hipops_tensor *y, *x, *cos, *sin, *positions;
};

// The whole call of an op.
hipops_status rope(Op& op, RopeDims dims, const RopeTensors& tensors, void* stream);

hipops_status check_rope(const char* op, RopeDims dims, const RopeTensors& tensors);

// The variant for tensors that check_rope has accepted, x not being empty.
int choose_rope(RopeDims dims, const RopeTensors& tensors);

// The launch of a variant that takes these tensors. There is nothing to do where args.count is 0.
struct RopePlan {
  uint32_t grid, block;
  RopeArgs args;
};
RopePlan plan_rope(int kernel, RopeDims dims, const RopeTensors& tensors);

}  // namespace hipops
