// layer_norm: y = (x - mean) / sqrt(var + eps) * weight + bias, over the last dimension; var = mean((x - mean)^2).
//
//   x, y          [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, bias  [cols], each optional, in x's type or f32
//   bytes         rows * cols * 2 * sizeof(element) must move; weight and bias stay in the cache
//
// The variance is the mean of squared differences to the mean. Waves that share a row, and NVIDIA if elements have 16
// bits, first compute it as E[x^2] - mean^2, which needs one reduction less. They use that if the mean is so close to 0
// that results lose no digit (moments.h).
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/layer_norm.hip -o layer_norm.co
#include "layer_norm.h"

#include "device/rows/moments.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct LayerNorm : LayerNormOp<T, LayerNormArgs> {};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(LayerNorm, LayerNormArgs, __VA_ARGS__)
HIPOPS_LAYER_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(layer_norm, LayerNormArgs, HIPOPS_LAYER_NORM_KERNELS)

}  // namespace hipops
