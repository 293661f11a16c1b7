// rms_norm_backward: the gradients of y = x * rstd * weight, where rstd = 1 / sqrt(mean(x^2) + eps), over the last dimension.
//
//   dx = rstd * (g - x * mean(g * x) * rstd^2), where g = dy * weight
//   dw = the sum of dy * x * rstd over all rows
//
//   x, dy, dx   [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, dw  [cols], optional, in x's type or f32
//   rstd        [rows], optional, f32 (f64: f64): computed from x if the caller passes none
//   bytes       rows * cols * 3 * sizeof(element) must move; weight and dw are smaller
//   flags       round_before_weight: dw's terms have x * rstd as the norm rounded it. weight_plus_one: 1 + weight instead
//               of weight
//
// Launches compute rows (device/rows/column_sums.h). Then `merge` adds the sums of chunks of rows.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rms_norm_backward.hip -o rms_norm_backward.co
#include "rms_norm_backward.h"

#include "device/reduce/merge.h"
#include "device/rows/column_sums.h"
#include "device/rows/rms.h"

namespace hipops {
namespace {

template <class T, bool kUsual_ = false>
struct RmsNormBackward : RowOp {
  using Args = RmsNormBackwardArgs;
  using C = compute_t<T>;
  using Usual = RmsNormBackward<T, true>;
  static constexpr bool kUsual = kUsual_;
  static constexpr bool kColumnsInPart = true;
  static constexpr int kInputs = 2, kColumns = 1, kGiven = 1, kSums = Args::kSums;
  using Part = Sums<C, kUsual ? 1 : 2>;  // of products, of squares
  using Largest = Sums<C, 2>;
  struct Row {
    C rstd, factor;  // factor: the mean of the products, times rstd^2
  };
  static HIPOPS_METHOD C absent_column(int) { return 1; }
  static HIPOPS_METHOD C absent_given(int) { return 0; }
  static HIPOPS_METHOD bool is_given(const Args& a) { return a.rows.data[decltype(a.rows)::kFirstGiven] != nullptr; }
  static HIPOPS_METHOD bool is_usual(const Args& a) { return !a.columns_are_f32 && a.flags == 0 && is_given(a); }

  template <int n>
  static HIPOPS_METHOD void prepare_columns(const Args& a, C (&column)[2][n]) {
    if constexpr (!kUsual) RowScale<C>::add_one(column[0], a.columns[0].data != nullptr, a.flags);
  }
  template <int n>
  static HIPOPS_METHOD Part part(const C (&in)[2][n], const C (&column)[2][n]) {
    Part part{};
#pragma unroll
    for (int i = 0; i < n; ++i) {
      part.of[0] = fused_multiply_add(in[0][i] * column[0][i], in[1][i], part.of[0]);
      if constexpr (!kUsual) part.of[1] = fused_multiply_add(in[1][i], in[1][i], part.of[1]);
    }
    return part;
  }
  static HIPOPS_METHOD Row finalize(const Args& a, const Part& part, const C (&given)[1]) {
    const NormTerms<C>& terms = terms_of(a, C());
    const C mean = part.of[0] * terms.inverse_cols;
    if constexpr (!kUsual) {
      const C squares = fused_multiply_add(part.of[1], terms.inverse_cols, terms.eps);
      if (!is_given(a)) return {inverse_square_root(squares), mean / squares};
    }
    return {given[0], mean * given[0] * given[0]};
  }
  template <int n>
  static HIPOPS_METHOD void apply(const Args& a, const Row& row, const C (&in)[2][n], const C (&column)[2][n], C (&out)[n],
                                  C (&terms)[1][n]) {
    C normalized[n];
#pragma unroll
    for (int i = 0; i < n; ++i) {
      normalized[i] = in[1][i] * row.rstd;
      out[i] = row.rstd * fused_multiply_add(-in[1][i], row.factor, in[0][i] * column[0][i]);
    }
    if (__builtin_expect(!kUsual && (a.flags & round_before_weight), 0)) round_to<T>(normalized);
#pragma unroll
    for (int i = 0; i < n; ++i) terms[0][i] = in[0][i] * normalized[i];
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_SUMMED_ROW_KERNEL(RmsNormBackward, RmsNormBackwardArgs, __VA_ARGS__)
HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(KERNEL)
#undef KERNEL

#define KERNEL(name, C)                                                     \
  HIPOPS_KERNEL(kReduceBlock, 2) name(HIPOPS_ARGS(RmsNormBackwardArgs) a) { \
    follow_launch_before();                                                 \
    HIPOPS_SHARED(ReduceRoom, room, 2 * kReduceBlock);                        \
    merge_sums<C>(arguments_in_place(a).merges, room);                      \
  }
HIPOPS_RMS_NORM_BACKWARD_MERGE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rms_norm_backward, RmsNormBackwardArgs, HIPOPS_RMS_NORM_BACKWARD_KERNELS)

}  // namespace hipops
