// The contract between softmax_ext.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct SoftmaxExtArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  float scale;
  int32_t zeroes_masked_rows;
  RowStreams<2, 0, 1, 2> rows;  // x; y; mask; slope, sink
};

}  // namespace hipops

#define HIPOPS_SOFTMAX_EXT_KERNELS(X)                     \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_ext, f32, 2, 640)  \
  HIPOPS_CLUSTER_OF(X, softmax_ext, f32, aligned, 4)      \
  HIPOPS_CLUSTER_OF(X, softmax_ext, f32, unaligned, 4)    \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_ext, f16, 2, 640)  \
  HIPOPS_CLUSTER_OF(X, softmax_ext, f16, aligned, 4)      \
  HIPOPS_CLUSTER_OF(X, softmax_ext, f16, unaligned, 4)    \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_ext, bf16, 2, 640) \
  HIPOPS_CLUSTER_OF(X, softmax_ext, bf16, aligned, 4)     \
  HIPOPS_CLUSTER_OF(X, softmax_ext, bf16, unaligned, 4)
