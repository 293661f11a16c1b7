// The contract between log_softmax_backward.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct LogSoftmaxBackwardArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  RowStreams<3> rows;       // dy, y; dx
};

}  // namespace hipops

// f64 has one kernel for all rows.
#define HIPOPS_LOG_SOFTMAX_BACKWARD_KERNELS(X)                     \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, f32, 2, 768)  \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, f32, aligned, 4)      \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, f32, unaligned, 4)    \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax_backward, f32, 768)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, f16, 2, 768)  \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, f16, aligned, 4)      \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, f16, unaligned, 4)    \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax_backward, f16, 768)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, bf16, 2, 768) \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, bf16, aligned, 4)     \
  HIPOPS_CLUSTER_OF(X, log_softmax_backward, bf16, unaligned, 4)   \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax_backward, bf16, 768)         \
  X(log_softmax_backward_f64_strided_stream, f64, 512, 4, 512, strided, streamed, 1024)
