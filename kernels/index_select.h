// The contract between index_select.hip and its launcher.
#pragma once

#include "device/move/take_contract.h"

namespace hipops {

using IndexSelectArgs = TakeArgs;

}  // namespace hipops

#define HIPOPS_INDEX_SELECT_KERNELS(X) HIPOPS_TAKE_KERNELS(X, index_select)
