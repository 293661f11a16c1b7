// The contract between activation_and_mul_backward.hip and its launcher.
#pragma once

#include "device/map/contract.h"

namespace hipops {

struct ActivationAndMulBackwardArgs {
  MapStreams<5> map;  // dx, dup; dy, x, up
  ActivationTerms terms;
  float limit;  // of x, and of up's magnitude; infinite: none
  int32_t up_plus_one;
};

}  // namespace hipops

#define HIPOPS_ACTIVATION_AND_MUL_BACKWARD_KERNELS(X) HIPOPS_MAP_KERNELS(X, activation_and_mul_backward)
