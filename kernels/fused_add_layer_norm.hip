// fused_add_layer_norm: h = x + residual; residual_out = h; y = (h - mean) * rstd * weight + bias, over the last dimension,
// where mean = mean(h) and rstd = 1 / sqrt(mean((h - mean)^2) + eps).
//
//   x, residual, y, residual_out   [rows, cols], any strides; f32, f16, bf16, computed in f32, rounded once.
//   weight, bias                   [cols], each optional, in x's type or f32.
//   mean, rstd                     [rows], each optional, f32.
//   bytes                          rows * cols * 4 * sizeof(element) must move; weight and bias stay in the cache
//   flags                          round_sum: the norm is of h as stored
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/fused_add_layer_norm.hip -o fused_add_layer_norm.co
#include "fused_add_layer_norm.h"

#include "device/rows/moments.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct FusedAddLayerNorm : LayerNormOp<T, FusedAddLayerNormArgs> {
  static constexpr int kInputs = 2, kOutputs = 2;
  static constexpr bool kStoresInput = true;

  template <class C, int n>
  static HIPOPS_METHOD void combine(const FusedAddLayerNormArgs& a, const C (&in)[2][n], C (&h)[n]) {
    add_residual<T>(a.flags, in, h);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(FusedAddLayerNorm, FusedAddLayerNormArgs, __VA_ARGS__)
HIPOPS_FUSED_ADD_LAYER_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(fused_add_layer_norm, FusedAddLayerNormArgs, HIPOPS_FUSED_ADD_LAYER_NORM_KERNELS)

}  // namespace hipops
