// The contract between softmax.hip and its launcher.
#pragma once

#include "device/rows/row_contract.h"

namespace hipops {

struct SoftmaxArgs {
  const void* x;
  void* y;
  RowGeometry geometry;
};
static_assert(are_near(offsetof(SoftmaxArgs, geometry)));

}  // namespace hipops

// For rows that are longer than what eight blocks of 512x8 hold.
#define HIPOPS_OWN_SOFTMAX_KERNELS(X)                           \
  HIPOPS_OFF_AMD(                                               \
    X(softmax_f32_wide_tailed, f32, 512, 8, 512, wide, tailed)  \
    X(softmax_f16_wide_512x9, f16, 512, 9, 512, wide, full)     \
    X(softmax_bf16_wide_512x9, bf16, 512, 9, 512, wide, full))

#define HIPOPS_SOFTMAX_KERNELS(X) \
  HIPOPS_ROW_KERNELS(X, softmax)  \
  HIPOPS_SPLIT_KERNELS(X, softmax) HIPOPS_OWN_SOFTMAX_KERNELS(X)
