// What the launchers of upsample_nearest1d and upsample_nearest2d share.
#pragma once

#include <cstdint>

#include "device/move/upsample_contract.h"
#include "hipops/hipops.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {

// Scales as the caller gave them, by name: of the last dimensions, the outermost first.
struct Scale {
  const char* name;
  double value;
};

// The check of a call that resizes the last `resized` dimensions of x, of rank 2 + resized.
hipops_status check_upsample(const char* op, const hipops_tensor* y, const hipops_tensor* x, int resized,
                             hipops_nearest rule, const Scale* scale);

// The rule and the ratios of one dimension, of `in` to `out`, where the op resizes so many.
UpsampleDimension resize_of(int64_t in, int64_t out, int resized, hipops_nearest rule, double scale);

struct UpsamplePlan {
  int kernel;  // of HIPOPS_UPSAMPLE_KERNELS
  uint32_t grid, block;
  UpsampleArgs args;
};

// For tensors that check_upsample accepts, with elements in y.
UpsamplePlan plan_upsample(const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                           const Scale* scale);

// Has work-items take so many rounds of rows, where they take one yet. It is for who has not planned the grid, or plans
// it anew.
void take_rounds(UpsampleArgs* args, int32_t rounds);

// Check, choose, launch.
hipops_status upsample(Op& op, const hipops_tensor* y, const hipops_tensor* x, int resized, hipops_nearest rule,
                       const Scale* scale, void* stream);

}  // namespace hipops
