// The contract between layer_norm.hip and its launcher. The numbers in the list: see HIPOPS_ROW_KERNELS_OF.
#pragma once

#include "device/rows/contract.h"

namespace hipops {

struct LayerNormArgs {
  RowColumns columns[2];    // weight, bias
  NormTerms<float> terms;
  int32_t columns_are_f32;  // both, if the rows have another type; otherwise they have the rows' type
  RowStreams<2, 2> rows;    // x; y; mean, rstd
  NormTerms<double> terms_in_f64;
};

}  // namespace hipops

#define HIPOPS_LAYER_NORM_KERNELS(X)                               \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, layer_norm, f32, 768)             \
  HIPOPS_ROW_KERNELS_OF(X, layer_norm, f32, 4, 4, 1024, 896, 1152) \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, layer_norm, f16, 768)             \
  HIPOPS_ROW_KERNELS_OF(X, layer_norm, f16, 4, 4, 896, 896, 896)   \
  HIPOPS_FEWER_LANES_OF(X, layer_norm, f16, 6, 640)                \
  HIPOPS_SHORT_ROW_KERNELS_OF(X, layer_norm, bf16, 768)            \
  HIPOPS_ROW_KERNELS_OF(X, layer_norm, bf16, 4, 4, 896, 1024, 1152) \
  HIPOPS_FEWER_LANES_OF(X, layer_norm, bf16, 6, 640)               \
  HIPOPS_ROW_KERNELS_OF_F64(X, layer_norm)
