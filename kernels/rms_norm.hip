// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight   [cols], optional, in x's type or f32
//   bytes    rows * cols * 2 * sizeof(element) must move; the weights stay in the cache
//   flags    round_before_weight: what is normalized is rounded before the weight comes. weight_plus_one: 1 + weight in
//            place of weight
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rms_norm.hip -o rms_norm.co
#include "rms_norm.h"

#include "device/rows/rms.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct RmsNorm {
  using Args = RmsNormArgs;
  using C = compute_t<T>;
  using Largest = WideSum<C>;
  using Part = SumOfSquares<C>;
  static constexpr int kInputs = 1, kOutputs = 1, kColumns = 1;
  static constexpr int kOnUnit = 1024;
  static constexpr bool kMaps = false;
  static HIPOPS_METHOD C absent_column(int) { return 1; }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) { return Part::of(view, terms_of(read_anew(a), C())); }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD RowScale<C> whole(const Args& a, const Part& part) { return RowScale<C>::of(part, terms_of(a, C())); }

  template <bool kSmall, int n>
  static HIPOPS_METHOD bool apply(const Args& a, const RowScale<C>& scale, const C (&x)[n], C (&column)[2][n], C (&out)[1][n]) {
    return weigh<T, kSmall>(scale, x, column[0], a.columns[0].data != nullptr, a.flags, out[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(RmsNorm, RmsNormArgs, __VA_ARGS__)
HIPOPS_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rms_norm, RmsNormArgs, HIPOPS_RMS_NORM_KERNELS)

}  // namespace hipops
