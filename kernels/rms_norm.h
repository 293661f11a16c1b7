// The contract between rms_norm.hip and its launcher.
#pragma once

#include "device/row_contract.h"

namespace hipops {

struct RmsNormArgs {
  const void* x;
  void* y;
  const void* weight;     // null: ones
  int64_t weight_stride;  // wide variants: 1
  int32_t weight_is_f32;  // where x is of another type; else in x's
  int32_t unused;
  NormScalars scalars;
  RowGeometry geometry;
};

}  // namespace hipops

#define HIPOPS_RMS_NORM_KERNELS(X) HIPOPS_ROW_KERNELS(X, rms_norm) HIPOPS_SPLIT_KERNELS(X, rms_norm)
