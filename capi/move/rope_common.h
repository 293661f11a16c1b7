// The checks and the plan of rope, rope_i and rope_thd.
#pragma once

#include <cstdint>

#include "device/move/rope_contract.h"
#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"

namespace hipops {

// Kernel i of an op is rope_variants[i]. rope_i has all variants, rope and rope_thd the first of them.
struct RopeVariant {
  hipops_dtype dtype;
  int heads;
  bool wide;
  int length;  // elements of a vector
};
extern const RopeVariant rope_variants[];

// The dimensions of x that are the heads and the tokens; `interleaved`: pairs are neighbours.
struct RopeDims {
  int heads, tokens;
  bool interleaved;
};
constexpr RopeDims kHeadsThenTokens = {1, 2, false}, kTokensThenHeads = {2, 1, false}, kNeighbours = {1, 2, true};

// The tensors of a call; positions may be NULL.
struct RopeTensors {
  const hipops_tensor *y, *x, *cos, *sin, *positions;
};

hipops_status rope(Op& op, RopeDims dims, const RopeTensors& tensors, void* stream);

hipops_status check_rope(const char* op, RopeDims dims, const RopeTensors& tensors);

// The variant for tensors that check_rope accepted. x is not empty.
int choose_rope(RopeDims dims, const RopeTensors& tensors);

// The launch of a variant that supports the tensors. If args.count is 0, there is nothing to launch.
struct RopePlan {
  uint32_t grid, block;
  RopeArgs args;
};
RopePlan plan_rope(PlanOptions options, int kernel, RopeDims dims, const RopeTensors& tensors);

}  // namespace hipops
