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
#define HIPOPS_LOG_SOFTMAX_BACKWARD_KERNELS(X)                  \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, f32, 768)  \
  HIPOPS_ALIGNED_CLUSTER_OF(X, log_softmax_backward, f32, 4)    \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, f16, 768)  \
  HIPOPS_ALIGNED_CLUSTER_OF(X, log_softmax_backward, f16, 4)    \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax_backward, bf16, 768) \
  HIPOPS_ALIGNED_CLUSTER_OF(X, log_softmax_backward, bf16, 4)   \
  X(log_softmax_backward_f64_strided_stream, f64, 512, 4, 512, strided, streamed, 1024)
