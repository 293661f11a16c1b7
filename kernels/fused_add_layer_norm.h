// The contract between fused_add_layer_norm.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct FusedAddLayerNormArgs {
  RowColumns columns[2];    // weight, bias
  NormTerms<float> terms;
  int32_t columns_are_f32;  // both, if the rows have another type; otherwise they have the rows' type
  int32_t flags;            // of NormFlag
  RowStreams<4, 2> rows;    // x, residual; y, residual_out; mean, rstd
};

}  // namespace hipops

#define HIPOPS_FUSED_ADD_LAYER_NORM_KERNELS(X)                     \
  HIPOPS_FEW_ROW_KERNELS_OF(X, fused_add_layer_norm, f32, 2, 768)  \
  HIPOPS_CLUSTER_OF(X, fused_add_layer_norm, f32, unaligned, 2)    \
  HIPOPS_SPLIT_ROWS_OF(X, fused_add_layer_norm, f32, 512)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, fused_add_layer_norm, f16, 2, 640)  \
  HIPOPS_CLUSTER_OF(X, fused_add_layer_norm, f16, unaligned, 2)    \
  HIPOPS_SPLIT_ROWS_OF(X, fused_add_layer_norm, f16, 512)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, fused_add_layer_norm, bf16, 2, 640) \
  HIPOPS_CLUSTER_OF(X, fused_add_layer_norm, bf16, unaligned, 2)   \
  HIPOPS_SPLIT_ROWS_OF(X, fused_add_layer_norm, bf16, 512)
