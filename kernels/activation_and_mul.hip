// activation_and_mul: y = act(x) * up, element by element: the gated activation of an MLP. x is the gate.
//
//   x, up, y   one shape of rank 0 to 8, any strides; f32, f16, bf16, computed in f32 and rounded once
//   limit      first x is at most limit, and up is in [-limit, limit]
//   flags      up_plus_one: 1 + up instead of up
//   bytes      elements * 3 * sizeof(element) must move
//
// The kernels, and which of them serves a call: device/map/contract.h. The kind of activation is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/activation_and_mul.hip -o activation_and_mul.co
#include "activation_and_mul.h"

#include "device/map/activation.h"
#include "device/map/map_kernel.h"

namespace hipops {
namespace {

struct ActivationAndMul {
  using Args = ActivationAndMulArgs;
  static constexpr int kOutputs = 1, kInputs = 2;

  template <class T, int n>
  static HIPOPS_METHOD void apply(const Args& a, float (&x)[2][n], float (&y)[1][n]) {
    if (a.limit < INFINITY) {
#pragma unroll
      for (int i = 0; i < n; ++i) {  // NaN stays NaN
        x[0][i] = x[0][i] > a.limit ? a.limit : x[0][i];
        x[1][i] = x[1][i] > a.limit ? a.limit : x[1][i] < -a.limit ? -a.limit : x[1][i];
      }
    }
    if (a.up_plus_one) {
#pragma unroll
      for (int i = 0; i < n; ++i) x[1][i] += 1.0f;
    }
    activate<T>(a.terms, x[0], x[1], y[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_MAP_KERNEL(ActivationAndMul, ActivationAndMulArgs, __VA_ARGS__)
HIPOPS_ACTIVATION_AND_MUL_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(activation_and_mul, ActivationAndMulArgs, HIPOPS_ACTIVATION_AND_MUL_KERNELS)

}  // namespace hipops
