// hipops_sample: the arguments that it refuses, tokens that a plain loop draws, and how often each token is drawn.
#include <cmath>

#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

TEST_CASE("sample refuses other shapes and dtypes", "[sample]") {
  check_calls([] {
    check_every_tensor("sample");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("sample", dtype);
      spoil(call);
      call.refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    invalid("x.rank is 1, expected 2", [](OpCall& c) { c["x"].rank = 1; });
    invalid("x.shape[1] is 0, expected 1 to 4294967294", [](OpCall& c) { c.set_shape("x", {4, 0}); });
    invalid("x.shape[1] is 4294967295, expected 1 to 4294967294", [](OpCall& c) { c.set_shape("x", {4, UINT32_MAX}); });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "tokens.dtype is i32, expected i64 for 2147483649 columns",
            [](OpCall& c) { c.set_shape("x", {4, (int64_t{1} << 31) + 1}); });
    for (const char* numbers : {"tokens", "uniform", "temperature", "top_k", "top_p", "min_p"}) {
      const std::string name = numbers;
      const bool is_integer = name == "tokens" || name == "top_k";
      invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      invalid(name + ".rank is 2, expected 1", [&](OpCall& c) { c.set_shape(name, {4, 1}); });
      refuses(HIPOPS_UNSUPPORTED_DTYPE, name + (is_integer ? ".dtype is u32, expected i32 or i64" : ".dtype is f16, expected f32"),
              [&](OpCall& c) { c[name].dtype = is_integer ? HIPOPS_U32 : HIPOPS_F16; });
    }
    for (const hipops_dtype dtype : {HIPOPS_F64, HIPOPS_I32})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected f32, f16 or bf16",
              [](OpCall&) {}, dtype);
    OpCall call("sample");
    call["tokens"].data = call.data("uniform");
    call.invalid("tokens overlaps uniform, expected separate memory");
  });
}

namespace {

// One number for all rows.
hipops_tensor for_all(HostTensor& number, int64_t rows) {
  hipops_tensor view = number.view;
  view.shape[0] = rows, view.stride[0] = 0;
  return view;
}
HostTensor one(hipops_dtype dtype, double value) {
  HostTensor number(dtype, {1});
  number.set(0, value);
  return number;
}

}  // namespace

TEST_CASE("a plain loop draws the same tokens of equal logits", "[sample]") {
  on_cpu([] {
    for (const int64_t columns : {1, 17, 1000, 8193, 20000}) {
      constexpr int64_t kRows = 3;
      HostTensor x(HIPOPS_F16, {kRows, columns}, {columns + 1, 1}, 3), uniform(HIPOPS_F32, {kRows});
      const auto has_weight = [](int64_t row, int64_t column) { return (column * 7919 + row) % (row + 1) == 0; };
      for (int64_t row = 0; row < kRows; ++row) {
        uniform.set(row, static_cast<double>(row * 5 % 8) / 8);
        for (int64_t c = 0; c < columns; ++c) x.set(row * columns + c, has_weight(row, c) ? (c % 2 ? 0.0 : -0.0) : -INFINITY);
      }
      for (const double k : {0.0, 13.0, 9000.0})
        for (const double p : {0.0, 0.5, 1.0}) {
          HostTensor top_k = one(HIPOPS_I64, k), top_p = one(HIPOPS_F32, p), min_p = one(HIPOPS_F32, 1);
          const hipops_tensor of_k = for_all(top_k, kRows), of_p = for_all(top_p, kRows), least = for_all(min_p, kRows);
          std::vector<int64_t> expected;
          for (int64_t row = 0; row < kRows; ++row) {
            std::vector<int64_t> left;
            for (int64_t c = 0; c < columns; ++c)
              if (has_weight(row, c) && (k == 0 || static_cast<double>(left.size()) < k)) left.push_back(c);
            const double kept = std::max(1.0, std::ceil(p * static_cast<double>(left.size())));
            expected.push_back(left.empty() ? -1 : left[static_cast<size_t>(uniform.get(row) * kept)]);
          }
          for (const int64_t blocks : {1, 1000}) {
            hipops::TemporaryOptions temporary;
            temporary.options.most_blocks = blocks;
            HostTensor tokens(HIPOPS_I64, {kRows});
            expect_success(hipops_sample(&tokens.view, &x.view, &uniform.view, nullptr, &of_k, &of_p, &least, nullptr));
            for (int64_t row = 0; row < kRows; ++row)
              EXPECT(static_cast<int64_t>(tokens.bits(row)) == expected[static_cast<size_t>(row)]);
          }
        }
    }
  });
}

TEST_CASE("tokens are drawn as often as they are likely", "[sample]") {
  on_cpu([] {
    constexpr int64_t kRows = 400, kColumns = 50;
    HostTensor x(HIPOPS_F32, {kColumns}), uniform(HIPOPS_F32, {kRows}), tokens(HIPOPS_I32, {kRows});
    for (int64_t row = 0; row < kRows; ++row) uniform.set(row, (static_cast<double>(row) + 0.5) / kRows);
    for (int64_t c = 0; c < kColumns; ++c) x.set(c, std::sin(static_cast<double>(c) * 12.9) * 4 + 100);
    hipops_tensor same = x.view;
    same.rank = 2, same.shape[0] = kRows, same.shape[1] = kColumns, same.stride[0] = 0, same.stride[1] = 1;
    for (const double temperature : {0.5, 1.0, 8.0}) {
      HostTensor number = one(HIPOPS_F32, temperature);
      const hipops_tensor of_rows = for_all(number, kRows);
      expect_success(hipops_sample(&tokens.view, &same, &uniform.view, &of_rows, nullptr, nullptr, nullptr, nullptr));
      std::vector<double> probability, drawn(kColumns);
      double sum = 0;
      for (int64_t c = 0; c < kColumns; ++c) sum += probability.emplace_back(std::exp((x.get(c) - 104) / temperature));
      for (int64_t row = 0; row < kRows; ++row) drawn[static_cast<size_t>(tokens.get(row))] += 1;
      for (size_t c = 0; c < kColumns; ++c) EXPECT(std::abs(drawn[c] - probability[c] / sum * kRows) <= 1.01);
    }
  });
}

TEST_CASE("numbers beyond their range, and logits that are not finite", "[sample]") {
  on_cpu([] {
    const double inf = INFINITY, nan = NAN;
    const auto drawn = [](const std::vector<double>& logits, double number, double temperature = 1, double k = 0, double p = 1, double min = 0) {
      HostTensor x(HIPOPS_F32, {1, static_cast<int64_t>(logits.size())}), tokens(HIPOPS_I32, {1});
      for (size_t c = 0; c < logits.size(); ++c) x.set(static_cast<int64_t>(c), logits[c]);
      HostTensor uniform = one(HIPOPS_F32, number), t = one(HIPOPS_F32, temperature), top_k = one(HIPOPS_I32, k), top_p = one(HIPOPS_F32, p),
                 min_p = one(HIPOPS_F32, min);
      expect_success(hipops_sample(&tokens.view, &x.view, &uniform.view, &t.view, &top_k.view, &top_p.view, &min_p.view, nullptr));
      return static_cast<int>(tokens.get(0));
    };
    for (const double number : {1.0, 7.0, inf}) EXPECT(drawn({1, 1, 1, -inf}, number) == 2);
    for (const double number : {-0.0, -1.0, -inf, nan}) EXPECT(drawn({-inf, 1, 1, 1}, number) == 1);
    for (const double temperature : {0.0, -0.0, -1.0, -inf, nan}) EXPECT(drawn({0, 5, 5, 5}, 0.9, temperature, 4, 1, 0.5) == 1);
    EXPECT(drawn({0, 5, 4}, 0.999, 1e-45) == 1);
    EXPECT(drawn({-3e38, 3e38, -inf, 0}, 0.9, inf) == 3);
    EXPECT(drawn({0, 2, 2, 1}, 0.9, 1, -3, nan, nan) == 3);
    EXPECT(drawn({0, 2, 2, 1}, 0.99, 1, 2147483647) == 3);
    EXPECT(drawn({0, 2, 2, 1}, 0.99, 1, -2147483648.0) == 3);
    for (const double p : {0.0, -1.0, 1e-30, -inf}) EXPECT(drawn({0, 2, 2, 1}, 0.99, 1, 0, p) == 1);
    for (const double p : {1.0, 2.0, inf, nan}) EXPECT(drawn({0, 2, 2, 1}, 0.99, 1, 0, p) == 3);
    for (const double min : {1.0, 2.0, inf}) EXPECT(drawn({0, 2, 2, 1}, 0.99, 1, 0, 1, min) == 2);
    EXPECT(drawn({0, inf, 3, inf}, 0.49) == 1);
    EXPECT(drawn({0, inf, 3, inf}, 0.5, inf) == 3);
    EXPECT(drawn({0, inf, 3, inf}, 0.5, 0) == 1);
    EXPECT(drawn({-inf, -inf}, 0.5) == -1);
    EXPECT(drawn({-inf, -inf}, 0.5, 0) == -1);
    EXPECT(drawn({0, nan, inf}, 0.5) == -1);
    EXPECT(drawn({0, nan, inf}, 0.5, 0) == -1);
  });
}
