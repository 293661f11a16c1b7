// The contract between softmax.hip and its launcher. The numbers in the list: see HIPOPS_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct SoftmaxArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  RowStreams<2> rows;       // x; y
};

}  // namespace hipops

#define HIPOPS_SOFTMAX_KERNELS(X)                                 \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, f32, 1024)              \
  HIPOPS_ROW_KERNELS_OF(X, softmax, f32, 8, 4, 1024, 1024, 1024)  \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, f16, 1024)              \
  HIPOPS_ROW_KERNELS_OF(X, softmax, f16, 8, 4, 1280, 1024, 1024)  \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, softmax, bf16, 1024)             \
  HIPOPS_ROW_KERNELS_OF(X, softmax, bf16, 8, 4, 1280, 1024, 1024) \
  HIPOPS_ROW_KERNELS_OF_F64(X, softmax)
