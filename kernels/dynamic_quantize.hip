// dynamic_quantize: scale = max|x| / most of each row, q = x / scale, rounded to an 8-bit type.
//
//   x        [rows, cols], any strides; f32, f16, bf16. A group of columns is a row of [rows, groups, columns of a group]
//   q        as x; i8, and the 8-bit floats.
//   scale    f32, a number for each row, any strides.
//   bytes    rows * cols * (1 + sizeof(element of x)) must move.
//   limits   a NaN makes the scale and all of the row NaN. An infinity makes the scale infinite, unless it is bounded.
//
// The type of q is a uniform branch. max|x| is exact, so that every kernel gives the same bits.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/dynamic_quantize.hip -o dynamic_quantize.co
#include "dynamic_quantize.h"

#include "device/core/float8.h"
#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

template <class T>
struct DynamicQuantize : RowOp {
  using Args = DynamicQuantizeArgs;
  using C = float;
  using Part = int32_t;
  using Largest = int32_t;
  static constexpr int kScalars = 1;
  static constexpr bool kQuantizes = true;

  template <class View>
  static HIPOPS_METHOD Part part(const Args&, const View& view) {
    // Magnitudes have the order of their bits, and NaN is the largest.
    return view.reduce(LargestInteger(), [](C x) { return bit_cast<int32_t>(x) & INT32_MAX; });
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args&, const Parts& parts) {
    return parts.reduce(LargestInteger(), [](const Part& p, int64_t) { return p; });
  }
  static HIPOPS_METHOD Quotient finalize(const Args& a, const Part& part) {
    C largest = bit_cast<C>(part);
    if (a.upper_bound != nullptr && largest > *a.upper_bound) largest = *a.upper_bound;
    const C scale = largest / a.most;
    return Quotient(scale < a.least ? a.least : scale);
  }
  static HIPOPS_METHOD void scalars(const Quotient& row, C (&out)[1]) { out[0] = row.scale(); }

  template <int n>
  static HIPOPS_METHOD void apply(const Args&, const Quotient& row, const C (&x)[n], C (&)[1][n], C (&out)[1][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = x[i];
    row.apply(out[0]);
  }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(DynamicQuantize, DynamicQuantizeArgs, __VA_ARGS__)
HIPOPS_DYNAMIC_QUANTIZE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(dynamic_quantize, DynamicQuantizeArgs, HIPOPS_DYNAMIC_QUANTIZE_KERNELS)

}  // namespace hipops
