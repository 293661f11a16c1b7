// hipops_layer_norm: rows whose mean is hard to find.
#include <cmath>

#include "op_tester.h"

using namespace hipops;
using namespace hipops_test;

TEST_CASE("layer_norm of a row of equal elements is its bias", "[layer_norm]") {
  on_cpu([] {
    for (hipops_dtype dtype : kFloats) {
      HostTensor x(dtype, {3, 1000}), y(dtype, {3, 1000}), bias(dtype, {1000});
      bias.randomize(3, -1, 1);
      for (int i = 0; i < 3000; ++i) x.set(i, i < 1000 ? 3.140625 : i < 2000 ? -60000 : 0);
      expect_success(hipops_layer_norm(&y.view, nullptr, nullptr, &x.view, nullptr, &bias.view, 1e-5, 0, nullptr));
      for (int i = 0; i < 3000; ++i) EXPECT_EQUAL(y.bits(i), bias.bits(i % 1000));
    }
  });
}

TEST_CASE("layer_norm of long rows far from 0 counts their first and last elements", "[layer_norm]") {
  on_cpu([] {
    constexpr int64_t kRows = 9, kColumns = 20001;  // the rows start at every offset to 16 bytes
    for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
      HostTensor x(dtype, {kRows, kColumns}), y(dtype, {kRows, kColumns});
      for (int64_t i = 0; i < kRows * kColumns; ++i)
        x.set(i, i % kColumns == 0 || i % kColumns == kColumns - 1 ? 96 : 64);
      expect_success(hipops_layer_norm(&y.view, nullptr, nullptr, &x.view, nullptr, nullptr, 0, 0, nullptr));
      const double n = kColumns, apart = 2 * 32 / n,
                   at_ends = (32 - apart) / std::sqrt(2 * 32 * 32 / n - apart * apart);
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t column : {int64_t(0), kColumns - 1})
          EXPECT(std::fabs(y.get(row * kColumns + column) / at_ends - 1) < 1.0 / 256);
    }
  });
}

TEST_CASE("layer_norm finds the mean of more elements than f32 can count", "[layer_norm]") {
  on_cpu([] {
    constexpr int64_t kColumns = (1 << 24) + 1;
    std::vector<float> x(kColumns, 1000), y(kColumns);
    const auto view = [](std::vector<float>& v) {
      return hipops_tensor{v.data(), HIPOPS_F32, 2, {1, kColumns}, {kColumns, 1}};
    };
    const hipops_tensor from = view(x), to = view(y);
    for (const hipops_tensor* out : {&to, &from}) {  // split over blocks; in place one block streams it
      expect_success(hipops_layer_norm(out, nullptr, nullptr, &from, nullptr, nullptr, 1e-5, 0, nullptr));
      const std::vector<float>& of = out == &to ? y : x;
      EXPECT(std::all_of(of.begin(), of.end(), [](float v) { return v == 0; }));
    }
  });
}
