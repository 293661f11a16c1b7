// The norms that add a residual: both outputs in place, and one output left out, which the golden files do not have.
#include <algorithm>
#include <cmath>

#include "op_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// The tensors of a call. `y` and `out` may be x, residual, or memory of their own.
struct Operands {
  HostTensor y, out, x, residual, weight;

  Operands(int64_t cols, int64_t shift)
      : y(HIPOPS_F32, {3, cols}, {}, 2 * shift),
        out(HIPOPS_F32, {3, cols}),
        x(HIPOPS_F32, {3, cols}, {}, shift),
        residual(HIPOPS_F32, {3, cols}, {}, 3 * shift),
        weight(HIPOPS_F32, {cols}) {
    x.randomize(1, -1, 1), residual.randomize(2, -2, 2), weight.randomize(3, -1, 1);
  }

  void run(bool centred, HostTensor& to, HostTensor* sum) {
    const hipops_tensor* out = sum ? &sum->view : nullptr;
    expect_success(centred ? hipops_fused_add_layer_norm(&to.view, out, nullptr, nullptr, &x.view, &residual.view,
                                                         &weight.view, nullptr, 1e-5, 0, nullptr)
                           : hipops_fused_add_rms_norm(&to.view, out, nullptr, &x.view, &residual.view, &weight.view, 1e-5,
                                                       0, nullptr));
  }
};

}  // namespace

TEST_CASE("norms in place of x and residual, and without residual_out", "[fused_add_rms_norm]") {
  on_cpu([] {
    for (const int64_t cols : {3, 40, 63, 1000, 2050, 9001, 40000})
      for (const int64_t way : {0, 1, 2, 3}) {
        const int64_t shift = way % 2;
        const bool centred = way > 1;  // then y is a difference, whose terms are about 1
        Operands apart(cols, shift), both(cols, shift), swapped(cols, shift), without(cols, shift);
        apart.run(centred, apart.y, &apart.out);
        both.run(centred, both.x, &both.residual);
        swapped.run(centred, swapped.residual, &swapped.x);
        const auto untouched = without.out.bytes();
        without.run(centred, without.y, nullptr);
        EXPECT(without.out.bytes() == untouched);
        EXPECT(all_bits(both.residual) == all_bits(apart.out) && all_bits(swapped.x) == all_bits(apart.out));
        for (int64_t i = 0; i < 3 * cols; ++i)  // a row in place is not split, so its sum has another order
          for (const HostTensor* y : {&both.x, &swapped.residual, &without.y})
            EXPECT(std::fabs(y->get(i) - apart.y.get(i)) <= 4e-7 * std::max(std::fabs(apart.y.get(i)), centred ? 2.0 : 0.0));
      }
  });
}
