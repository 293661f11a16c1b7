// The contract between fused_add_rms_norm.hip and its launcher. The numbers in the list: see HIPOPS_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct FusedAddRmsNormArgs {
  RowColumns columns[1];    // weight
  NormTerms<float> terms;
  int32_t columns_are_f32;  // if the rows have another type; otherwise they have the rows' type
  int32_t flags;            // of NormFlag
  RowStreams<4, 1> rows;    // x, residual; y, residual_out; rstd. Last, because most launches read only the first fields
};

}  // namespace hipops

#define HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(X)                             \
  HIPOPS_ROW_KERNELS_OF(X, fused_add_rms_norm, f32, 4, 2, 768, 896, 768) \
  HIPOPS_ROW_KERNELS_OF(X, fused_add_rms_norm, f16, 4, 2, 768, 896, 768) \
  HIPOPS_ROW_KERNELS_OF(X, fused_add_rms_norm, bf16, 4, 2, 768, 768, 768)
