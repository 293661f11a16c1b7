// hipops_softmax: rows that the golden files do not have.
#include <cmath>

#include "op_tester.h"

using namespace hipops;
using namespace hipops_test;

// Each wave computes exponentials under its own maximum. They are small only after the scaling by the row's maximum.
TEST_CASE("softmax of waves far under the row's maximum", "[softmax]") {
  on_cpu([] {
    constexpr int cols = 4096;
    for (const double low : {-20.0, -80.0, -84.0, -200.0}) {
      HostTensor x(HIPOPS_BF16, {1, cols}), y(HIPOPS_BF16, {1, cols});
      for (int i = 0; i < cols; ++i) x.set(i, i < cols / 2 ? low : 0.0);
      expect_success(hipops_softmax(&y.view, &x.view, 0, nullptr));
      const double sum = cols / 2 * (1 + std::exp(low)), least = std::ldexp(1.0, -133);
      for (int i = 0; i < cols; ++i) {
        const double expected = std::exp(i < cols / 2 ? low : 0.0) / sum;
        EXPECT(std::abs(y.get(i) - expected) <= std::max(expected / 128, least));
      }
    }
  });
}

// One split row has NaN, infinity or nothing but -infinity in one of its spans.
TEST_CASE("softmax of f16, bf16 and f64 rows with a span of infinities or NaN", "[softmax]") {
  on_cpu([] {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr int cols = 40001;
    for (hipops_dtype dtype : kFloats) {
      HostTensor x(dtype, {4, cols}), y(dtype, {4, cols});
      for (int i = 0; i < 4 * cols; ++i) x.set(i, -infinity);
      x.set(2 * cols - 1, 7);             // row 1 has one number
      x.set(2 * cols + 5, infinity);      // row 2
      x.set(4 * cols - 2, std::nan(""));  // row 3
      expect_success(hipops_softmax(&y.view, &x.view, 0, nullptr));
      for (int i = 0; i < 4 * cols; ++i) {
        EXPECT_EQUAL(std::isnan(y.get(i)), i / cols != 1);
        if (i / cols == 1) EXPECT_EQUAL(y.get(i), i == 2 * cols - 1 ? 1.0 : 0.0);
      }
    }
  });
}
