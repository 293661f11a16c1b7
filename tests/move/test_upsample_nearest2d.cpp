// hipops_upsample_nearest2d: dimensions that keep their size, and large tensors. The rules are tested with
// upsample_nearest1d.
#include "upsample_nearest2d.h"

#include "move/upsample_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

UpsamplePlan plan_for(hipops_dtype dtype, const Sizes& y, const Sizes& x, const Sizes& y_stride = {},
                      const Sizes& x_stride = {}, hipops_nearest rule = HIPOPS_NEAREST_PYTORCH) {
  Scale scales[] = {{"scale_h", 0}, {"scale_w", 0}};
  return plan_upsample(plan_options(), view_of(1 << 20, dtype, y, y_stride), view_of(uintptr_t{1} << 44, dtype, x, x_stride), 2, rule,
                       scales);
}

// The numbers of the elements of x [1, 1, h, w] that y gets.
std::vector<int> moved(int64_t h, int64_t w, int64_t to_h, int64_t to_w, hipops_nearest rule, double scale_h,
                       double scale_w) {
  HostTensor x(HIPOPS_I32, {1, 1, h, w}), y(HIPOPS_I32, {1, 1, to_h, to_w});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i));
  EXPECT_EQUAL(hipops_upsample_nearest2d(&y.view, &x.view, rule, scale_h, scale_w, nullptr), HIPOPS_SUCCESS);
  std::vector<int> got;
  for (int64_t i = 0; i < y.count(); ++i) got.push_back(static_cast<int>(y.get(i)));
  return got;
}

}  // namespace

TEST_CASE("upsample_nearest2d counts in 64 bits if something exceeds 2^31", "[upsample_nearest2d]") {
  const AsMany as_many;
  CHECK(plan_for(HIPOPS_U8, {8, 3, 9999, 8001}, {8, 3, 99, 99}).args.fits_int32 == 1);
  UpsamplePlan plan = plan_for(HIPOPS_U8, {80, 3, 39999, 39999}, {80, 3, 9999, 9999});
  CHECK(plan.args.fits_int32 == 0);
  CHECK(plan.args.count == int64_t{240} * 39999 * 39999);
  CHECK(uint64_t{plan.grid} * plan.block < uint64_t{1} << 32);
  CHECK(plan.args.step == int64_t{plan.grid} * plan.block);
}

TEST_CASE("upsample_nearest2d has 64-bit places for channels of x that are 2^31 elements apart",
          "[upsample_nearest2d]") {
  const AsMany as_many;
  for (const Sizes& shape : {Sizes{1, 33, 16, 16}, Sizes{1, 48, 16, 16}, Sizes{2, 33, 16, 16}}) {
    const UpsamplePlan plan = plan_for(HIPOPS_U8, shape, {shape[0], shape[1], 8192, 8192}, channels_last(shape));
    CHECK(op_named("upsample_nearest2d").kernel_names[plan.kernel] == std::string("upsample_nearest2d_b8_any"));
    CHECK(plan.args.fits_int32 == 0);
  }
  CHECK(plan_for(HIPOPS_U8, {1, 32, 16, 16}, {1, 32, 8192, 8192}, channels_last({1, 32, 16, 16})).args.fits_int32 == 1);
}

TEST_CASE("upsample_nearest2d handles a y without gaps in one piece, or in several if 32 bits are too few",
          "[upsample_nearest2d]") {
  const auto plan_of = [](hipops_dtype dtype, int64_t channels, int64_t from, int64_t to, const Sizes& x_stride = {}) {
    const UpsamplePlan plan = plan_for(dtype, {1, channels, to, to}, {1, channels, from, from}, {}, x_stride);
    const UpsamplePeriods& p = plan.args.periods;
    CHECK(p.x_step == p.y_step / (to * to) * (x_stride.empty() ? from * from : x_stride[1]));
    CHECK(p.y_step == p.elements);
    CHECK((p.count == 1 || p.y_step * static_cast<int64_t>(dtype_bytes(dtype)) % 8 == 0));
    CHECK(int64_t{p.count - 1} * p.elements + p.last_elements == channels * to * to);
    CHECK((p.last_elements > 0 && p.last_elements <= p.elements));
    CHECK(plan.grid == static_cast<uint32_t>(((p.count - 1) / p.together + 1) * p.blocks));
    return plan;
  };
  for (const hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64}) {
    CHECK(plan_of(dtype, 32768, 26, 11).args.periods.count == 1);
    const int64_t bytes = dtype_bytes(dtype);  // x is 1.6 billion elements, y 408 million
    CHECK(plan_of(dtype, 40001, 200, 101).args.periods.count == (bytes <= 2 ? 1 : bytes == 4 ? 2 : 4));
    CHECK(plan_of(dtype, 400001, 200, 101).args.periods.count >= 8);  // x reaches further: 16 billion
    CHECK(plan_of(dtype, 999, 26, 11, {0, int64_t{1} << 23, 26, 1}).args.periods.count >= 4);
  }
  const UpsamplePeriods pair = plan_of(HIPOPS_F32, 8193, 33, 67).args.periods;  // places are computed for two periods
  CHECK((pair.count == 2 && pair.together == 2));
}

// PyTorch's GPU kernels do the same.
TEST_CASE("upsample_nearest2d copies a dimension that keeps its size, whatever the scale", "[upsample_nearest2d]") {
  on_cpu([] {
    for (const bool many : {true, false}) {
      const AsMany as_many(many);
      for (const hipops_nearest rule : {HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_EXACT}) {
        EXPECT(moved(1, 2, 1, 2, rule, 1.3, 1.3) == (std::vector<int>{0, 1}));
        const std::vector<int> rows = moved(10, 20, 10, 21, rule, 1.09, 1.09);
        for (int i = 0; i < 10; ++i) EXPECT_EQUAL(rows[static_cast<size_t>(21 * i)] / 20, i);
      }
      EXPECT(moved(3, 4, 3, 6, HIPOPS_NEAREST_PYTORCH, 1.3, 1.5) ==
             (std::vector<int>{0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11}));
      EXPECT(moved(4, 1, 4, 1, HIPOPS_NEAREST_CANDLE, 2, 0) == (std::vector<int>{0, 0, 1, 1}));  // by its formula
    }
  });
}

TEST_CASE("upsample_nearest2d gives the same bits in rounds, and in 64 bits", "[upsample_nearest2d]") {
  on_cpu([] { check_large_launches(2); });
}
