// How a reduction is launched: which kernel, in which parts.
#pragma once

#include "device/reduce/reduce_contract.h"
#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/strided.h"

namespace hipops {

// A call, after its checks. y's dimension d is x's dimension of_x[d].
struct ReduceProblem {
  const hipops_tensor *y, *x;
  uint32_t dims;
  hipops_reduction reduction;
  bool is_invariant;  // HIPOPS_BATCH_INVARIANT: the order of a result does not depend on other results
  int of_x[HIPOPS_MAX_RANK];
};

struct ReduceLaunch {
  int kernel;  // of the op's list
  uint32_t grid, block;
  ReduceArgs args;
};

struct ReducePlan {
  ReduceLaunch first;
  ReduceLaunch merge;  // without blocks: there is one launch
};

inline bool is_position(hipops_reduction r) { return r == HIPOPS_REDUCE_ARGMAX || r == HIPOPS_REDUCE_ARGMIN; }

// Reduced elements of each result.
int64_t reduced_count(const ReduceProblem& problem);

int64_t reduce_workspace_bytes(const ReduceProblem& problem);

// Without a workspace (null) there is one launch.
ReducePlan plan_reduce(const PlanOptions& options, const ReduceProblem& problem, const DeviceNumbers& device,
                       void* workspace);

extern Op op_reduce;  // has the kernels

hipops_status launch_reduce(const ReducePlan& plan, const DeviceFacts& device, void* stream);

}  // namespace hipops
