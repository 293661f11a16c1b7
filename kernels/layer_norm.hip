// layer_norm: y = (x - mean) / sqrt(var + eps) * weight + bias, over the last dimension; var = mean((x - mean)^2).
//
//   x, y          [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, bias  [cols], each optional, in x's type or f32
//   bytes         rows * cols * 2 * sizeof(element) must move; weight and bias stay in the cache
//
// The variance is the mean of squared differences to the mean. If waves share a row, they first compute it as E[x^2] -
// mean^2, which needs one barrier less. They use that if the mean is so close to 0 that results lose no digit
// (moments.h).
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/layer_norm.hip -o layer_norm.co
#include "layer_norm.h"

#include "device/rows/moments.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct LayerNorm : RowOp {
  using Args = LayerNormArgs;
  using C = compute_t<T>;
  using Part = SumAndDeviations<T>;
  using Largest = typename Choose<sizeof(T) <= 4, Moments<WideSum<C>>, WideSum<C>>::type;
  using Extremes = NormalizationExtremes<T>;
  static constexpr int kColumns = 2, kScalars = 2;  // mean, rstd
  static HIPOPS_METHOD C absent_column(int i) { return i == 0 ? 1 : 0; }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) {
    const NormTerms<C>& terms = terms_of(reload_arguments(a), C());
    if constexpr (View::kIsRow) return Part::of(view, terms, terms);
    else return Part::of(view, terms, terms_of_count<C>(view.elements() > 0 ? view.elements() : 1));
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) { return Part::merged(parts); }
  static HIPOPS_METHOD Normalization<T> finalize(const Args& a, const Part& part) {
    return Normalization<T>::of(part, terms_of(a, C()));
  }

  static HIPOPS_METHOD void scalars(const Normalization<T>& row, C (&out)[2]) {
    out[0] = (row.high + row.low) * inverse_power(row.power);
    out[1] = row.power * row.scale;
  }
  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Normalization<T>& row, const C (&x)[n], C (&column)[3][n], C (&out)[1][n]) {
    row.apply(x, column[0], column[1], out[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(LayerNorm, LayerNormArgs, __VA_ARGS__)
HIPOPS_LAYER_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(layer_norm, LayerNormArgs, HIPOPS_LAYER_NORM_KERNELS)

}  // namespace hipops
