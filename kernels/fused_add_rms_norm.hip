// fused_add_rms_norm: h = x + residual; residual_out = h; y = h / sqrt(mean(h^2) + eps) * weight, over the last dimension.
//
//   x, residual, y, residual_out   [rows, cols], any strides; f32, f16, bf16, computed in f32 and rounded once
//   weight                         [cols], optional, in x's type or f32
//   bytes                          rows * cols * 4 * sizeof(element) must move; the weights stay in the cache
//   flags                          round_sum: the norm is of h as it is stored. round_before_weight: what is normalized is
//                                  rounded before the weight comes. weight_plus_one: 1 + weight in place of weight
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/fused_add_rms_norm.hip -o fused_add_rms_norm.co
#include "fused_add_rms_norm.h"

#include "device/rows/rms.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct FusedAddRmsNorm {
  using Args = FusedAddRmsNormArgs;
  using C = compute_t<T>;
  using Largest = WideSum<C>;
  using Part = SumOfSquares<C>;
  static constexpr int kInputs = 2, kOutputs = 2, kColumns = 1;
  static constexpr int kOnUnit = 1024;
  static constexpr bool kMaps = false;
  static HIPOPS_METHOD C absent_column(int) { return 1; }

  template <int n>
  static HIPOPS_METHOD void combine(const Args& a, const C (&in)[2][n], C (&h)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) h[i] = in[0][i] + in[1][i];
    if (__builtin_expect(a.flags & round_sum, 0)) round_to<T>(h);
  }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) { return Part::of(view, read_anew(a).terms); }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD RowScale<C> whole(const Args& a, const Part& part) { return RowScale<C>::of(part, a.terms); }

  template <bool kSmall, int n>
  static HIPOPS_METHOD bool apply(const Args& a, const RowScale<C>& scale, const C (&h)[n], C (&column)[2][n], C (&out)[2][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[1][i] = h[i];
    return weigh<T, kSmall>(scale, h, column[0], a.columns[0].data != nullptr, a.flags, out[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(FusedAddRmsNorm, FusedAddRmsNormArgs, __VA_ARGS__)
HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(fused_add_rms_norm, FusedAddRmsNormArgs, HIPOPS_FUSED_ADD_RMS_NORM_KERNELS)

}  // namespace hipops
