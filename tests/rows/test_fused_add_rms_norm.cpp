// hipops_fused_add_rms_norm: both outputs in place, and one output left out, which the golden files do not have.
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

  void run(HostTensor& to, HostTensor* sum) {
    expect_success(hipops_fused_add_rms_norm(&to.view, sum ? &sum->view : nullptr, nullptr, &x.view, &residual.view,
                                             &weight.view, 1e-5, 0, nullptr));
  }
};

}  // namespace

TEST_CASE("fused_add_rms_norm in place of both inputs, and without residual_out", "[fused_add_rms_norm]") {
  on_cpu([] {
    for (const int64_t cols : {3, 40, 63, 1000, 2050, 9001, 40000})
      for (const int64_t shift : {0, 1}) {
        Operands apart(cols, shift), both(cols, shift), swapped(cols, shift), without(cols, shift);
        apart.run(apart.y, &apart.out);
        both.run(both.x, &both.residual);
        swapped.run(swapped.residual, &swapped.x);
        const auto untouched = without.out.bytes();
        without.run(without.y, nullptr);
        EXPECT(without.out.bytes() == untouched);
        EXPECT(all_bits(both.residual) == all_bits(apart.out) && all_bits(swapped.x) == all_bits(apart.out));
        for (int64_t i = 0; i < 3 * cols; ++i)  // a row in place is not split, so its sum has another order
          for (const HostTensor* y : {&both.x, &swapped.residual, &without.y})
            EXPECT(std::fabs(y->get(i) - apart.y.get(i)) <= 4e-7 * std::fabs(apart.y.get(i)));
      }
  });
}
