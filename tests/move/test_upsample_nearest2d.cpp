// hipops_upsample_nearest2d: what it refuses, which kernel it chooses, and that every bit arrives. The rules are tested
// with upsample_nearest1d.
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

// The rows and columns that y takes from x, [1, 1, h, w] of its elements' numbers.
std::vector<int> taken(int64_t h, int64_t w, int64_t to_h, int64_t to_w, hipops_nearest rule, double scale_h,
                       double scale_w) {
  HostTensor x(HIPOPS_I32, {1, 1, h, w}), y(HIPOPS_I32, {1, 1, to_h, to_w});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i));
  EXPECT_EQUAL(hipops_upsample_nearest2d(&y.view, &x.view, rule, scale_h, scale_w, nullptr), HIPOPS_SUCCESS);
  std::vector<int> got;
  for (int64_t i = 0; i < y.count(); ++i) got.push_back(static_cast<int>(y.get(i)));
  return got;
}

}  // namespace

TEST_CASE("upsample_nearest2d refuses bad arguments", "[upsample_nearest2d]") {
  check_calls([] {
    check_upsample_refusals(2);
    HostTensor t(HIPOPS_F32, {1, 1, 4, 4});
    expect_refused([&] { return hipops_upsample_nearest2d(nullptr, &t.view, HIPOPS_NEAREST_PYTORCH, 0, 0, nullptr); },
                   {&t}, HIPOPS_INVALID_ARGUMENT, "upsample_nearest2d: y is NULL, expected a tensor");
    expect_refused([&] { return hipops_upsample_nearest2d(&t.view, nullptr, HIPOPS_NEAREST_PYTORCH, 0, 0, nullptr); },
                   {&t}, HIPOPS_INVALID_ARGUMENT, "upsample_nearest2d: x is NULL, expected a tensor");
  });
}

TEST_CASE("upsample_nearest2d of nothing is success", "[upsample_nearest2d]") {
  check_calls([] { check_upsample_empty(2); });
}

TEST_CASE("upsample_nearest2d takes every dtype, without a second one", "[upsample_nearest2d]") {
  check_upsample_dtypes("upsample_nearest2d");
}

TEST_CASE("upsample_nearest2d chooses by layout", "[upsample_nearest2d]") {
  const AsMany as_many;
  struct Choice {
    const char* kernel;
    UpsamplePlan plan;
    int64_t count;
  };
  const Choice choices[] = {
      {"upsample_nearest2d_b16_row", plan_for(HIPOPS_F16, {2, 3, 9, 24}, {2, 3, 4, 7}), 162},
      {"upsample_nearest2d_b16_row",
       plan_for(HIPOPS_F16, {2, 3, 9, 24}, {2, 3, 4, 12}, {}, channels_last({2, 3, 4, 12})), 162},
      {"upsample_nearest2d_b32_row", plan_for(HIPOPS_F32, {2, 3, 9, 4}, {2, 3, 4, 7}, {120, 36, 4, 1}), 54},
      {"upsample_nearest2d_b16_run", plan_for(HIPOPS_F16, {4, 5, 9, 9}, {4, 5, 4, 6}), 1620},
      {"upsample_nearest2d_b16_apart", plan_for(HIPOPS_F16, {1, 7, 9, 7}, {1, 7, 4, 6}), 441},  // no 8 planes
      {"upsample_nearest2d_b32_run", plan_for(HIPOPS_F32, {2, 3, 9, 8}, {2, 3, 4, 7}), 432},  // wide elements, any planes
      {"upsample_nearest2d_b32_apart", plan_for(HIPOPS_F32, {2, 3, 9, 5}, {2, 3, 4, 9}), 270},
      {"upsample_nearest2d_b32_apart", plan_for(HIPOPS_F32, {1, 3, 9, 5}, {1, 3, 4, 9}), 135},
      {"upsample_nearest2d_b32_run", plan_for(HIPOPS_F32, {1, 1, 9, 5}, {1, 1, 4, 7}), 45},
      {"upsample_nearest2d_b128_row",
       plan_for(HIPOPS_F32, {2, 4, 9, 5}, {2, 4, 4, 7}, channels_last({2, 4, 9, 5}), channels_last({2, 4, 4, 7})), 90},
      {"upsample_nearest2d_b64_run",
       plan_for(HIPOPS_F32, {2, 6, 9, 5}, {2, 6, 4, 7}, channels_last({2, 6, 9, 5}), channels_last({2, 6, 4, 7})), 270},
      {"upsample_nearest2d_b32_run",
       plan_for(HIPOPS_F32, {2, 3, 9, 5}, {2, 3, 4, 7}, channels_last({2, 3, 9, 5}), channels_last({2, 3, 4, 7})), 270},
      {"upsample_nearest2d_b128_row", plan_for(HIPOPS_F32, {2, 3, 9, 8}, {2, 3, 4, 8}), 108},  // rows are copied whole
      {"upsample_nearest2d_b32_row", plan_for(HIPOPS_F32, {2, 3, 4, 8}, {2, 3, 4, 7}), 48},
      {"upsample_nearest2d_b128_row", plan_for(HIPOPS_F32, {2, 3, 4, 8}, {2, 3, 4, 8}), 48},
  };
  int number = 0;
  for (const Choice& c : choices) {
    INFO("choice " << number++);
    CHECK(op_named("upsample_nearest2d").kernel_names[c.plan.kernel] == std::string(c.kernel));
    CHECK(pieces(c.plan) == c.count);
  }
  // n and c are one dimension where they lie alike; a height that stays is one with them.
  CHECK(plan_for(HIPOPS_F32, {2, 3, 9, 8}, {2, 3, 4, 7}).args.dimension[2].size == 6);
  CHECK(plan_for(HIPOPS_F32, {2, 3, 4, 8}, {2, 3, 4, 7}).args.rows == 24);
  CHECK(plan_for(HIPOPS_F32, {2, 3, 4, 8}, {2, 3, 4, 8}).args.dimension[0].size == 48);
}

TEST_CASE("upsample_nearest2d counts in 64 bits where there is more than 2^31 of anything", "[upsample_nearest2d]") {
  const AsMany as_many;
  CHECK(plan_for(HIPOPS_U8, {8, 3, 9999, 8001}, {8, 3, 99, 99}).args.small == 1);
  CHECK(plan_for(HIPOPS_U8, {80, 3, 9999, 9001}, {80, 3, 99, 99}).args.small == 1);  // vectors of a run
  CHECK(plan_for(HIPOPS_U8, {8, 3, 9999, 9008}, {8, 3, 99, 99}).args.small == 1);  // vectors
  UpsamplePlan plan = plan_for(HIPOPS_U8, {80, 3, 39999, 39999}, {80, 3, 9999, 9999});
  CHECK(plan.args.small == 0);
  CHECK(plan.args.count == int64_t{240} * 39999 * 39999);
  CHECK(uint64_t{plan.grid} * plan.block < uint64_t{1} << 32);
  CHECK(plan.args.step == int64_t{plan.grid} * plan.block);
}

TEST_CASE("upsample_nearest2d's 32-bit places hold x's channels where those lie 2^31 elements apart", "[upsample_nearest2d]") {
  const AsMany as_many;
  for (const Sizes& shape : {Sizes{1, 33, 16, 16}, Sizes{1, 48, 16, 16}, Sizes{2, 33, 16, 16}}) {
    const UpsamplePlan plan = plan_for(HIPOPS_U8, shape, {shape[0], shape[1], 8192, 8192}, channels_last(shape));
    CHECK(op_named("upsample_nearest2d").kernel_names[plan.kernel] == std::string("upsample_nearest2d_b8_any"));
    CHECK(plan.args.small == 0);
  }
  CHECK(plan_for(HIPOPS_U8, {1, 32, 16, 16}, {1, 32, 8192, 8192}, channels_last({1, 32, 16, 16})).args.small == 1);
}

TEST_CASE("upsample_nearest2d's work-items go round where they are many, and elements small", "[upsample_nearest2d]") {
  const AsMany as_many;
  const auto rounds = [](hipops_dtype dtype, int64_t channels, int64_t size) {
    return plan_for(dtype, {1, channels, size, size}, {1, channels, 128, 128}, {}, {0, 128 * 136, 136, 1}).args.rounds;
  };
  CHECK(rounds(HIPOPS_U8, 2048, 208) == 2);
  CHECK(rounds(HIPOPS_U8, 16, 208) == 1);
  CHECK(rounds(HIPOPS_U8, 2048, 256) == 1);  // parts of vectors
  CHECK(rounds(HIPOPS_BF16, 2048, 208) == 1);
}

TEST_CASE("upsample_nearest2d takes a y without gaps in one piece, or several where 32 bits don't do",
          "[upsample_nearest2d]") {
  const auto plan_of = [](hipops_dtype dtype, int64_t channels, int64_t from, int64_t to, const Sizes& x_stride = {}) {
    const UpsamplePlan plan = plan_for(dtype, {1, channels, to, to}, {1, channels, from, from}, {}, x_stride);
    const UpsamplePeriods& p = plan.args.periods;
    CHECK(p.x_step == p.y_step / (to * to) * (x_stride.empty() ? from * from : x_stride[1]));
    CHECK(p.y_step == p.elements);
    CHECK((p.count == 1 || p.y_step * static_cast<int64_t>(dtype_bytes(dtype)) % 8 == 0));
    CHECK(int64_t{p.count - 1} * p.elements + p.last_elements == channels * to * to);
    CHECK((p.last_elements > 0 && p.last_elements <= p.elements));
    CHECK(plan.grid == static_cast<uint32_t>(p.count * p.blocks));
    return plan;
  };
  for (const hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64}) {
    CHECK(plan_of(dtype, 32768, 26, 11).args.periods.count == 1);
    const int64_t bytes = dtype_bytes(dtype);                          // x is 1.6 billion elements, y 408 million
    CHECK(plan_of(dtype, 40001, 200, 101).args.periods.count == (bytes <= 2 ? 1 : bytes == 4 ? 3 : 5));
    CHECK(plan_of(dtype, 400001, 200, 101).args.periods.count >= 8);   // x reaches further: 16 billion
    CHECK(plan_of(dtype, 999, 26, 11, {0, int64_t{1} << 23, 26, 1}).args.periods.count >= 4);
  }
}

TEST_CASE("upsample_nearest2d's vectors are of two lines at most", "[upsample_nearest2d]") {
  const auto kernel = [](hipops_dtype dtype, const Sizes& y, const Sizes& x, bool last = false,
                         hipops_nearest rule = HIPOPS_NEAREST_PYTORCH) {
    const UpsamplePlan plan =
        plan_for(dtype, y, x, last ? channels_last(y) : Sizes{}, last ? channels_last(x) : Sizes{}, rule);
    return std::string(op_named("upsample_nearest2d").kernel_names[plan.kernel]);
  };
  CHECK(kernel(HIPOPS_U8, {64, 999, 16, 19}, {64, 999, 7, 14}) == "upsample_nearest2d_b8_run");
  CHECK(kernel(HIPOPS_U8, {64, 999, 16, 13}, {64, 999, 7, 11}) == "upsample_nearest2d_b8_apart");
  CHECK(kernel(HIPOPS_U8, {64, 999, 16, 7}, {64, 999, 7, 6}) == "upsample_nearest2d_b8_few");
  CHECK(kernel(HIPOPS_F32, {64, 999, 16, 2}, {64, 999, 7, 9}) == "upsample_nearest2d_b32_apart");
  // Where x is stepped through backwards, or its columns lie apart, and where they are more than f32 counts to halves.
  const auto of_strides = [](const Sizes& x_stride, const Sizes& y, const Sizes& x) {
    return std::string(op_named("upsample_nearest2d").kernel_names[plan_for(HIPOPS_F32, y, x, {}, x_stride).kernel]);
  };
  const Sizes y{64, 99, 30, 31}, x{64, 99, 20, 21};
  CHECK(of_strides({41580, 420, 21, 1}, y, x) == "upsample_nearest2d_b32_run");
  CHECK(of_strides({41580, 420, -21, 1}, y, x) == "upsample_nearest2d_b32_few");
  CHECK(of_strides({41580, 420, 1, 20}, y, x) == "upsample_nearest2d_b32_few");
  CHECK(of_strides({}, {1, 1, 3, 4194304}, {1, 1, 2, 3000001}) == "upsample_nearest2d_b32_run");
  CHECK(of_strides({}, {1, 1, 3, 4194308}, {1, 1, 2, 3000001}) == "upsample_nearest2d_b32_row");
  CHECK(of_strides({}, {1, 1, 3, 4194305}, {1, 1, 2, 3000001}) == "upsample_nearest2d_b32_few");
  // With channels innermost a line is as many times as long.
  CHECK(kernel(HIPOPS_U8, {64, 3, 999, 6}, {64, 3, 99, 4}, true) == "upsample_nearest2d_b8_run");
  CHECK(kernel(HIPOPS_U8, {64, 3, 999, 5}, {64, 3, 99, 4}, true) == "upsample_nearest2d_b8_apart");
  CHECK(kernel(HIPOPS_U8, {640, 3, 999, 2}, {640, 3, 99, 4}, true) == "upsample_nearest2d_b8_few");
  CHECK(kernel(HIPOPS_U8, {64, 3, 999, 60}, {64, 3, 99, 40}, true, HIPOPS_NEAREST_CANDLE) == "upsample_nearest2d_b8_few");
}

TEST_CASE("upsample_nearest2d takes few units one by one, of a y without gaps", "[upsample_nearest2d]") {
  const auto kernel = [](hipops_dtype dtype, const Sizes& y, const Sizes& x, const Sizes& y_stride = {}) {
    return std::string(op_named("upsample_nearest2d").kernel_names[plan_for(dtype, y, x, y_stride).kernel]);
  };
  CHECK(kernel(HIPOPS_F32, {1, 96, 64, 64}, {1, 96, 48, 48}) == "upsample_nearest2d_b32_few");
  CHECK(kernel(HIPOPS_F32, {1, 97, 64, 64}, {1, 97, 48, 48}) == "upsample_nearest2d_b32_run");
  CHECK(kernel(HIPOPS_F32, {1, 96, 64, 64}, {1, 96, 32, 32}) == "upsample_nearest2d_b32_few");
  CHECK(kernel(HIPOPS_BF16, {1, 64, 64, 64}, {1, 64, 32, 32}) == "upsample_nearest2d_b16_few");
  CHECK(kernel(HIPOPS_BF16, {1, 65, 64, 64}, {1, 65, 32, 32}) == "upsample_nearest2d_b16_row");  // a load for eight
  CHECK(kernel(HIPOPS_F32, {1, 3, 9, 5}, {1, 3, 4, 7}, {160, 50, 5, 1}) == "upsample_nearest2d_b32_any");
  // Of planes that 32 bits don't tell the place of.
  const UpsamplePlan far = plan_for(HIPOPS_U8, {2, 1, 16, 16}, {2, 1, 8, 8}, {}, {int64_t{1} << 32, 64, 8, 1});
  CHECK(op_named("upsample_nearest2d").kernel_names[far.kernel] != std::string("upsample_nearest2d_b8_few"));
  const UpsamplePlan large = plan_for(HIPOPS_U8, {2, 3, 256, 256}, {2, 3, 30000, 40000});
  CHECK(op_named("upsample_nearest2d").kernel_names[large.kernel] != std::string("upsample_nearest2d_b8_few"));
  const Sizes y{1, 1280, 16, 16}, x{1, 1280, 8, 8};
  const UpsamplePlan channels = plan_for(HIPOPS_BF16, y, x, channels_last(y), channels_last(x));
  CHECK(op_named("upsample_nearest2d").kernel_names[channels.kernel] == std::string("upsample_nearest2d_b128_few"));
  CHECK(channels.args.count == 160 * 256);
  CHECK(channels.grid == 80);
}

// As PyTorch's GPU kernels do.
TEST_CASE("upsample_nearest2d copies a dimension that keeps its size, whatever the scale", "[upsample_nearest2d]") {
  on_cpu([] {
    for (const bool many : {true, false}) {
      const AsMany as_many(many);
      for (const hipops_nearest rule : {HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_EXACT}) {
        EXPECT(taken(1, 2, 1, 2, rule, 1.3, 1.3) == (std::vector<int>{0, 1}));
        const std::vector<int> rows = taken(10, 20, 10, 21, rule, 1.09, 1.09);
        for (int i = 0; i < 10; ++i) EXPECT_EQUAL(rows[static_cast<size_t>(21 * i)] / 20, i);
      }
      EXPECT(taken(3, 4, 3, 6, HIPOPS_NEAREST_PYTORCH, 1.3, 1.5) ==
             (std::vector<int>{0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11}));
      EXPECT(taken(4, 1, 4, 1, HIPOPS_NEAREST_CANDLE, 2, 0) == (std::vector<int>{0, 0, 1, 1}));  // by its formula
    }
  });
}

TEST_CASE("upsample_nearest2d moves any layout", "[upsample_nearest2d]") {
  on_cpu([] { check_any_layout(2, 3000); });
}

TEST_CASE("upsample_nearest2d's kernels are right where they are chosen", "[upsample_nearest2d]") {
  on_cpu([] { check_kernels(2); });
}

TEST_CASE("upsample_nearest2d's kernels go round where the grid is too small", "[upsample_nearest2d]") {
  on_cpu([] { check_rounds(2); });
}

TEST_CASE("upsample_nearest2d takes rows by tiles where neither y nor x has gaps", "[upsample_nearest2d]") {
  on_cpu([] {
    check_tiles({{HIPOPS_F16, {5, 19, 60, 120}, {100, 201}, HIPOPS_NEAREST_PYTORCH, {}},
                 {HIPOPS_F16, {5, 21, 60, 120}, {100, 200}, HIPOPS_NEAREST_EXACT, {}},
                 {HIPOPS_BF16, {4, 67, 30, 60}, {31, 201}, HIPOPS_NEAREST_CANDLE, {4.0, 2.5}},  // most of x is not used
                 {HIPOPS_I16, {1700, 3, 2, 120}, {3, 260}, HIPOPS_NEAREST_EXACT, {0.9, 0}},     // many planes in a tile
                 {HIPOPS_BF16, {11300, 1, 2, 60}, {2, 200}, HIPOPS_NEAREST_CANDLE, {4.0, 0}},  // half of it, of many planes
                 {HIPOPS_BF16, {5, 33, 30, 127}, {60, 254}, HIPOPS_NEAREST_PYTORCH, {}},
                 {HIPOPS_U8, {2, 80, 97, 128}, {130, 203}, HIPOPS_NEAREST_PYTORCH, {}},
                 {HIPOPS_F64, {4, 14, 90, 60}, {90, 130}, HIPOPS_NEAREST_CANDLE, {}},  // along one dimension
                 {HIPOPS_BF16, {800, 1, 14, 30}, {27, 100}, HIPOPS_NEAREST_PYTORCH, {}}});
  });
}
