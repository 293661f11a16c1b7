// The contract between gather.hip and its launcher.
#pragma once

#include "device/move/take_contract.h"

namespace hipops {

using GatherArgs = TakeArgs;

}  // namespace hipops

#define HIPOPS_GATHER_KERNELS(X) HIPOPS_TAKE_KERNELS(X, gather)
