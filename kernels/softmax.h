// The contract between softmax.hip and its launcher.
#pragma once

#include "device/row_contract.h"

namespace hipops {

struct SoftmaxArgs {
  const void* x;
  void* y;
  RowGeometry geometry;
};

}  // namespace hipops

#define HIPOPS_SOFTMAX_KERNELS(X) HIPOPS_ROW_KERNELS(X, softmax) HIPOPS_SPLIT_KERNELS(X, softmax)
