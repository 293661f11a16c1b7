// The contract between softmax.hip and its launcher.
#pragma once

#include "device/row_contract.h"

namespace hipops {

struct SoftmaxArgs {
  const void* x;
  void* y;
  RowGeometry geometry;
};
static_assert(are_near(offsetof(SoftmaxArgs, geometry)));

}  // namespace hipops

// For rows that are longer than the registers of eight blocks.
#define HIPOPS_OWN_SOFTMAX_KERNELS(X) X(softmax_f32_wide_tailed, f32, 512, 8, 512, wide, tailed)

#define HIPOPS_SOFTMAX_KERNELS(X) \
  HIPOPS_ROW_KERNELS(X, softmax)  \
  HIPOPS_SPLIT_KERNELS(X, softmax) HIPOPS_OWN_SOFTMAX_KERNELS(X)
