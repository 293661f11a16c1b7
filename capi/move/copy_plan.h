// The choice of a kernel for strided_copy and copy2d.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "strided_copy.h"

namespace hipops {

struct CopyPlan {
  int kernel;  // of HIPOPS_STRIDED_COPY_KERNELS
  uint32_t grid, block;
  StridedCopyArgs args;
};

// For tensors that passed strided_copy's checks and have elements.
CopyPlan plan_copy(PlanOptions options, const hipops_tensor& y, const hipops_tensor& x);

}  // namespace hipops
