// activation_and_mul_backward: the gradients of y = act(x) * up, element by element.
//
//   dx = dy * act'(x) * up, dup = dy * act(x); with a limit 0, unless x < limit, |up| < limit
//
//   dx, dup, dy, x, up  one shape of rank 0 to 8, any strides; f32, f16, bf16, computed in f32 and rounded once
//   bytes               elements * 5 * sizeof(element) must move
//
// The kernels, and which of them serves a call: device/map/contract.h. The kind of activation is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/activation_and_mul_backward.hip -o activation_and_mul_backward.co
#include "activation_and_mul_backward.h"

#include "device/map/activation_gradient.h"
#include "device/map/map_kernel.h"

namespace hipops {
namespace {

struct ActivationAndMulBackward {
  using Args = ActivationAndMulBackwardArgs;
  static constexpr int kOutputs = 2, kInputs = 3;

  template <class T, int n>
  static HIPOPS_METHOD void apply(const Args& a, float (&x)[3][n], float (&y)[2][n]) {
    if (a.limit < INFINITY) {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        x[1][i] = x[1][i] > a.limit ? a.limit : x[1][i];
        x[2][i] = x[2][i] > a.limit ? a.limit : x[2][i] < -a.limit ? -a.limit : x[2][i];
      }
    }
    activate<T>(a.terms, x[1], x[0], y[1]);
    const Args& b = reload_arguments(a);
#pragma unroll
    for (int i = 0; i < n; ++i) x[0][i] *= b.up_plus_one ? x[2][i] + 1.0f : x[2][i];
    activate_backward<T>(b.terms, x[1], x[0], y[0]);
    if (b.limit < INFINITY) {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        y[0][i] = x[1][i] < b.limit ? y[0][i] : 0.0f;
        y[1][i] = fabsf(x[2][i]) < b.limit ? y[1][i] : 0.0f;
      }
    }
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_MAP_KERNEL(ActivationAndMulBackward, ActivationAndMulBackwardArgs, __VA_ARGS__)
HIPOPS_ACTIVATION_AND_MUL_BACKWARD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(activation_and_mul_backward, ActivationAndMulBackwardArgs, HIPOPS_ACTIVATION_AND_MUL_BACKWARD_KERNELS)

}  // namespace hipops
