// The contract between rms_norm.hip and its launcher. The numbers in the list: see HIPOPS_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct RmsNormArgs {
  RowColumns columns[1];    // weight
  NormTerms<float> terms;
  int32_t columns_are_f32;  // if the rows have another type; otherwise they have the rows' type
  int32_t flags;            // of NormFlag
  RowStreams<2, 1> rows;    // x; y; rstd
  NormTerms<double> terms_in_f64;
};

}  // namespace hipops

#define HIPOPS_RMS_NORM_KERNELS(X)                                \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, rms_norm, f32, 1024)             \
  HIPOPS_ROW_KERNELS_OF(X, rms_norm, f32, 4, 4, 1024, 1024, 1024) \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, rms_norm, f16, 1024)             \
  HIPOPS_ROW_KERNELS_OF(X, rms_norm, f16, 4, 4, 1024, 1024, 1024) \
  HIPOPS_FEWER_LANES_OF(X, rms_norm, f16, 6, 640)                 \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, rms_norm, bf16, 1024)            \
  HIPOPS_ROW_KERNELS_OF(X, rms_norm, bf16, 4, 4, 1024, 1024, 1024) \
  HIPOPS_FEWER_LANES_OF(X, rms_norm, bf16, 6, 640)                \
  HIPOPS_ROW_KERNELS_OF_F64(X, rms_norm)
