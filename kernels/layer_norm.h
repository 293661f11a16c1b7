// The contract between layer_norm.hip and its launcher.
#pragma once

#include "device/rows/row_contract.h"

namespace hipops {

struct LayerNormArgs {
  const void* x;
  void* y;
  const void* weight;     // null: ones
  const void* bias;       // null: zeros
  int32_t weights_are_f32;  // both, where x is of another type; else both in x's
  NormTerms<float> terms;
  RowGeometry geometry;
  OtherNormTerms other_terms;
  int64_t weight_stride, bias_stride;  // wide variants: 1
};
static_assert(are_near(offsetof(LayerNormArgs, geometry)));

}  // namespace hipops

// For rows with which wide_128x4, wide_512x4 and edged_512x4 leave registers unused, very many, and few that wide_512x4
// has too few for.
#define HIPOPS_OWN_LAYER_NORM_KERNELS(X)                                     \
  HIPOPS_OFF_AMD(                                                            \
    X(layer_norm_f16_wide_queued, f16, 512, 4, 512, wide, queued)            \
    X(layer_norm_bf16_wide_queued, bf16, 512, 4, 512, wide, queued)          \
    X(layer_norm_f16_wide_passing, f16, 512, 4, 512, wide, passing)          \
    X(layer_norm_bf16_wide_passing, bf16, 512, 4, 512, wide, passing)        \
    X(layer_norm_f32_edged_aside, f32, 512, 4, 512, edged, weights_aside)    \
    X(layer_norm_f16_edged_aside, f16, 512, 4, 512, edged, weights_aside)    \
    X(layer_norm_bf16_edged_aside, bf16, 512, 4, 512, edged, weights_aside)) \
  X(layer_norm_f32_wide_early, f32, 512, 4, 512, wide, weights_early)

#define HIPOPS_LAYER_NORM_KERNELS(X) \
  HIPOPS_ROW_KERNELS(X, layer_norm)  \
  HIPOPS_SPLIT_KERNELS(X, layer_norm) HIPOPS_OWN_LAYER_NORM_KERNELS(X)
