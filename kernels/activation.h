// The contract between activation.hip and its launcher.
#pragma once

#include "device/map/contract.h"

namespace hipops {

struct ActivationArgs {
  MapStreams<2> map;  // y; x
  ActivationTerms terms;
};

}  // namespace hipops

#define HIPOPS_ACTIVATION_KERNELS(X) HIPOPS_MAP_KERNELS(X, activation)
