// The checks and the plan of upsample_nearest1d and upsample_nearest2d.
#pragma once

#include <cstdint>

#include "device/move/upsample_contract.h"
#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {

// A scale that the caller passed, and its name. An array of scales is for the last dimensions, the outermost first.
struct Scale {
  const char* name;
  double value;
};

// Checks a call that resizes the last `resized` dimensions of x, which has rank 2 + resized.
hipops_status check_upsample(const char* op, const hipops_tensor* y, const hipops_tensor* x, int resized,
                             hipops_nearest rule, const Scale* scale);

// The rule and the ratios of a dimension that changes from size `in` to `out`. The op resizes `resized` dimensions.
UpsampleDimension resize_of(int64_t in, int64_t out, int resized, hipops_nearest rule, double scale);

struct UpsamplePlan {
  int kernel;  // of HIPOPS_UPSAMPLE_KERNELS
  uint32_t grid, block;
  UpsampleArgs args;
};

// For tensors that passed check_upsample, where y has elements.
UpsamplePlan plan_upsample(PlanOptions options, const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                           const Scale* scale);

// Lets each work-item compute `rounds` rounds of rows instead of one. The caller must plan the grid afterwards.
void take_rounds(UpsampleArgs* args, int32_t rounds);

hipops_status upsample(Op& op, const hipops_tensor* y, const hipops_tensor* x, int resized, hipops_nearest rule,
                       const Scale* scale, void* stream);

}  // namespace hipops
