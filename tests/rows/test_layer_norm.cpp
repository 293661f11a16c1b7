// hipops_layer_norm: what it refuses, and its numbers on the CPU.
#include <algorithm>
#include <cmath>

#include "op_calls.h"
#include "op_numbers.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// The mean of f64 elements needs more digits than an x86 long double has: results close to the mean are made of those.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

const RowOp kLayerNorm = {
    "layer_norm",
    true,
    true,
    [](const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* bias,
       double eps) { return hipops_layer_norm(y, x, weight, bias, eps, nullptr); },
    [](const Row& x, const Row& weight, const Row& bias, long double eps, Row* y, Row* magnitude) {
      long double n = static_cast<long double>(x.size()), squares = 0;
      Quad sum = 0;
      for (long double v : x) sum += v;
      Quad mean = sum / n;
      Row less_mean;
      for (long double v : x) less_mean.push_back(static_cast<long double>(v - mean));
      for (long double v : less_mean) squares += v * v;
      long double root = std::sqrt(squares / n + eps);
      for (size_t i = 0; i < x.size(); ++i) {
        long double product = less_mean[i] / root * weight[i];
        (*y)[i] = product + bias[i];
        (*magnitude)[i] = std::fabs(product) + std::fabs(bias[i]);
      }
    }};

void check_extremes(const RowOp& op, hipops_dtype dtype) {
  // The last ones deviate so little from the mean that they are denormal numbers once normalized: weights show the digits.
  const double tiny = dtype == HIPOPS_F64 ? 1e-307 : 1e-37;
  if (dtype != HIPOPS_F16) check_values(op, dtype, {1000, -1000, tiny, -tiny}, 1e-5, {1, 1, 1e4, 1e4});
  // The same of a row that is scaled.
  if (dtype == HIPOPS_F32 || dtype == HIPOPS_BF16)
    check_values(op, dtype, {0x1p100, -0x1p100, 0x1.3cp-45, -0x1.3cp-45}, 1e-5, {1, 1, 0x1p33, 0x1p33});
  // Equal elements, in a row that is scaled so much that nothing is left of eps.
  if (dtype == HIPOPS_F32 || dtype == HIPOPS_BF16) check_values(op, dtype, {0x1p100}, 1e-5);
  // Squares that the type does not have.
  if (dtype != HIPOPS_F16)
    for (const double value : {1e20, 1e25, 3e38, 1e-30, 1e-37})
      for (const double eps : {0.0, 1e-5}) check_values(op, dtype, {value, -value}, eps);
  if (dtype == HIPOPS_F64)
    for (const double value : {1e200, 1.7e308, 1e-200, 1e-307}) check_values(op, dtype, {value, -value}, 0);
  for (const double value : {1.0, 60000.0}) check_values(op, dtype, {value, -value}, 3.4e38);
}

}  // namespace

TEST_CASE("layer_norm refuses bad tensors", "[layer_norm]") {
  check_calls([] {
    check_rows_arguments(kLayerNorm);
    check_memory_of_rows(kLayerNorm);
    check_weight_arguments(kLayerNorm, "weight", &Call::weight, &Call::weight_view);
    check_weight_arguments(kLayerNorm, "bias", &Call::bias, &Call::bias_view);
  });
}

TEST_CASE("layer_norm refuses a weight and a bias of different dtypes", "[layer_norm]") {
  check_calls([] {
    Call f32_bias(kLayerNorm, HIPOPS_BF16);
    f32_bias.bias.view.dtype = HIPOPS_F32;
    f32_bias.wrong_dtype("bias.dtype is f32, expected bf16 (weight.dtype)");
    Call f32_weight(kLayerNorm, HIPOPS_F64);
    f32_weight.weight.view.dtype = HIPOPS_F32;
    f32_weight.wrong_dtype("bias.dtype is f64, expected f32 (weight.dtype)");
  });
}

TEST_CASE("layer_norm checks a bias without a weight", "[layer_norm]") {
  check_calls([] {
    Call call(kLayerNorm);
    call.weight_view = nullptr;
    call.bias.view.shape[0] = 9;
    call.invalid("bias.shape[0] is 9, expected 8 (x.shape[1])");
  });
}

TEST_CASE("layer_norm refuses a bad eps", "[layer_norm]") {
  check_calls([] { check_eps_argument(kLayerNorm); });
}

TEST_CASE("layer_norm of very large and very small values", "[layer_norm]") { on_cpu(kLayerNorm, check_extremes); }

TEST_CASE("layer_norm of rows whose parts differ in size", "[layer_norm]") { on_cpu(kLayerNorm, check_sizes_of_parts); }

TEST_CASE("layer_norm of nothing is success", "[layer_norm]") {
  check_calls([] { check_empty(kLayerNorm); });
}

TEST_CASE("layer_norm is right for rows however they lie", "[layer_norm]") { on_cpu(kLayerNorm, check_layouts); }

TEST_CASE("layer_norm is right for short rows in one piece", "[layer_norm]") { on_cpu(kLayerNorm, check_packed); }

TEST_CASE("layer_norm is right for rows that are split", "[layer_norm]") { on_cpu(kLayerNorm, check_split); }

TEST_CASE("layer_norm takes every rank, and success leaves the last failure alone", "[layer_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    check_ranks(kLayerNorm);
    for (hipops_dtype dtype : kFloats) Call(kLayerNorm, dtype).succeeds();
  });
}

TEST_CASE("layer_norm of a row of equal elements is its bias", "[layer_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    for (hipops_dtype dtype : kFloats) {
      Call call(kLayerNorm, dtype, {3, 1000});
      for (int i = 0; i < 3000; ++i) call.x.set(i, i < 1000 ? 3.140625 : i < 2000 ? -60000 : 0);
      call.succeeds();
      for (int i = 0; i < 3000; ++i) EXPECT_EQUAL(call.y.bits(i), call.bias.bits(i % 1000));
    }
  });
}

TEST_CASE("layer_norm of long rows far from 0 counts their first and last elements", "[layer_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    constexpr int64_t kRows = 9, kColumns = 20001;  // one row after another begins at each place in 16 bytes
    for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
      HostTensor x(dtype, {kRows, kColumns}), y(dtype, {kRows, kColumns});
      for (int64_t i = 0; i < kRows * kColumns; ++i)
        x.set(i, i % kColumns == 0 || i % kColumns == kColumns - 1 ? 96 : 64);
      EXPECT_EQUAL(hipops_layer_norm(&y.view, &x.view, nullptr, nullptr, 0, nullptr), HIPOPS_SUCCESS);
      const double n = kColumns, apart = 2 * 32 / n, at_ends = (32 - apart) / std::sqrt(2 * 32 * 32 / n - apart * apart);
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column : {int64_t(0), kColumns - 1})
          EXPECT(std::fabs(y.get(row * kColumns + column) / at_ends - 1) < 1.0 / 256);
      }
    }
  });
}

TEST_CASE("layer_norm takes the mean of more elements than f32 can count", "[layer_norm]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    constexpr int64_t kColumns = (1 << 24) + 1;
    std::vector<float> x(kColumns, 1000), y(kColumns);
    const auto view = [](std::vector<float>& v) { return hipops_tensor{v.data(), HIPOPS_F32, 2, {1, kColumns}, {kColumns, 1}}; };
    const hipops_tensor from = view(x), to = view(y);
    for (const hipops_tensor* out : {&to, &from}) {  // split over blocks; in place one block streams it
      EXPECT_EQUAL(hipops_layer_norm(out, &from, nullptr, nullptr, 1e-5, nullptr), HIPOPS_SUCCESS);
      const std::vector<float>& of = out == &to ? y : x;
      EXPECT(std::all_of(of.begin(), of.end(), [](float v) { return v == 0; }));
    }
  });
}
