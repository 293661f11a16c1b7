// hipops_index_select: what it refuses, which kernel it chooses, and its results on the CPU.
#include "move/take_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const hipops_test::TakeOp kIndexSelect = {"index_select", true, hipops_index_select};

}  // namespace

TEST_CASE("index_select refuses bad arguments", "[index_select]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    check_refusals(kIndexSelect);
    auto invalid = [](auto spoil, const std::string& message) {
      TakeCall call(kIndexSelect);
      spoil(call);
      call.invalid(message);
    };
    invalid([](TakeCall& c) { c.index.view.rank = 0; }, "index.rank is 0, expected 1");
    invalid([](TakeCall& c) { c.index.view = view_of(4096, HIPOPS_I32, {3, 1}); }, "index.rank is 2, expected 1");
    invalid([](TakeCall& c) { c.y.view.rank = 1; }, "y.rank is 1, expected 2 (x.rank)");
    invalid([](TakeCall& c) { c.index.view.shape[0] = 2; }, "y.shape[0] is 3, expected 2 (index.shape[0])");
    invalid([](TakeCall& c) { c.x.view.shape[1] = 7; }, "y.shape[1] is 8, expected 7 (x.shape[1])");
    invalid([](TakeCall& c) { c.dim = 1; }, "y.shape[0] is 3, expected 4 (x.shape[0])");
  });
}

TEST_CASE("index_select takes every dtype and five for the index", "[index_select]") { check_supports(kIndexSelect); }

TEST_CASE("index_select of nothing is success", "[index_select]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] { check_empty(kIndexSelect); });
}

TEST_CASE("index_select is right for any shapes, strides and dtypes", "[index_select]") {
  on_cpu(kIndexSelect, check_random);
}

TEST_CASE("index_select's kernels are right over several rounds of the grid", "[index_select]") {
  on_cpu(kIndexSelect, check_rounds);
}

TEST_CASE("index_select takes elements of short rows by way of shared memory", "[index_select]") {
  on_cpu(kIndexSelect, [](const TakeOp& op) {
    std::mt19937_64 random(16);
    const int64_t rows = 128 * 512 + 1, size = 17, taken = 16;
    TakeOperands t{HostTensor(HIPOPS_BF16, {rows, taken}), HostTensor(HIPOPS_BF16, {rows, size}, {}, 1),
                   HostTensor(HIPOPS_I32, {taken}), 1};
    const int kernel = plan_take(plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, {0, 1}, 1, nullptr).kernel;
    EXPECT(kernel >= kTakeFirstStaged && kernel < kTakeFirstShifted);
    fill_with_bits(t.x, random);
    for (int64_t i = 0; i < taken; ++i) set_bits(t.index, i, random_index(random, size, HIPOPS_I32));
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    EXPECT_EQUAL(op.call(&t.y.view, &t.x.view, &t.index.view, 1, &report, nullptr), HIPOPS_SUCCESS);
    expect_taken(op, t, &report);
  });
}

TEST_CASE("index_select counts an index once, however many elements it serves", "[index_select]") {
  if (!has_cpu()) return;
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    for (int64_t inner : {1, 3, 32, 1000})
      for (int64_t outer : {1, 2, 5}) {
        HostTensor x(HIPOPS_F32, {outer, 4, inner}), y(HIPOPS_F32, {outer, 6, inner}), index(HIPOPS_U32, {6});
        const double values[] = {3, 4294967295.0, 4, 0, 4294967294.0, 3};
        for (int64_t i = 0; i < 6; ++i) index.set(i, values[i]);
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        EXPECT_EQUAL(hipops_index_select(&y.view, &x.view, &index.view, 1, &report, nullptr), HIPOPS_SUCCESS);
        EXPECT_EQUAL(report.count, 2u);
        EXPECT_EQUAL(report.first, 2u);
      }
  });
}

TEST_CASE("index_select takes few units one by one, fewer where they are no rows", "[index_select]") {
  const auto kernel = [](hipops_dtype dtype, int64_t rows, int64_t columns) {
    const hipops_tensor y = view_of(1 << 16, dtype, {rows, columns});
    const hipops_tensor x = view_of(uintptr_t{1} << 40, dtype, {9, columns}), index = view_of(1 << 12, HIPOPS_I64, {rows});
    return plan_take(plan_options(), DeviceFacts(), y, x, index, {1, 0}, 0, nullptr).kernel;
  };
  CHECK(kernel(HIPOPS_BF16, 256, 4096) == kTakeFirstFew + 4);
  CHECK(kernel(HIPOPS_BF16, 257, 4096) == kTakeFirstRows + 4);
  CHECK(kernel(HIPOPS_BF16, 130, 1001) == kTakeFirstFew + 1);
  CHECK(kernel(HIPOPS_BF16, 131, 1001) == kTakeFirstShifted + 1);
  CHECK(kernel(HIPOPS_F32, 65536, 1) == kTakeFirstFew + 2);
  CHECK(kernel(HIPOPS_F32, 65537, 1) == 2);
}

TEST_CASE("index_select moves the widest units that addresses, rows and steps allow", "[index_select]") {
  const AsMany as_many;
  const uintptr_t at = 1 << 16, from = 1 << 20;
  auto kernel = [&](hipops_dtype dtype, int64_t columns, int64_t y_shift = 0, int64_t x_shift = 0, int64_t x_step = 0) {
    const int64_t bytes = dtype_bytes(dtype);
    return kernel_of(
        view_of(at + static_cast<uintptr_t>(y_shift * bytes), dtype, {5, columns}),
        view_of(from + static_cast<uintptr_t>(x_shift * bytes), dtype, {9, columns}, {x_step ? x_step : columns, 1}));
  };
  CHECK(kernel(HIPOPS_U8, 64) == 4);
  CHECK(kernel(HIPOPS_U8, 24) == 3);
  CHECK(kernel(HIPOPS_U8, 20) == 2);
  CHECK(kernel(HIPOPS_U8, 22) == 1);
  CHECK(kernel(HIPOPS_U8, 23) == kTakeFirstRows + 0);
  CHECK(kernel(HIPOPS_BF16, 64) == 4);
  CHECK(kernel(HIPOPS_BF16, 63) == kTakeFirstRows + 1);
  CHECK(kernel(HIPOPS_BF16, 64, 1) == kTakeFirstRows + 1);
  CHECK(kernel(HIPOPS_BF16, 64, 0, 4) == kTakeFirstRows + 3);
  CHECK(kernel(HIPOPS_BF16, 64, 0, 0, 66) == kTakeFirstRows + 2);
  CHECK(kernel(HIPOPS_F32, 6) == 3);
  CHECK(kernel(HIPOPS_F64, 2) == 4);
  CHECK(kernel(HIPOPS_F64, 3) == 3);
  CHECK(kernel(HIPOPS_F64, 1) == 3);
  CHECK(kernel(HIPOPS_F32, 1) == 2);
  // By rows from 16 units on.
  CHECK(kernel(HIPOPS_F32, 60) == 4);
  CHECK(kernel(HIPOPS_F64, 32) == kTakeFirstRows + 4);
  // Rows of 256 bytes and more that are not aligned to 8, by 16 bytes all the same.
  CHECK(kernel(HIPOPS_U8, 257) == kTakeFirstShifted + 0);
  CHECK(kernel(HIPOPS_BF16, 129) == kTakeFirstShifted + 1);
  CHECK(kernel(HIPOPS_BF16, 127) == kTakeFirstRows + 1);
  CHECK(kernel(HIPOPS_BF16, 128, 1) == kTakeFirstShifted + 1);
  CHECK(kernel(HIPOPS_BF16, 128, 0, 0, 130) == kTakeFirstShifted + 2);
  CHECK(kernel(HIPOPS_F32, 65) == kTakeFirstShifted + 2);
  CHECK(kernel(HIPOPS_F32, 66) == kTakeFirstRows + 3);
  // Not contiguous along the innermost dimension.
  CHECK(kernel_of(view_of(at, HIPOPS_F32, {5, 64}), view_of(from, HIPOPS_F32, {9, 64}, {128, 2})) == 2);
  CHECK(kernel_of(view_of(at, HIPOPS_F32, {5, 64}, {128, 2}), view_of(from, HIPOPS_F32, {9, 64})) == 2);
  CHECK(kernel_of(view_of(at, HIPOPS_F32, {5, 64}), view_of(from, HIPOPS_F32, {9, 64}, {1, 0})) == 2);
  // The steps of a dimension of one are not looked at.
  CHECK(kernel_of(view_of(at, HIPOPS_F32, {5, 64}), view_of(from, HIPOPS_F32, {1, 64}, {77, 1})) == kTakeFirstRows + 4);
  CHECK(kernel_of(view_of(at, HIPOPS_F32, {1, 64}, {77, 1}), view_of(from, HIPOPS_F32, {9, 64})) == kTakeFirstRows + 4);
}

TEST_CASE("index_select's plan holds for more than 2^31 elements", "[index_select]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(70000, 70000, dim, true);
    check_plan_of_many(3, int64_t{1} << 40, dim, true);
    check_plan_of_many(46340, 46341, dim, true);  // the last below 2^31
  }
}
