// hipops_reduce: the arguments that it refuses, and the bits of a row, which depend only on the row.
#include <cstring>

#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

namespace {

// The sums over the last dimension of x, with or without a workspace.
std::vector<double> sums_of(const HostTensor& x, int64_t rows, int64_t columns, bool has_workspace, uint32_t flags) {
  alignas(256) static char memory[1 << 12];
  hipops_tensor view = x.view;
  view.shape[0] = rows;
  HostTensor y(HIPOPS_F32, {rows});
  int64_t bytes = 0;
  EXPECT_EQUAL(columns, view.shape[1]);
  EXPECT_EQUAL(hipops_reduce_workspace_bytes(&y.view, &view, HIPOPS_REDUCE_SUM, 2, flags, &bytes), HIPOPS_SUCCESS);
  EXPECT(bytes <= static_cast<int64_t>(sizeof memory));
  void* workspace = has_workspace && bytes != 0 ? memory : nullptr;
  std::memset(memory, 0xff, sizeof memory);
  EXPECT_EQUAL(hipops_reduce(&y.view, &view, HIPOPS_REDUCE_SUM, 2, flags, workspace, workspace ? bytes : 0, nullptr),
               HIPOPS_SUCCESS);
  std::vector<double> sums;
  for (int64_t i = 0; i < rows; ++i) sums.push_back(y.get(i));
  return sums;
}

}  // namespace

TEST_CASE("reduce refuses other shapes, dtypes, dimensions and reductions", "[reduce]") {
  check_calls([] {
    check_every_tensor("reduce");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil,
                            hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("reduce", dtype);
      spoil(call);
      call.refused(status, message);
      call.workspace_refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) {
      refuses(HIPOPS_INVALID_ARGUMENT, message, spoil);
    };
    invalid("dims is 0x4, expected less than 0x4, a bit for each dimension (x.rank is 2)",
            [](OpCall& c) { c.params["dims"] = 4; });
    invalid("y.rank is 3, expected 1 (without the dimensions of dims) or 2 (x.rank)", [](OpCall& c) {
      c.params["dims"] = 2, c["y"].rank = 3, c["y"].shape[2] = 1;
    });
    invalid("y.shape[1] is 8, expected 1 (dims has dimension 1)", [](OpCall& c) { c.params["dims"] = 2; });
    invalid("y.shape[0] is 4, expected 8 (x.shape[1])", [](OpCall& c) { c.params["dims"] = 1, c["y"].rank = 1; });
    invalid("y.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { c["y"].shape[1] = 7; });
    for (const int reduction : {-1, HIPOPS_REDUCE_ARGMIN + 1})
      invalid("reduction is " + std::to_string(reduction) + ", expected a hipops_reduction from 0 to " +
                  std::to_string(HIPOPS_REDUCE_ARGMIN),
              [=](OpCall& c) { c.params["reduction"] = reduction; });
    for (const auto& [reduction, name] : {std::pair{HIPOPS_REDUCE_MAX, "MAX"}, {HIPOPS_REDUCE_MIN, "MIN"}})
      invalid(std::string("x.shape[1] is 0, expected 1 or more (HIPOPS_REDUCE_") + name + ")",
              [reduction = reduction](OpCall& c) {
                c.params["dims"] = 2, c.params["reduction"] = reduction, c["y"].rank = 1;
                c["x"].shape[1] = 0;
              });
    const auto dtype_of_y = [](hipops_dtype dtype) { return [=](OpCall& c) { c["y"].dtype = dtype; }; };
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is i32, expected f32, f16, bf16 or f64", [](OpCall&) {}, HIPOPS_I32);
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is f16, expected f32 (x.dtype)", dtype_of_y(HIPOPS_F16));
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is f16, expected bf16 (x.dtype) or f32", dtype_of_y(HIPOPS_F16),
            HIPOPS_BF16);
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is f32, expected i64, i32 or u32",
            [](OpCall& c) { c.params["reduction"] = HIPOPS_REDUCE_ARGMAX; });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is i32, expected i64 or u32 for numbers up to 2147483648", [](OpCall& c) {
      c.params["reduction"] = HIPOPS_REDUCE_ARGMIN, c.params["dims"] = 3;
      c["x"].shape[0] = (int64_t{1} << 31) + 1, c["x"].shape[1] = 1, c["x"].stride[0] = 0;
      c["y"] = view_of(1 << 20, HIPOPS_I32, {});
    });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is f32, expected f64 (x.dtype)", dtype_of_y(HIPOPS_F32), HIPOPS_F64);
  });
}

TEST_CASE("reduce refuses a workspace that is short or shared", "[reduce]") {
  check_calls([] {
    alignas(256) static char memory[1 << 10];
    HostTensor x(HIPOPS_F32, {3, 40000}), y(HIPOPS_F32, {3});
    const auto sum_of_rows = [&](void* workspace, int64_t size) {
      return hipops_reduce(&y.view, &x.view, HIPOPS_REDUCE_SUM, 2, 0, workspace, size, nullptr);
    };
    const auto ask = [&](int64_t* bytes) {
      return hipops_reduce_workspace_bytes(&y.view, &x.view, HIPOPS_REDUCE_SUM, 2, 0, bytes);
    };
    int64_t bytes = 0;
    EXPECT_EQUAL(ask(&bytes), HIPOPS_SUCCESS);
    EXPECT(bytes > 8 && bytes <= static_cast<int64_t>(sizeof memory));
    const auto refuses = [&](hipops_status status, const std::string& message) {
      EXPECT_EQUAL(status, HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(error_without_values(), "reduce: " + message);
    };
    refuses(sum_of_rows(memory, bytes - 1), "workspace_bytes is " + std::to_string(bytes - 1) + ", expected " +
                                                std::to_string(bytes) + " or more (hipops_reduce_workspace_bytes)");
    refuses(sum_of_rows(memory + 16, bytes), "workspace is " + text_of(memory + 16) + ", expected a multiple of 256");
    y.view.data = memory + bytes - 4;
    refuses(sum_of_rows(memory, bytes), "workspace overlaps y, expected separate memory");
    refuses(ask(nullptr), "bytes is NULL, expected memory for an int64_t");
  });
}

TEST_CASE("a row's sum has the same bits for any grid, and without a workspace; with a flag for any number of rows",
          "[reduce]") {
  on_cpu([] {
    for (const int64_t columns : {5, 33, 300, 8192, 40001}) {
      constexpr int64_t kRows = 20;
      HostTensor x(HIPOPS_F32, {kRows, columns}, {(columns + 3) / 4 * 4, 1});
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 7919 % 1009) / 17 - 20);
      const std::vector<double> all = sums_of(x, kRows, columns, false, HIPOPS_BATCH_INVARIANT);
      for (const int64_t rows : {1, 2, 16, 20}) {
        const std::vector<double> alone = sums_of(x, rows, columns, false, 0);
        for (const bool has_workspace : {false, true})
          for (const int64_t blocks : {1, 3, 1 << 20}) {
            hipops::TemporaryOptions temporary;
            temporary.options.most_blocks = blocks;
            EXPECT(sums_of(x, rows, columns, has_workspace, 0) == alone);
            const std::vector<double> some = sums_of(x, rows, columns, has_workspace, HIPOPS_BATCH_INVARIANT);
            EXPECT(std::equal(some.begin(), some.end(), all.begin()));
          }
      }
    }
  });
}
