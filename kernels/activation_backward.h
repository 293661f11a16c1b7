// The contract between activation_backward.hip and its launcher.
#pragma once

#include "device/map/contract.h"

namespace hipops {

struct ActivationBackwardArgs {
  MapStreams<3> map;  // dx; dy, x
  ActivationTerms terms;
};

}  // namespace hipops

#define HIPOPS_ACTIVATION_BACKWARD_KERNELS(X) HIPOPS_MAP_KERNELS(X, activation_backward)
