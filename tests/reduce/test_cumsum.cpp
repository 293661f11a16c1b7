// hipops_cumsum: the arguments that it refuses, and the bits of a line, which depend only on the line.
#include <cmath>
#include <cstring>

#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

namespace {

// The cumulative sums of `count` lines of x from line `first` on: of rows, or of columns.
std::vector<double> sums_of(const HostTensor& x, int32_t dim, int64_t first, int64_t count, bool has_workspace) {
  alignas(256) static char memory[1 << 16];
  const int of_lines = 1 - dim;
  hipops_tensor from = x.view;
  from.data = static_cast<char*>(from.data) + first * from.stride[of_lines] * int64_t{sizeof(float)};
  from.shape[of_lines] = count;
  HostTensor y(HIPOPS_F32, {from.shape[0], from.shape[1]}, {dim == 0 ? count : from.stride[0], 1});
  int64_t bytes = 0;
  EXPECT_EQUAL(hipops_cumsum_workspace_bytes(&y.view, &from, dim, &bytes), HIPOPS_SUCCESS);
  EXPECT(bytes <= static_cast<int64_t>(sizeof memory));
  void* const workspace = has_workspace && bytes != 0 ? memory : nullptr;
  std::memset(memory, 0xff, sizeof memory);
  EXPECT_EQUAL(hipops_cumsum(&y.view, &from, dim, workspace, workspace ? bytes : 0, nullptr), HIPOPS_SUCCESS);
  std::vector<double> sums;  // line by line
  for (int64_t line = 0; line < count; ++line)
    for (int64_t i = 0; i < from.shape[dim]; ++i) sums.push_back(y.get(dim == 0 ? i * count + line : line * from.shape[1] + i));
  return sums;
}

}  // namespace

TEST_CASE("cumsum refuses other shapes, dtypes and dimensions", "[cumsum]") {
  check_calls([] {
    check_every_tensor("cumsum");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("cumsum", dtype);
      spoil(call);
      call.refused(status, message);
      call.workspace_refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    invalid("y.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { c["y"].shape[1] = 7; });
    invalid("dim is 2, expected 0 to 1 (x.rank is 2)", [](OpCall& c) { c.params["dim"] = 2; });
    invalid("dim is -1, expected 0 to 1 (x.rank is 2)", [](OpCall& c) { c.params["dim"] = -1; });
    invalid("x.rank is 0, expected 1 to 8", [](OpCall& c) { c.set_shape("x", {}), c.set_shape("y", {}); });
    const auto dtype_of_y = [](hipops_dtype dtype) { return [=](OpCall& c) { c["y"].dtype = dtype; }; };
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is i16, expected f32, f16, bf16, f64, u8, i32, u32 or i64", [](OpCall&) {}, HIPOPS_I16);
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is f16, expected f32 (x.dtype)", dtype_of_y(HIPOPS_F16));
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is i32, expected u32 (x.dtype) or i64", dtype_of_y(HIPOPS_I32), HIPOPS_U32);
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is u8, expected i64 (x.dtype)", dtype_of_y(HIPOPS_U8), HIPOPS_I64);
  });
}

TEST_CASE("cumsum refuses a workspace that is short or shared", "[cumsum]") {
  check_calls([] {
    alignas(256) static char memory[1 << 12];
    HostTensor x(HIPOPS_F32, {40000}), y(HIPOPS_F32, {40000});
    int64_t bytes = 0;
    const auto call = [&](void* workspace, int64_t size) { return hipops_cumsum(&y.view, &x.view, 0, workspace, size, nullptr); };
    const auto refuses = [&](hipops_status status, const std::string& message) {
      EXPECT_EQUAL(status, HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(error_without_values(), "cumsum: " + message);
    };
    EXPECT_EQUAL(hipops_cumsum_workspace_bytes(&y.view, &x.view, 0, &bytes), HIPOPS_SUCCESS);
    EXPECT(bytes > 8 && bytes <= static_cast<int64_t>(sizeof memory));
    refuses(call(memory, bytes - 1), "workspace_bytes is " + std::to_string(bytes - 1) + ", expected " + std::to_string(bytes) +
                                         " or more (hipops_cumsum_workspace_bytes)");
    refuses(call(memory + 16, bytes), "workspace is " + text_of(memory + 16) + ", expected a multiple of 256");
    y.view.data = memory + bytes - 4;
    refuses(call(memory, bytes), "workspace overlaps y, expected separate memory");
    refuses(hipops_cumsum_workspace_bytes(&y.view, &x.view, 0, nullptr), "bytes is NULL, expected memory for an int64_t");
  });
}

TEST_CASE("a line's cumulative sums have the same bits for any grid and any other lines, with and without a workspace",
          "[cumsum]") {
  on_cpu([] {
    constexpr int64_t kLines = 24;
    for (const int32_t dim : {0, 1})
      for (const int64_t length : {3, 8, 33, 260, 700, 5000, 13004}) {
        const int64_t padded = (length + 3) / 4 * 4;
        HostTensor x = dim == 1 ? HostTensor(HIPOPS_F32, {kLines, length}, {padded, 1}) : HostTensor(HIPOPS_F32, {length, kLines});
        for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 7919 % 1009) / 17 - 20);
        const std::vector<double> all = sums_of(x, dim, 0, kLines, true);
        for (const auto& [first, lines] : {std::pair<int64_t, int64_t>{0, 1}, {20, 4}, {5, 2}, {0, kLines}})
          for (const bool has_workspace : {false, true})
            for (const int64_t blocks : {1, 1 << 20}) {
              hipops::TemporaryOptions temporary;
              temporary.options.most_blocks = blocks;
              const std::vector<double> some = sums_of(x, dim, first, lines, has_workspace);
              EXPECT(std::equal(some.begin(), some.end(), all.begin() + first * length));
            }
      }
  });
}

TEST_CASE("an infinity or a NaN changes the results from its place on, and none before", "[cumsum]") {
  on_cpu([] {
    for (const int32_t dim : {0, 1})
      for (const int64_t place : {0, 5, 4095, 4096, 12001, 39999})
        for (const double special : {double(INFINITY), -double(INFINITY), double(NAN)})
          for (const bool has_workspace : {false, true}) {
            HostTensor x = dim == 1 ? HostTensor(HIPOPS_F32, {1, 40000}) : HostTensor(HIPOPS_F32, {40000, 1});
            for (int64_t i = 0; i < x.count(); ++i) x.set(i, 1);
            x.set(place, special);
            const std::vector<double> sums = sums_of(x, dim, 0, 1, has_workspace);
            int64_t wrong = 0;
            for (int64_t i = 0; i < 40000; ++i)
              wrong += i < place ? sums[size_t(i)] != double(i + 1)
                                 : std::isnan(special) ? !std::isnan(sums[size_t(i)]) : sums[size_t(i)] != special;
            EXPECT_EQUAL(wrong, 0);
          }
  });
}
