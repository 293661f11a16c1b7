// fused_add_rms_norm: h = x + residual; residual_out = h; y = h / sqrt(mean(h^2) + eps) * weight, over the last
// dimension.
//
//   x, residual, y, residual_out   [rows, cols], any strides; f32, f16, bf16, computed in f32 and rounded once
//   weight                         [cols], optional, in x's type or f32
//   bytes                          rows * cols * 4 * sizeof(element) must move; the weights stay in the cache
//   flags                          round_sum: the norm is of h as stored. round_before_weight: normalized elements are
//                                  rounded before the weight is applied. weight_plus_one: 1 + weight instead of weight
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/fused_add_rms_norm.hip -o fused_add_rms_norm.co
#include "fused_add_rms_norm.h"

#include "device/rows/rms.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct FusedAddRmsNorm : RmsOp<T, FusedAddRmsNormArgs> {
  static constexpr int kInputs = 2, kOutputs = 2;
  static constexpr bool kStoresInput = true;

  template <class C, int n>
  static HIPOPS_METHOD void combine(const FusedAddRmsNormArgs& a, const C (&in)[2][n], C (&h)[n]) {
    add_residual<T>(a.flags, in, h);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(FusedAddRmsNorm, FusedAddRmsNormArgs, __VA_ARGS__)
HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(fused_add_rms_norm, FusedAddRmsNormArgs, HIPOPS_FUSED_ADD_RMS_NORM_KERNELS)

}  // namespace hipops
