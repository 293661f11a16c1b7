// activation_backward: dx = dy * act'(x), element by element.
//
//   dx, dy, x  one shape of rank 0 to 8, any strides; f32, f16, bf16, computed in f32 and rounded once
//   bytes      elements * 3 * sizeof(element) must move
//
// The kernels, and which of them serves a call: device/map/contract.h. The kind of activation is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/activation_backward.hip -o activation_backward.co
#include "activation_backward.h"

#include "device/map/activation_gradient.h"
#include "device/map/map_kernel.h"

namespace hipops {
namespace {

struct ActivationBackward {
  using Args = ActivationBackwardArgs;
  static constexpr int kOutputs = 1, kInputs = 2;

  template <class T, int n>
  static HIPOPS_METHOD void apply(const Args& a, float (&x)[2][n], float (&y)[1][n]) {
    activate_backward<T>(a.terms, x[1], x[0], y[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_MAP_KERNEL(ActivationBackward, ActivationBackwardArgs, __VA_ARGS__)
HIPOPS_ACTIVATION_BACKWARD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(activation_backward, ActivationBackwardArgs, HIPOPS_ACTIVATION_BACKWARD_KERNELS)

}  // namespace hipops
