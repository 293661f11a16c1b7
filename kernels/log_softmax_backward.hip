// log_softmax_backward: dx = dy - exp(y) * sum(dy), over the last dimension: the gradient of y = log_softmax(x).
//
//   dy, y, dx  [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   bytes      rows * cols * 3 * sizeof(element) must move
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/log_softmax_backward.hip -o log_softmax_backward.co
#include "log_softmax_backward.h"

#include "device/rows/softmax.h"

namespace hipops {
namespace {

template <class T>
struct LogSoftmaxBackward : RowOp {
  using Args = LogSoftmaxBackwardArgs;
  using C = compute_t<T>;
  using Exponential = typename Precision<T>::Exponential;
  using Part = WideSum<C>;
  using Largest = Part;
  using Pair = Elements<C, 2>;  // dy, y
  struct Row {
    C sum, factor;  // whose product is the sum over kScale
  };
  static constexpr int kInputs = 2;
  static constexpr bool kInputsApart = true;

  template <class View>
  static HIPOPS_METHOD Part part(const Args&, const View& view) {
    return Part::of(view.reduce(Sum(), [](const Pair& e) { return e.of[0]; }));
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) {
    return parts.reduce(Sum(), [](const Part& p, int64_t) { return p; });
  }
  // A denormal exp(y) would lose digits that a large sum shows, and a small sum over kScale would be denormal itself.
  static HIPOPS_METHOD Row finalize(const Args&, const Part& part) {
    constexpr C kInverse = 1 / Exponential::kScale;
    const C sum = part.value();
    return sum > C(-1) && sum < C(1) ? Row{sum, kInverse} : Row{sum * kInverse, C(1)};
  }

  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const Pair (&x)[n], C (&)[1][n], C (&out)[1][n]) {
    const Exponential power{C(0)};
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = fused_multiply_add(-power(x[i].of[1]) * row.factor, row.sum, x[i].of[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(LogSoftmaxBackward, LogSoftmaxBackwardArgs, __VA_ARGS__)
HIPOPS_LOG_SOFTMAX_BACKWARD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(log_softmax_backward, LogSoftmaxBackwardArgs, HIPOPS_LOG_SOFTMAX_BACKWARD_KERNELS)

}  // namespace hipops
