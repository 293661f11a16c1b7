// log_softmax: y = x - max(x) - log(sum(exp(x - max(x)))), over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   bytes    rows * cols * 2 * sizeof(element) must move
//   limits   a row that is all -inf, or holds +inf or a NaN, is NaN
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/log_softmax.hip -o log_softmax.co
#include "log_softmax.h"

#include "device/rows/softmax.h"

namespace hipops {
namespace {

template <class T>
struct LogSoftmax : RowOp {
  using Args = LogSoftmaxArgs;
  using C = compute_t<T>;
  using Largest = C;
  struct Part {
    C maximum = -C(INFINITY), sum = 0;  // sum: of e^(x - maximum) * TileExponential<T>::kScale
  };
  struct Row {
    C maximum, logarithm;  // of the sum
  };
  static constexpr bool kAdds = true;

  template <class View>
  static HIPOPS_METHOD Part part(const Args&, const View& view) {
    const C maximum = view.reduce(Maximum(), Identity());
    return {maximum, view.second_pass().reduce(Sum(), TileExponential<T>(maximum))};
  }

  template <class View>
  static HIPOPS_METHOD void add(const Args&, Part& all, int64_t, const View& view) {
    const C maximum = Maximum()(all.maximum, view.reduce(Maximum(), Identity()));
    const TileExponential<T> power(maximum);
    if (maximum > all.maximum) all = {maximum, all.sum * (power(all.maximum) / power.kScale)};
    all.sum += view.second_pass().reduce(Sum(), power);
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) {
    const C maximum = parts.reduce(Maximum(), [](const Part& p, int64_t) { return p.maximum; });
    const TileExponential<T> factor(maximum);
    return {maximum, parts.reduce(Sum(), [&factor](const Part& p, int64_t) { return p.sum * (factor(p.maximum) / factor.kScale); })};
  }

  static HIPOPS_METHOD Row finalize(const Args&, const Part& part) { return {part.maximum, logarithm(part.sum / TileExponential<T>::kScale)}; }

  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Row& row, const C (&x)[n], C (&)[1][n], C (&out)[1][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = (x[i] - row.maximum) - row.logarithm;
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(LogSoftmax, LogSoftmaxArgs, __VA_ARGS__)
HIPOPS_LOG_SOFTMAX_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(log_softmax, LogSoftmaxArgs, HIPOPS_LOG_SOFTMAX_KERNELS)

}  // namespace hipops
