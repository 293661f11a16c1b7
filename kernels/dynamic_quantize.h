// The contract between dynamic_quantize.hip and its launcher. The numbers in the list: see HIPOPS_FEW_ROW_KERNELS_OF.
#pragma once

#include "device/core/float8_contract.h"
#include "device/rows/contract.h"

namespace hipops {

struct DynamicQuantizeArgs {
  RowColumns columns[1];    // none
  int32_t columns_are_f32;
  EightBits to;
  Float8Format format;
  float most, least;        // the number to which max|x| is scaled; the least scale
  const float* upper_bound;  // of max|x|, or null
  RowStreams<2, 1> rows;    // x; q; the scale
};

}  // namespace hipops

#define HIPOPS_DYNAMIC_QUANTIZE_KERNELS(X)                     \
  HIPOPS_FEW_ROW_KERNELS_OF(X, dynamic_quantize, f32, 4, 768)  \
  HIPOPS_SPLIT_ROWS_OF(X, dynamic_quantize, f32, 512)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, dynamic_quantize, f16, 4, 768)  \
  HIPOPS_SPLIT_ROWS_OF(X, dynamic_quantize, f16, 512)          \
  HIPOPS_FEW_ROW_KERNELS_OF(X, dynamic_quantize, bf16, 4, 768) \
  HIPOPS_SPLIT_ROWS_OF(X, dynamic_quantize, bf16, 512)
