// softmax_backward: dx = y * (dy - sum(dy * y)) * scale, over the last dimension: the gradient of y = softmax(x * scale).
//
//   dy, y, dx  [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   bytes      rows * cols * 3 * sizeof(element) must move
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/softmax_backward.hip -o softmax_backward.co
#include "softmax_backward.h"

#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct SoftmaxBackward : RowOp {
  using Args = SoftmaxBackwardArgs;
  using C = compute_t<T>;
  using Part = WideSum<C>;
  using Largest = Part;
  using Pair = Elements<C, 2>;  // dy, y
  struct Row {
    C sum, scale;
  };
  static constexpr int kInputs = 2;
  static constexpr bool kInputsApart = true;

  template <class View>
  static HIPOPS_METHOD Part part(const Args&, const View& view) {
    return Part::of(view.reduce(Sum(), [](const Pair& e) { return e.of[0] * e.of[1]; }));
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) {
    return parts.reduce(Sum(), [](const Part& p, int64_t) { return p; });
  }
  static HIPOPS_METHOD Row finalize(const Args& a, const Part& part) { return {part.value(), scale_of(a, C())}; }

  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const Pair (&x)[n], C (&)[1][n], C (&out)[1][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = (x[i].of[0] - row.sum) * row.scale * x[i].of[1];  // y * scale could be denormal
  }

 private:
  static HIPOPS_METHOD float scale_of(const Args& a, float) { return a.scale; }
  static HIPOPS_METHOD double scale_of(const Args& a, double) { return a.scale_in_f64; }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(SoftmaxBackward, SoftmaxBackwardArgs, __VA_ARGS__)
HIPOPS_SOFTMAX_BACKWARD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(softmax_backward, SoftmaxBackwardArgs, HIPOPS_SOFTMAX_BACKWARD_KERNELS)

}  // namespace hipops
