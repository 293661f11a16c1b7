// The contract between upsample_nearest2d.hip and its launcher.
#pragma once

#include "device/move/upsample_contract.h"

namespace hipops {

using UpsampleNearest2dArgs = UpsampleArgs;

}  // namespace hipops

#define HIPOPS_UPSAMPLE_NEAREST2D_KERNELS(X) HIPOPS_UPSAMPLE_KERNELS(X, upsample_nearest2d)
