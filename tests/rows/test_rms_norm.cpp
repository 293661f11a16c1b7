// hipops_rms_norm: what it refuses, and its numbers on the CPU.
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
      return hipops_rms_norm(y, x, weight, eps, 0, nullptr);
    },
    [](const Row& x, const Row& weight, const Row&, long double eps, Row* y, Row* magnitude) {
      long double squares = 0;
      for (long double v : x) squares += v * v;
      long double root = std::sqrt(squares / static_cast<long double>(x.size()) + eps);
      for (size_t i = 0; i < x.size(); ++i) (*magnitude)[i] = (*y)[i] = x[i] / root * weight[i];
    }};

void check_extremes(const RowOp& op, hipops_dtype dtype) {
  // Normalized, the first is a denormal number: its weight shows the digits.
  const double tiny = dtype == HIPOPS_F64 ? 1e-307 : 1e-37, denormal = dtype == HIPOPS_F64 ? 1e-322 : 1e-44;
  if (dtype != HIPOPS_F16) check_values(op, dtype, {tiny, 1000}, 1e-5, {1e4, 1});
  if (dtype == HIPOPS_F32 || dtype == HIPOPS_F64) check_values(op, dtype, {denormal, 1000}, 1e-5, {1e4, 1});
  // The same of a row that is scaled.
  if (dtype == HIPOPS_F32 || dtype == HIPOPS_BF16) check_values(op, dtype, {0x1p100, 0x1.3cp-45}, 1e-5, {1, 0x1p33});
  if (dtype == HIPOPS_F64) check_values(op, dtype, {1e300, 1.2345e-150}, 1e-5, {1, 1e200});
  // Squares that the type does not have.
  if (dtype != HIPOPS_F16)
    for (const double value : {1e20, 1e25, 3e38, 1e-30, 1e-38})
      for (const double eps : {0.0, 1e-5}) check_values(op, dtype, {value}, eps);
  if (dtype == HIPOPS_F64)
    for (const double value : {1e200, 1.7e308, 1e-200, 1e-307}) check_values(op, dtype, {value}, 0);
  for (const double value : {1.0, 60000.0}) check_values(op, dtype, {value}, 3.4e38);
}

// Weights of which 1 more is exact; and what one rounding more comes to.
void check_flags(const RowOp&, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (const int64_t cols : {7, 96, 1000, 5001, 40000}) {
    HostTensor x(dtype, {3, cols}), y(dtype, {3, cols}), other(dtype, {3, cols}), weight(dtype, {cols}), more(dtype, {cols});
    x.randomize(1, -3, 5);
    for (int64_t i = 0; i < cols; ++i) weight.set(i, static_cast<double>(i % 13) / 8), more.set(i, weight.get(i) + 1);
    const auto run = [&](HostTensor& to, const HostTensor* w, uint32_t flags) {
      EXPECT_EQUAL(hipops_rms_norm(&to.view, &x.view, w ? &w->view : nullptr, 1e-5, flags, nullptr), HIPOPS_SUCCESS);
    };
    run(y, &weight, HIPOPS_WEIGHT_PLUS_ONE);
    run(other, &more, 0);
    EXPECT(y.bytes() == other.bytes());
    run(other, nullptr, HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT);
    run(y, &weight, HIPOPS_ROUND_BEFORE_WEIGHT);
    for (int64_t i = 0; i < 3 * cols; ++i)
      EXPECT_EQUAL(y.bits(i), hipops::parity::encode(dtype, other.get(i) * weight.get(i % cols)));
    run(y, &weight, HIPOPS_ROUND_BEFORE_WEIGHT | HIPOPS_WEIGHT_PLUS_ONE);
    for (int64_t i = 0; i < 3 * cols; ++i)
      EXPECT_EQUAL(y.bits(i), hipops::parity::encode(dtype, other.get(i) * more.get(i % cols)));
  }
}

// Normalized, the last element is next to the least normal number, which it is rounded to. A weight shows that.
void check_beside_extremes(const RowOp&, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  if (dtype != HIPOPS_F32) return;
  const std::vector<double> row = {4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0x1.fffffep-126};  // its root mean square is 2
  const auto normalized_beside = [&](double other) {
    HostTensor x(dtype, {8, 16}), y(dtype, {8, 16}), weight(dtype, {16});
    for (int64_t i = 0; i < 8 * 16; ++i) x.set(i, i < 16 ? row[static_cast<size_t>(i)] : other);
    for (int64_t i = 0; i < 16; ++i) weight.set(i, 0x1p30);
    EXPECT_EQUAL(hipops_rms_norm(&y.view, &x.view, &weight.view, 0, 0, nullptr), HIPOPS_SUCCESS);
    return y.bits(15);
  };
  EXPECT_EQUAL(normalized_beside(1e30), normalized_beside(1));
}

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

TEST_CASE("rms_norm refuses flags that it does not know", "[rms_norm]") {
  check_calls([] {
    for (const uint32_t flags : {1u, 2u, 0x10u, 0x80000004u}) {
      Call call(kRmsNorm);
      EXPECT_EQUAL(hipops_rms_norm(call.y_view, call.x_view, call.weight_view, 1e-5, flags, nullptr), HIPOPS_INVALID_ARGUMENT);
      char text[16];
      std::snprintf(text, sizeof text, "0x%x", flags);
      EXPECT_EQUAL(error_without_values(), std::string("rms_norm: flags is ") + text +
                                               ", expected 0 or some of HIPOPS_WEIGHT_PLUS_ONE (0x4) and "
                                               "HIPOPS_ROUND_BEFORE_WEIGHT (0x8)");
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    }
  });
}

TEST_CASE("rms_norm by its flags", "[rms_norm]") { on_cpu(kRmsNorm, check_flags); }

TEST_CASE("rms_norm gives a row the same bits beside extreme rows", "[rms_norm]") { on_cpu(kRmsNorm, check_beside_extremes); }

TEST_CASE("rms_norm of very large and very small values", "[rms_norm]") { on_cpu(kRmsNorm, check_extremes); }

TEST_CASE("rms_norm of rows whose parts differ in size", "[rms_norm]") { on_cpu(kRmsNorm, check_sizes_of_parts); }

TEST_CASE("rms_norm of nothing is success", "[rms_norm]") {
  check_calls([] { check_empty(kRmsNorm); });
}

TEST_CASE("rms_norm is right for rows however they lie", "[rms_norm]") { on_cpu(kRmsNorm, check_layouts); }

TEST_CASE("rms_norm is right for short rows in one piece", "[rms_norm]") { on_cpu(kRmsNorm, check_packed); }

TEST_CASE("rms_norm is right for rows that are split", "[rms_norm]") { on_cpu(kRmsNorm, check_split); }

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
