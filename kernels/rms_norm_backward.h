// The contract between rms_norm_backward.hip and its launcher. The numbers in the list: see HIPOPS_SUMMED_ROW_KERNELS_OF.
#pragma once

#include "device/reduce/reduce_contract.h"
#include "device/rows/contract.h"

namespace hipops {

struct RmsNormBackwardArgs {
  static constexpr int kSums = 1;  // tensors of sums of columns: dw
  RowColumns columns[1];    // weight
  NormTerms<float> terms;
  int32_t columns_are_f32;  // if the rows have another type; otherwise they have the rows' type
  int32_t flags;            // of NormFlag
  ColumnSums sums;
  RowStreams<3, 0, 0, 1> rows;  // dy, x; dx; rstd, which is given
  NormTerms<double> terms_in_f64;
  SumMerges<kSums> merges;  // of the second launch
};

}  // namespace hipops

#define HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(X)               \
  HIPOPS_SUMMED_ROW_KERNELS_OF(X, rms_norm_backward, f32, 4, 768)     \
  HIPOPS_SUMMED_ROW_KERNELS_OF(X, rms_norm_backward, f16, 4, 512)     \
  HIPOPS_SUMMED_ROW_KERNELS_OF(X, rms_norm_backward, bf16, 4, 512)    \
  HIPOPS_SUMMED_ANY_ROW_KERNEL_OF(X, rms_norm_backward, f64, 4)
// X(kernel, C)
#define HIPOPS_RMS_NORM_BACKWARD_MERGE_KERNELS(X) X(rms_norm_backward_f32_merge, f32) X(rms_norm_backward_f64_merge, f64)

#define HIPOPS_RMS_NORM_BACKWARD_KERNELS(X) HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(X) HIPOPS_RMS_NORM_BACKWARD_MERGE_KERNELS(X)
