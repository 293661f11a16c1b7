// softmax_ext: y = softmax(x * scale + slope * mask), over the last dimension. A sink is one more element of the row's sum
// and maximum, without a result.
//
//   x, y          [rows, cols], any strides; f32, f16, bf16, computed in f32 and rounded once.
//   mask          [rows, cols], optional, any strides (0 broadcasts); f32, x's type, or booleans: true is 0, false -inf.
//   slope, sink   [rows], each optional, any strides; f32.
//   bytes         rows * cols * 2 * sizeof(element) must move, and the mask
//   limits        an element whose mask is -inf is masked, for all values of x. A row with only -inf and no sink is NaN, or 0 by
//                 an argument. A row with +inf or a NaN is NaN.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/softmax_ext.hip -o softmax_ext.co
#include "softmax_ext.h"

#include "device/rows/softmax.h"

namespace hipops {
namespace {

template <class T>
struct SoftmaxExt : SoftmaxOp<T, SoftmaxExtArgs> {
  using Op = SoftmaxOp<T, SoftmaxExtArgs>;
  using C = typename Op::C;
  using Part = typename Op::Part;
  static constexpr int kTyped = 1, kGiven = 2;
  static constexpr C kMasked = -C(INFINITY);

  static HIPOPS_METHOD C absent_typed() { return 0; }
  static HIPOPS_METHOD C of_boolean(bool takes_part) { return takes_part ? C(0) : kMasked; }
  static HIPOPS_METHOD C absent_given(int i) { return i == 0 ? C(1) : kMasked; }

  template <class E, class Given, int n>
  static HIPOPS_METHOD void combine(const SoftmaxExtArgs& a, const Given& given, const C (&in)[2][n], C (&value)[n]) {
    const C scale = a.scale, slope = given.value[0];
    constexpr bool is_float = sizeof(E) > sizeof(u8);  // otherwise the mask is 0 or -inf
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const C score = fused_multiply_add(in[0][i], scale, slope * (is_float ? in[1][i] : C(0)));
      // nvcc joins a comparison of the bits with the boolean's test, but not one of the numbers.
      const bool is_masked = is_float ? in[1][i] == kMasked : bit_cast<int32_t>(in[1][i]) != 0;
      value[i] = is_masked ? kMasked : score;
    }
  }

  template <class View>
  static HIPOPS_METHOD Part part(const SoftmaxExtArgs&, const View& view) {
    const C sink = view.begins_row() ? view.given(1) : kMasked;
    const C maximum = Maximum()(view.reduce(Maximum(), Identity()), sink);
    const C reference = maximum == kMasked ? C(0) : maximum;
    const auto sum = Op::sum_under(view, reference);
    return {reference, sum + Op::wide(typename Op::template ExponentialOf<View>{reference}(sink))};
  }
  template <class View>
  static HIPOPS_METHOD void add(const SoftmaxExtArgs&, Part& all, int64_t, const View& view) {
    const C sink = view.begins_row() ? view.given(1) : kMasked;
    Op::add_under(all, view, Maximum()(view.reduce(Maximum(), Identity()), sink));
    all.sum = all.sum + Op::wide(TileExponential<T>(all.reference)(sink));
  }
  static HIPOPS_METHOD typename Op::Row finalize(const SoftmaxExtArgs& a, const Part& part) {
    const bool is_zero = a.zeroes_masked_rows && part.sum.value() == 0;
    return Op::finalize(a, {part.reference == kMasked ? C(0) : part.reference, is_zero ? Op::wide(C(1)) : part.sum});
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(SoftmaxExt, SoftmaxExtArgs, __VA_ARGS__)
HIPOPS_SOFTMAX_EXT_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(softmax_ext, SoftmaxExtArgs, HIPOPS_SOFTMAX_EXT_KERNELS)

}  // namespace hipops
