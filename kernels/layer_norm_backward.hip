// layer_norm_backward: the gradients of y = n * weight + bias, where n = (x - mean) * rstd, over the last dimension.
//
//   dx = rstd * (g - mean(g) - n * mean(g * n)), where g = dy * weight
//   dw = the sum of dy * n over all rows; db = the sum of dy
//
//   x, dy, dx       [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, dw, db  [cols], each optional, in x's type or f32
//   mean, rstd      [rows], each optional, f32 (f64: f64): computed from x if the caller passes none
//   bytes           rows * cols * 3 * sizeof(element) must move; weight, dw and db are smaller
//
// Launches compute rows (device/rows/column_sums.h). Then `merge` adds the sums of chunks of rows.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/layer_norm_backward.hip -o layer_norm_backward.co
#include "layer_norm_backward.h"

#include "device/reduce/merge.h"
#include "device/rows/column_sums.h"
#include "device/rows/rms.h"  // terms_of

namespace hipops {
namespace {

template <class T, bool kUsual_ = false>
struct LayerNormBackward : RowOp {
  using Args = LayerNormBackwardArgs;
  using C = compute_t<T>;
  using Usual = LayerNormBackward<T, true>;
  static constexpr bool kUsual = kUsual_;
  static constexpr bool kColumnsInPart = true, kCenters = true;
  static constexpr int kInputs = 2, kColumns = 1, kGiven = 2, kSums = Args::kSums;
  using Part = Sums<C, kUsual ? 2 : 3>;  // of g, g * (x - mean), (x - mean)^2
  using Largest = Sums<C, 4>;
  struct Row {
    // n = (x - mean) * rstd + n_rest, and dx = rstd * (g - (x - mean) * factor + dx_rest). factor: the mean of the products,
    // times rstd^2. n_rest and dx_rest correct for the mean's rounding. dx_rest has -mean(g), too.
    C mean, rstd, factor, n_rest, dx_rest;
  };
  static HIPOPS_METHOD C absent_column(int) { return 1; }
  static HIPOPS_METHOD C absent_given(int) { return 0; }
  static HIPOPS_METHOD bool is_given(const Args& a, int i) { return a.rows.data[decltype(a.rows)::kFirstGiven + i] != nullptr; }

  // A correction that is not finite is left out: an infinite rstd or factor decides the result without it.
  static HIPOPS_METHOD C or_zero(C v) { return Magnitude()(v) < C(INFINITY) ? v : C(0); }

  static HIPOPS_METHOD bool is_usual(const Args& a) { return !a.columns_are_f32 && is_given(a, 0) && is_given(a, 1); }
  template <int n>
  static HIPOPS_METHOD void prepare_columns(const Args&, C (&)[2][n]) {}
  static HIPOPS_METHOD bool has_center(const Args& a) { return is_given(a, 0); }
  // A computed mean is rounded. Rows far from 0 would show that, so given[2] is the rest of it.
  static HIPOPS_METHOD void find_center(const Args& a, const WideSum<C>& sum, C (&given)[3]) {
    const C inverse_cols = terms_of(a, C()).inverse_cols;
    given[0] = sum.value() * inverse_cols;
    given[2] = (fused_multiply_add(-C(a.rows.cols), given[0], sum.high()) + sum.low()) * inverse_cols;
  }
  template <int n>
  static HIPOPS_METHOD Part part(const C (&in)[2][n], const C (&column)[2][n], C mean) {
    Part part{};
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C g = in[0][i] * column[0][i], deviation = in[1][i] - mean;
      part.of[0] += g;
      part.of[1] = fused_multiply_add(g, deviation, part.of[1]);
      if constexpr (!kUsual) part.of[2] = fused_multiply_add(deviation, deviation, part.of[2]);
    }
    return part;
  }
  static HIPOPS_METHOD Row finalize(const Args& a, const Part& part, const C (&given)[3]) {
    const NormTerms<C>& terms = terms_of(a, C());
    const C inverse_cols = terms.inverse_cols, of_gradients = part.of[0] * inverse_cols;
    if constexpr (kUsual) {
      return {given[0], given[1], part.of[1] * inverse_cols * given[1] * given[1], C(0), -of_gradients};
    } else {
      const C rest = given[2], products = fused_multiply_add(-rest, part.of[0], part.of[1]);
      const C variance = fused_multiply_add(-rest, rest, fused_multiply_add(part.of[2], inverse_cols, terms.eps));
      const C rstd = is_given(reload_arguments(a), 1) ? given[1] : inverse_square_root(variance);
      const C factor = products * inverse_cols * rstd * rstd;
      return {given[0], rstd, factor, or_zero(-rest * rstd), or_zero(rest * factor) - of_gradients};
    }
  }
  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const C (&in)[2][n], const C (&column)[2][n], C (&out)[n],
                                  C (&terms)[2][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C deviation = in[1][i] - row.mean;
      out[i] = row.rstd * fused_multiply_add(in[0][i], column[0][i], fused_multiply_add(-deviation, row.factor, row.dx_rest));
      terms[0][i] = in[0][i] * (kUsual ? deviation * row.rstd : fused_multiply_add(deviation, row.rstd, row.n_rest));
      terms[1][i] = in[0][i];
    }
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_SUMMED_ROW_KERNEL(LayerNormBackward, LayerNormBackwardArgs, __VA_ARGS__)
HIPOPS_LAYER_NORM_BACKWARD_ROW_KERNELS(KERNEL)
#undef KERNEL

#define KERNEL(name, C)                                                       \
  HIPOPS_KERNEL(kReduceBlock, 2) name(HIPOPS_ARGS(LayerNormBackwardArgs) a) { \
    follow_launch_before();                                                   \
    HIPOPS_SHARED(ReduceRoom, room, 2 * kReduceBlock);                          \
    merge_sums<C>(arguments_in_place(a).merges, room);                        \
  }
HIPOPS_LAYER_NORM_BACKWARD_MERGE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(layer_norm_backward, LayerNormBackwardArgs, HIPOPS_LAYER_NORM_BACKWARD_KERNELS)

}  // namespace hipops
