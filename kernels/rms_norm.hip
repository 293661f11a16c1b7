// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight   [cols], optional, in x's type or f32
//   bytes    rows * cols * 2 * sizeof(element) must move; the weights stay in the cache
//   flags    round_before_weight: normalized elements are rounded before the weight is applied. weight_plus_one: 1 +
//            weight instead of weight
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rms_norm.hip -o rms_norm.co
#include "rms_norm.h"

#include "device/rows/rms.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct RmsNorm : RmsOp<T, RmsNormArgs> {};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(RmsNorm, RmsNormArgs, __VA_ARGS__)
HIPOPS_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rms_norm, RmsNormArgs, HIPOPS_RMS_NORM_KERNELS)

}  // namespace hipops
