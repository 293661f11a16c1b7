// The contract between rms_norm.hip and its launcher.
#pragma once

#include "device/rows/row_contract.h"

namespace hipops {

struct RmsNormArgs {
  const void* x;
  void* y;
  const void* weight;     // null: ones
  int32_t weight_is_f32;  // where x is of another type; else in x's
  NormTerms<float> terms;
  RowGeometry geometry;
  OtherNormTerms other_terms;
  int64_t weight_stride;  // wide variants: 1
};
static_assert(are_near(offsetof(RmsNormArgs, geometry)));

}  // namespace hipops

#define HIPOPS_RMS_NORM_KERNELS(X) HIPOPS_ROW_KERNELS(X, rms_norm) HIPOPS_SPLIT_KERNELS(X, rms_norm)
