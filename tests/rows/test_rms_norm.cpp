// hipops_rms_norm: what it refuses, and its numbers on the CPU with every kernel that it has.
#include "rms_norm.h"

#include "op_calls.h"
#include "op_numbers.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RowOp kRmsNorm = {
    "rms_norm",
    true,
    false,
    [](const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor*, double eps) {
      return hipops_rms_norm(y, x, weight, eps, flags, nullptr);
    },
    [](const Row& x, const Row& weight, const Row&, long double eps, Row* y, Row* magnitude) {
      long double squares = 0;
      for (long double v : x) squares += v * v;
      long double root = std::sqrt(squares / static_cast<long double>(x.size()) + eps);
      for (size_t i = 0; i < x.size(); ++i) (*magnitude)[i] = (*y)[i] = x[i] / root * weight[i];
    },
    [](Op& op, int kernel, uint32_t grid, uint32_t block, const RowGeometry& geometry, const void* x, void* y) {
      RmsNormArgs args{};
      args.geometry = geometry;
      args.x = x;
      args.y = y;
      set_norm_terms(1, geometry.cols, &args);
      return launch(op, kernel, grid, block, &args, sizeof args, nullptr);
    }};

}  // namespace

TEST_CASE("rms_norm refuses bad tensors", "[rms_norm]") {
  check_calls([] {
    check_rows_arguments(kRmsNorm);
    check_memory_of_rows(kRmsNorm);
    check_weight_arguments(kRmsNorm, "weight", &Call::weight, &Call::weight_view);
  });
}

TEST_CASE("rms_norm refuses a bad eps", "[rms_norm]") {
  check_calls([] { check_eps_argument(kRmsNorm); });
}

TEST_CASE("rms_norm of nothing is success", "[rms_norm]") {
  check_calls([] { check_empty(kRmsNorm); });
}

TEST_CASE("rms_norm's variants are right at their ends", "[rms_norm]") { on_cpu(kRmsNorm, check_variants); }

TEST_CASE("rms_norm takes few short rows element by element", "[rms_norm]") { on_cpu(kRmsNorm, check_few); }

TEST_CASE("rms_norm's variants are right over several rounds of the grid", "[rms_norm]") {
  on_cpu(kRmsNorm, check_rounds, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("rms_norm takes every rank, and success leaves the last failure alone", "[rms_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    check_ranks(kRmsNorm);
    for (hipops_dtype dtype : kFloats) Call(kRmsNorm, dtype).succeeds();
  });
}

TEST_CASE("rms_norm with an eps of 0 divides by the root alone", "[rms_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    Call call(kRmsNorm, HIPOPS_F32, {2, 4});
    call.eps = 0;
    for (int i = 0; i < 8; ++i) call.x.set(i, i < 4 ? 2 * (i % 2) - 1 : 0);  // a row of -1 and 1, a row of zeros
    call.plain().succeeds();
    for (int i = 0; i < 4; ++i) EXPECT_EQUAL(call.y.get(i), call.x.get(i));
    for (int i = 4; i < 8; ++i) EXPECT(std::isnan(call.y.get(i)));  // 0 / 0
  });
}

// Split rows of which a device's caches do not hold the weights: a tile of one row is followed by that of the next.
TEST_CASE("rms_norm uses weights that no cache holds for all rows at once", "[rms_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    constexpr int64_t kRows = 3, kColumns = 1 << 21;
    std::vector<float> x(kRows * kColumns), y(kRows * kColumns), w(kColumns);
    const auto sign = [](int64_t row, int64_t i) { return (row + i) % 3 == 0 ? -1.0f : 1.0f; };
    for (int64_t i = 0; i < kColumns; ++i) w[static_cast<size_t>(i)] = static_cast<float>(i % 1009);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < kColumns; ++i)
        x[static_cast<size_t>(row * kColumns + i)] = sign(row, i) * static_cast<float>(1 << row);
    const hipops_tensor from{x.data(), HIPOPS_F32, 2, {kRows, kColumns}, {kColumns, 1}},
        to{y.data(), HIPOPS_F32, 2, {kRows, kColumns}, {kColumns, 1}}, weight{w.data(), HIPOPS_F32, 1, {kColumns}, {1}};
    EXPECT_EQUAL(hipops_rms_norm(&to, &from, &weight, 0, 0, nullptr), HIPOPS_SUCCESS);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < kColumns; ++i)
        EXPECT_EQUAL(y[static_cast<size_t>(row * kColumns + i)], sign(row, i) * w[static_cast<size_t>(i)]);
  });
}
