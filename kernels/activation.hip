// activation: y = act(x), element by element.
//
//   x, y    one shape of rank 0 to 8, any strides; f32, f16, bf16, computed in f32 and rounded once
//   bytes   elements * 2 * sizeof(element) must move
//
// The kernels, and which of them serves a call: device/map/contract.h. The kind of activation is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/activation.hip -o activation.co
#include "activation.h"

#include "device/map/activation.h"
#include "device/map/map_kernel.h"

namespace hipops {
namespace {

struct ActivationOp {
  using Args = ActivationArgs;
  static constexpr int kOutputs = 1, kInputs = 1;

  template <class T, int n>
  static HIPOPS_METHOD void apply(const Args& a, float (&x)[1][n], float (&y)[1][n]) {
    float one[n];
#pragma unroll
    for (int i = 0; i < n; ++i) one[i] = 1.0f;
    activate<T>(a.terms, x[0], one, y[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_MAP_KERNEL(ActivationOp, ActivationArgs, __VA_ARGS__)
HIPOPS_ACTIVATION_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(activation, ActivationArgs, HIPOPS_ACTIVATION_KERNELS)

}  // namespace hipops
