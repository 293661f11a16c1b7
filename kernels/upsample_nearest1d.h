// The contract between upsample_nearest1d.hip and its launcher.
#pragma once

#include "device/move/upsample_contract.h"

namespace hipops {

using UpsampleNearest1dArgs = UpsampleArgs;

}  // namespace hipops

#define HIPOPS_UPSAMPLE_NEAREST1D_KERNELS(X) HIPOPS_UPSAMPLE_KERNELS(X, upsample_nearest1d)
