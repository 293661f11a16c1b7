// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once.
//   bytes    rows * cols * 2 * sizeof(element) must move.
//   limits   a row of -inf only, or with +inf or a NaN, is NaN.
//
// Each exponential of a row on chip is computed once, and kept: two for each element would cost more time than the
// bytes.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/softmax.hip -o softmax.co
#include "softmax.h"

#include "device/rows/softmax.h"

namespace hipops {
namespace {

template <class T>
struct Softmax : SoftmaxOp<T, SoftmaxArgs> {};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(Softmax, SoftmaxArgs, __VA_ARGS__)
HIPOPS_SOFTMAX_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(softmax, SoftmaxArgs, HIPOPS_SOFTMAX_KERNELS)

}  // namespace hipops
