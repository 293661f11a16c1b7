// The contract between softmax.hip and its launcher.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct SoftmaxArgs {
  static constexpr int kOnUnit = 1024, kShortOnUnit = 1024;
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  RowStreams<2> rows;       // x; y
};

}  // namespace hipops

#define HIPOPS_SOFTMAX_KERNELS(X)                                                             \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, f32) HIPOPS_ROW_KERNELS_OF(X, softmax, f32, 8, 4)   \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, f16) HIPOPS_ROW_KERNELS_OF(X, softmax, f16, 8, 4)   \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, bf16) HIPOPS_ROW_KERNELS_OF(X, softmax, bf16, 8, 4) \
  HIPOPS_ROW_KERNELS_OF_F64(X, softmax)
