// The contract between log_softmax.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct LogSoftmaxArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  RowStreams<2> rows;       // x; y
};

}  // namespace hipops

// f64 has one kernel for all rows.
#define HIPOPS_LOG_SOFTMAX_KERNELS(X)                      \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax, f32, 4, 1024)  \
  HIPOPS_CLUSTER_OF(X, log_softmax, f32, aligned, 8)       \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax, f32, 512)           \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax, f16, 4, 1024)  \
  HIPOPS_CLUSTER_OF(X, log_softmax, f16, aligned, 8)       \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax, f16, 512)           \
  HIPOPS_FEW_ROW_KERNELS_OF(X, log_softmax, bf16, 4, 1024) \
  HIPOPS_CLUSTER_OF(X, log_softmax, bf16, aligned, 8)      \
  HIPOPS_SPLIT_ROWS_OF(X, log_softmax, bf16, 512)          \
  X(log_softmax_f64_strided_stream, f64, 512, 4, 512, strided, streamed, 1024)
