// The contract between softmax_backward.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct SoftmaxBackwardArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  float scale;
  RowStreams<3> rows;       // dy, y; dx
  double scale_in_f64;
};

}  // namespace hipops

// f64 has one kernel for all rows.
#define HIPOPS_SOFTMAX_BACKWARD_KERNELS(X)                     \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_backward, f32, 2, 768)  \
  HIPOPS_CLUSTER_OF(X, softmax_backward, f32, unaligned, 4)    \
  HIPOPS_SPLIT_ROWS_OF(X, softmax_backward, f32, 768)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_backward, f16, 2, 768)  \
  HIPOPS_CLUSTER_OF(X, softmax_backward, f16, unaligned, 4)    \
  HIPOPS_SPLIT_ROWS_OF(X, softmax_backward, f16, 768)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, softmax_backward, bf16, 2, 768) \
  HIPOPS_CLUSTER_OF(X, softmax_backward, bf16, unaligned, 4)   \
  HIPOPS_SPLIT_ROWS_OF(X, softmax_backward, bf16, 768)         \
  X(softmax_backward_f64_strided_stream, f64, 512, 4, 512, strided, streamed, 1024)
