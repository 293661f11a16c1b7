// hipops_rms_norm: rows that the golden files do not have.
#include "op_tester.h"

using namespace hipops;
using namespace hipops_test;

// The normalized last element rounds to the least normal number. The weight shows that.
TEST_CASE("rms_norm gives a row the same bits next to extreme rows", "[rms_norm]") {
  on_cpu([] {
    const std::vector<double> row = {4, 2, 2, 2, 2, 2, 2, 2,
                                     2, 2, 2, 2, 2, 0, 0, 0x1.fffffep-126};  // its root mean square is 2
    const auto normalized_next_to = [&](double other) {
      HostTensor x(HIPOPS_F32, {8, 16}), y(HIPOPS_F32, {8, 16}), weight(HIPOPS_F32, {16});
      for (int64_t i = 0; i < 8 * 16; ++i) x.set(i, i < 16 ? row[static_cast<size_t>(i)] : other);
      for (int64_t i = 0; i < 16; ++i) weight.set(i, 0x1p30);
      expect_success(hipops_rms_norm(&y.view, nullptr, &x.view, &weight.view, 0, 0, nullptr));
      return y.bits(15);
    };
    EXPECT_EQUAL(normalized_next_to(1e30), normalized_next_to(1));
  });
}

// The caches of a device cannot hold all weights. Each span has several tiles, and a tile of one row is followed by the
// same tile of the next row.
TEST_CASE("rms_norm loads weights once for several split rows", "[rms_norm]") {
  on_cpu([] {
    constexpr int64_t kRows = 3;
    for (const auto& [dtype, columns] :
         {std::pair{HIPOPS_F32, int64_t{1} << 21}, {HIPOPS_F64, (int64_t{1} << 21) + 5001}}) {
      HostTensor x(dtype, {kRows, columns}), y(dtype, {kRows, columns}), weight(dtype, {columns});
      const auto sign = [](int64_t row, int64_t i) { return (row + i) % 3 == 0 ? -1.0 : 1.0; };
      const int64_t cols = columns;
      for (int64_t i = 0; i < cols; ++i) weight.set(i, static_cast<double>(i % 1009));
      for (int64_t i = 0; i < kRows * cols; ++i) x.set(i, sign(i / cols, i % cols) * (1 << i / cols));
      expect_success(hipops_rms_norm(&y.view, nullptr, &x.view, &weight.view, 0, 0, nullptr));
      for (int64_t i = 0; i < kRows * cols; ++i)
        EXPECT_EQUAL(y.get(i), sign(i / cols, i % cols) * weight.get(i % cols));
    }
  });
}
