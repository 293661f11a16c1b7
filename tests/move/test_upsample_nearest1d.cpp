// hipops_upsample_nearest1d: what it refuses, which kernel it chooses, PyTorch's and candle's indices, and that every
// bit arrives.
#include "upsample_nearest1d.h"

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "move/upsample_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr int kLargest = 128;  // of data/nearest_indices.txt

uint32_t crc32(const std::vector<unsigned char>& bytes) {
  uint32_t crc = 0xffffffff;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// Checksums of the indices by rule, size of x less one, and size of y less one.
std::map<std::string, std::vector<std::vector<uint32_t>>> read_indices() {
  std::map<std::string, std::vector<std::vector<uint32_t>>> all;
  std::ifstream file(HIPOPS_NEAREST_INDICES);
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string rule;
    int size = 0;
    words >> rule >> size;
    std::vector<uint32_t> sums;
    for (uint32_t sum = 0; words >> std::hex >> sum;) sums.push_back(sum);
    if (static_cast<int>(all[rule].size()) + 1 != size || sums.size() != kLargest)
      throw std::runtime_error("nearest_indices.txt: bad line");
    all[rule].push_back(sums);
  }
  if (all.size() != 2 || all["pytorch"].size() != kLargest || all["exact"].size() != kLargest)
    throw std::runtime_error("nearest_indices.txt is not whole");
  return all;
}

// The indices that the op takes, by what it makes of 0, 1, 2, ...
std::vector<unsigned char> indices_of(int64_t in, int64_t out, hipops_nearest rule, double scale = 0) {
  std::vector<int32_t> from(static_cast<size_t>(in)), to(static_cast<size_t>(out), -1);
  std::iota(from.begin(), from.end(), 0);
  hipops_tensor x = view_of(reinterpret_cast<uintptr_t>(from.data()), HIPOPS_I32, {1, 1, in});
  hipops_tensor y = view_of(reinterpret_cast<uintptr_t>(to.data()), HIPOPS_I32, {1, 1, out});
  if (hipops_upsample_nearest1d(&y, &x, rule, scale, nullptr) != HIPOPS_SUCCESS)
    throw std::runtime_error(hipops_last_error());
  return {to.begin(), to.end()};
}

UpsamplePlan plan_for(hipops_dtype dtype, const Sizes& y, const Sizes& x, const Sizes& y_stride = {},
                      const Sizes& x_stride = {}, uintptr_t y_at = 1 << 20, uintptr_t x_at = 1 << 30,
                      hipops_nearest rule = HIPOPS_NEAREST_PYTORCH, double scale = 0) {
  Scale scales[] = {{"scale", scale}};
  return plan_upsample(plan_options(), view_of(y_at, dtype, y, y_stride), view_of(x_at, dtype, x, x_stride), 1, rule, scales);
}

void check_candles_indices(size_t in, size_t out) {
  std::vector<unsigned char> got =
      indices_of(static_cast<int64_t>(in), static_cast<int64_t>(out), HIPOPS_NEAREST_CANDLE);
  const double scale = static_cast<double>(in) / static_cast<double>(out);  // as in candle's cpu_backend
  for (size_t i = 0; i < out; ++i)
    if (got[i] != std::min(in - 1, static_cast<size_t>(static_cast<double>(i) * scale)))
      throw std::runtime_error(std::to_string(in) + " to " + std::to_string(out) + ", index " + std::to_string(i));
}

}  // namespace

TEST_CASE("upsample_nearest1d refuses bad arguments", "[upsample_nearest1d]") {
  check_calls([] {
    check_upsample_refusals(1);
    HostTensor t(HIPOPS_F32, {1, 1, 4});
    expect_refused([&] { return hipops_upsample_nearest1d(nullptr, &t.view, HIPOPS_NEAREST_PYTORCH, 0, nullptr); },
                   {&t}, HIPOPS_INVALID_ARGUMENT, "upsample_nearest1d: y is NULL, expected a tensor");
    expect_refused([&] { return hipops_upsample_nearest1d(&t.view, nullptr, HIPOPS_NEAREST_PYTORCH, 0, nullptr); },
                   {&t}, HIPOPS_INVALID_ARGUMENT, "upsample_nearest1d: x is NULL, expected a tensor");
  });
}

TEST_CASE("upsample_nearest1d of nothing is success", "[upsample_nearest1d]") {
  check_calls([] { check_upsample_empty(1); });
}

TEST_CASE("upsample_nearest1d takes every dtype, without a second one", "[upsample_nearest1d]") {
  check_upsample_dtypes("upsample_nearest1d");
}

// ---- The rules

TEST_CASE("upsample_nearest1d takes PyTorch's indices for every pair of sizes up to 128", "[upsample_nearest1d]") {
  on_cpu([] {
    auto expected = read_indices();
    const std::pair<const char*, hipops_nearest> rules[] = {{"pytorch", HIPOPS_NEAREST_PYTORCH},
                                                            {"exact", HIPOPS_NEAREST_EXACT}};
    for (bool many : {true, false}) {
      const AsMany as_many(many);
      for (const auto& [name, rule] : rules)
        for (int in = 1; in <= kLargest; ++in)
          for (int out = 1; out <= kLargest; ++out)
            if (crc32(indices_of(in, out, rule)) !=
                expected[name][static_cast<size_t>(in - 1)][static_cast<size_t>(out - 1)])
              throw std::runtime_error(std::string(name) + ": " + std::to_string(in) + " to " + std::to_string(out));
    }
  });
}

TEST_CASE("upsample_nearest1d takes candle's indices for every pair of sizes up to 128", "[upsample_nearest1d]") {
  on_cpu([] {
    for (bool many : {true, false}) {
      const AsMany as_many(many);
      for (size_t in = 1; in <= kLargest; ++in)
        for (size_t out = 1; out <= kLargest; ++out) check_candles_indices(in, out);
    }
  });
}

TEST_CASE("upsample_nearest1d's rules differ where they should", "[upsample_nearest1d]") {
  on_cpu([] {
    EXPECT_EQUAL(int{indices_of(2, 98, HIPOPS_NEAREST_PYTORCH)[49]}, 1);  // f32: 49 * 0.020408163 is 1
    EXPECT_EQUAL(int{indices_of(2, 98, HIPOPS_NEAREST_CANDLE)[49]}, static_cast<int>(49 * (2.0 / 98.0)));
    EXPECT(indices_of(26, 11, HIPOPS_NEAREST_PYTORCH) ==
           (std::vector<unsigned char>{0, 2, 4, 7, 9, 11, 14, 16, 18, 21, 23}));
    // 5.5 * 26 / 11 is 13, but not in f32.
    EXPECT(indices_of(26, 11, HIPOPS_NEAREST_EXACT) ==
           (std::vector<unsigned char>{1, 3, 5, 8, 10, 12, 15, 17, 20, 22, 24}));
    EXPECT(indices_of(4, 8, HIPOPS_NEAREST_PYTORCH, 2.5) ==
           (std::vector<unsigned char>{0, 0, 0, 1, 1, 2, 2, 2}));  // a scale overrules the sizes
    EXPECT(indices_of(4, 4, HIPOPS_NEAREST_PYTORCH, 0.5) == (std::vector<unsigned char>{0, 2, 3, 3}));
    EXPECT(indices_of(4, 4, HIPOPS_NEAREST_CANDLE, 0.5) == (std::vector<unsigned char>{0, 2, 3, 3}));
    EXPECT(indices_of(4, 4, HIPOPS_NEAREST_EXACT, 0.5) == (std::vector<unsigned char>{1, 3, 3, 3}));
    for (hipops_nearest rule : kRules)
      EXPECT(indices_of(3, 4, rule, 1e-38) ==
             (std::vector<unsigned char>{static_cast<unsigned char>(rule == HIPOPS_NEAREST_EXACT ? 2 : 0), 2, 2, 2}));
  });
}

TEST_CASE("upsample_nearest1d takes i >> s where that is what a rule gives", "[upsample_nearest1d]") {
  const int64_t f32_limit = int64_t{1} << 24;
  auto shifts = [](const UpsampleDimension& d, int by) { return d.rule == kSourceShift && d.shift == by; };
  CHECK(resize_of(5, 5, 1, HIPOPS_NEAREST_PYTORCH, 0).rule == kSourceSame);
  CHECK(shifts(resize_of(5, 10, 1, HIPOPS_NEAREST_PYTORCH, 0), 1));
  CHECK(resize_of(f32_limit * 8 + 1, f32_limit * 8 + 1, 1, HIPOPS_NEAREST_PYTORCH, 0).rule ==
        kSourceSame);  // by definition
  CHECK(shifts(resize_of(f32_limit * 8 + 1, f32_limit * 16 + 2, 1, HIPOPS_NEAREST_PYTORCH, 0), 1));
  CHECK(resize_of(5, 9, 1, HIPOPS_NEAREST_PYTORCH, 0).rule == kSourceFloor32);
  CHECK(resize_of(5, 5, 1, HIPOPS_NEAREST_PYTORCH, 1.5).rule == kSourceFloor32);
  CHECK(resize_of(5, 10, 1, HIPOPS_NEAREST_PYTORCH, 2.1).rule == kSourceFloor32);
  CHECK(resize_of(5, 3, 1, HIPOPS_NEAREST_PYTORCH, 1).rule == kSourceSame);
  CHECK(resize_of(5, 6, 1, HIPOPS_NEAREST_PYTORCH, 1).rule == kSourceFloor32);  // 6 is cut off at 5
  CHECK(shifts(resize_of(5, 9, 1, HIPOPS_NEAREST_PYTORCH, 2), 1));
  CHECK(resize_of(5, 11, 1, HIPOPS_NEAREST_PYTORCH, 2).rule == kSourceFloor32);
  for (hipops_nearest rule : kRules) {
    CHECK(shifts(resize_of(5, 20, 1, rule, 0), 2));
    CHECK(shifts(resize_of(5, 40, 1, rule, 0), 3));
    CHECK(shifts(resize_of(5, 80, 1, rule, 0), 4));
    CHECK(shifts(resize_of(5, 18, 1, rule, 4), 2));
    CHECK(!shifts(resize_of(5, 160, 1, rule, 0), 5));
    CHECK(!shifts(resize_of(5, 15, 1, rule, 0), 1));
    CHECK(!shifts(resize_of(5, 21, 1, rule, 4), 2));  // 20 / 4 is cut off at 4
  }
  CHECK(shifts(resize_of(f32_limit / 4, f32_limit, 1, HIPOPS_NEAREST_PYTORCH, 0), 2));
  CHECK(resize_of(f32_limit / 4 + 1, f32_limit + 4, 1, HIPOPS_NEAREST_PYTORCH, 0).rule == kSourceFloor32);
  CHECK(resize_of(f32_limit + 1, f32_limit + 1, 1, HIPOPS_NEAREST_PYTORCH, 1).rule == kSourceFloor32);
  CHECK(resize_of(f32_limit / 2, f32_limit / 2, 1, HIPOPS_NEAREST_EXACT, 0).rule == kSourceSame);
  CHECK(resize_of(f32_limit / 2 + 1, f32_limit / 2 + 1, 1, HIPOPS_NEAREST_EXACT, 0).rule == kSourceCentre32);
  CHECK(shifts(resize_of(f32_limit / 4, f32_limit / 2, 1, HIPOPS_NEAREST_EXACT, 0), 1));
  CHECK(resize_of(5, 7, 1, HIPOPS_NEAREST_EXACT, 0).rule == kSourceCentre32);
  CHECK(resize_of(f32_limit * 8 + 1, f32_limit * 8 + 1, 1, HIPOPS_NEAREST_CANDLE, 0).rule == kSourceSame);
  CHECK(shifts(resize_of(f32_limit * 8 + 1, f32_limit * 16 + 2, 1, HIPOPS_NEAREST_CANDLE, 0), 1));
  CHECK(resize_of(5, 7, 1, HIPOPS_NEAREST_CANDLE, 0).rule == kSourceFloor64);
  UpsampleDimension d = resize_of(2, 98, 1, HIPOPS_NEAREST_CANDLE, 0);
  CHECK((d.ratio64 == 2.0 / 98.0 && d.last == 1));
  CHECK(resize_of(2, 98, 1, HIPOPS_NEAREST_PYTORCH, 0).ratio32 == 2.0f / 98.0f);
  CHECK(resize_of(2, 98, 1, HIPOPS_NEAREST_PYTORCH, 2.3).ratio32 == static_cast<float>(1.0 / 2.3));
}

TEST_CASE("upsampling two dimensions copies one that keeps its size", "[upsample_nearest1d]") {
  for (const double scale : {0.0, 1.3}) {
    CHECK(resize_of(5, 5, 2, HIPOPS_NEAREST_PYTORCH, scale).rule == kSourceSame);
    CHECK(resize_of((1 << 24) + 1, (1 << 24) + 1, 2, HIPOPS_NEAREST_EXACT, scale).rule == kSourceSame);
  }
  CHECK(resize_of(5, 5, 2, HIPOPS_NEAREST_CANDLE, 1.3).rule == kSourceFloor64);
  CHECK(resize_of(5, 10, 2, HIPOPS_NEAREST_PYTORCH, 2.1).rule == kSourceFloor32);
}

// ---- The choice

TEST_CASE("upsample_nearest1d chooses by layout", "[upsample_nearest1d]") {
  const AsMany as_many;
  struct Choice {
    const char* kernel;
    UpsamplePlan plan;
    int64_t count;
  };
  const Choice choices[] = {
      {"upsample_nearest1d_b16_row", plan_for(HIPOPS_F16, {2, 3, 24}, {2, 3, 7}), 18},
      {"upsample_nearest1d_b8_row", plan_for(HIPOPS_U8, {2, 3, 32}, {2, 3, 7}), 12},
      {"upsample_nearest1d_b64_row", plan_for(HIPOPS_I64, {2, 3, 8}, {2, 3, 7}, {}, {70, 7, 1}), 24},
      {"upsample_nearest1d_b32_row",
       plan_for(HIPOPS_F32, {2, 3, 8}, {2, 3, 7}, {}, {0, -2, -3}, 1 << 20, (1 << 30) + 4), 12},
      {"upsample_nearest1d_b32_few", plan_for(HIPOPS_F32, {2, 3, 8}, {2, 3, 7}, {}, {}, (1 << 20) + 4), 48},
      {"upsample_nearest1d_b32_run", plan_for(HIPOPS_F32, {2, 3, 9}, {2, 3, 7}), 54},
      {"upsample_nearest1d_b32_run", plan_for(HIPOPS_F32, {1, 3, 9}, {1, 3, 7}), 27},  // no 4 rows
      {"upsample_nearest1d_b32_few", plan_for(HIPOPS_F32, {2, 3, 9}, {2, 3, 7}, {}, {}, (1 << 20) + 4), 54},
      {"upsample_nearest1d_b32_any", plan_for(HIPOPS_F32, {2, 3, 8}, {2, 3, 7}, {30, 10, 1}), 48},
      {"upsample_nearest1d_b32_any", plan_for(HIPOPS_F32, {2, 3, 8}, {2, 3, 7}, {48, 16, 2}), 48},
      {"upsample_nearest1d_b128_row", plan_for(HIPOPS_F16, {2, 16, 9}, {2, 16, 7}, {144, 1, 16}, {112, 1, 16}), 36},
      {"upsample_nearest1d_b64_run", plan_for(HIPOPS_F16, {2, 12, 9}, {2, 12, 7}, {108, 1, 12}, {84, 1, 12}), 54},
      {"upsample_nearest1d_b64_any", plan_for(HIPOPS_F16, {2, 12, 9}, {2, 12, 7}, {120, 1, 12}, {84, 1, 12}), 54},
      {"upsample_nearest1d_b32_run", plan_for(HIPOPS_F16, {2, 6, 9}, {2, 6, 7}, {54, 1, 6}, {42, 1, 6}), 54},
      {"upsample_nearest1d_b16_run", plan_for(HIPOPS_F16, {2, 3, 9}, {2, 3, 7}, {27, 1, 3}, {21, 1, 3}), 54},
      {"upsample_nearest1d_b16_row", plan_for(HIPOPS_F16, {2, 16, 9}, {2, 16, 7}, {144, 1, 16}, {112, 7, 1}), 36},
      {"upsample_nearest1d_b128_row", plan_for(HIPOPS_F16, {2, 3, 8}, {2, 3, 8}), 6},  // the same size: a copy
      {"upsample_nearest1d_b16_any", plan_for(HIPOPS_F16, {1, 1, 1}, {1, 1, 8}), 1},
  };
  int number = 0;
  for (const Choice& c : choices) {
    INFO("choice " << number++);
    CHECK(op_named("upsample_nearest1d").kernel_names[c.plan.kernel] == std::string(c.kernel));
    CHECK(pieces(c.plan) == c.count);
    CHECK(c.plan.args.small == 1);
  }
}

TEST_CASE("upsample_nearest1d counts in 64 bits where there is more than 2^31 of anything", "[upsample_nearest1d]") {
  const AsMany as_many;
  const int64_t g = int64_t{1} << 30;
  const uintptr_t far = uintptr_t{1} << 44;
  auto plan = [&](const Sizes& y, const Sizes& x, const Sizes& x_stride = {}) {
    return plan_for(HIPOPS_U8, y, x, {}, x_stride, 1 << 20, far);
  };
  CHECK(plan({1, 1, g + 1}, {1, 1, 100}).args.small == 1);
  CHECK(plan({1, 1, 2 * g}, {1, 1, 100}).args.small == 0);   // 2^27 vectors, but positions in them reach 2^31
  CHECK(plan({4, 1, 2 * g - 16}, {4, 1, 100}).args.small == 1);
  CHECK(plan({9, 1, 2 * g - 1}, {9, 1, 100}).args.small == 0);  // two groups of rows
  CHECK(plan({1, 1, 100}, {1, 1, 3 * g}).args.small == 0);
  CHECK(plan({1, 1, 100}, {1, 1, 3 * g}).args.dimension[0].last == 3 * g - 1);
  for (const UpsamplePlan& p :
       {plan({1, 1, 2 * g}, {1, 1, 100}), plan({100, 1, 2 * g - 1}, {100, 1, 100}), plan({1, 1, 1}, {1, 1, 1})}) {
    CHECK(p.block == kUpsampleBlock);
    CHECK(p.grid >= 1);
    CHECK(uint64_t{p.grid} * p.block < uint64_t{1} << 32);
    CHECK(p.args.step % (int64_t{p.grid} * kUpsampleBlock) == 0);
  }
}

// ---- The elements

TEST_CASE("upsample_nearest1d moves any layout", "[upsample_nearest1d]") {
  on_cpu([] { check_any_layout(1, 3000); });
}

TEST_CASE("upsample_nearest1d's kernels are right where they are chosen", "[upsample_nearest1d]") {
  on_cpu([] { check_kernels(1); });
}

TEST_CASE("upsample_nearest1d's kernels go round where the grid is too small", "[upsample_nearest1d]") {
  on_cpu([] { check_rounds(1); });
}

TEST_CASE("upsample_nearest1d gives the same by 32 and by 64 bits", "[upsample_nearest1d]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(30);
    for (int n = 0; n < 300; ++n) {
      int64_t in = pick(random, 1, 200), out = n % 2 == 0 ? pick(random, 1, 300) : 16 * pick(random, 1, 20);
      UpsampleCase t{HostTensor(kMoved[n / 2 % 4], {2, 3, out}),
                     HostTensor(kMoved[n / 2 % 4], {2, 3, in}),
                     kRules[n % 3],
                     {random_scale(random, in, out)}};
      fill_with_bits(t.x, random);
      std::vector<unsigned char> before = t.x.bytes();
      UpsamplePlan plan = t.plan();
      if (!std::strstr(t.op().kernel_names[plan.kernel], "_any")) continue;
      UpsampleArgs& a = plan.args;  // as it would be with more than 2^31 of anything: element by element
      a.dimension[1].size = a.rows;
      a.small = 0;
      a.count = a.dimension[0].size * a.dimension[1].size * a.dimension[2].size * a.dimension[3].size;
      EXPECT_EQUAL(launch(op_named("upsample_nearest1d"), plan.kernel, plan.grid, plan.block, &plan.args,
                          sizeof plan.args, nullptr),
                   HIPOPS_SUCCESS);
      expect_upsampled(t, before);
    }
  });
}

TEST_CASE("upsample_nearest1d rounds positions past 2^24 as f32 does", "[upsample_nearest1d]") {
  on_cpu([] {
    const int64_t in = (int64_t{1} << 24) + 5, out = in + 3;
    std::vector<uint8_t> from(static_cast<size_t>(in)), to(static_cast<size_t>(out));
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
    hipops_tensor x = view_of(reinterpret_cast<uintptr_t>(from.data()), HIPOPS_U8, {1, 1, in});
    hipops_tensor y = view_of(reinterpret_cast<uintptr_t>(to.data()), HIPOPS_U8, {1, 1, out});
    for (hipops_nearest rule : kRules) {
      EXPECT_EQUAL(hipops_upsample_nearest1d(&y, &x, rule, 0, nullptr), HIPOPS_SUCCESS);
      for (int64_t i = out - 100000; i < out; ++i) {
        if (to[static_cast<size_t>(i)] == from[static_cast<size_t>(source_of(i, in, out, 1, rule, 0))]) continue;
        throw std::runtime_error("rule " + std::to_string(rule) + ", element " + std::to_string(i));
      }
    }
  });
}

TEST_CASE("upsample_nearest1d takes rows by tiles where neither y nor x has gaps", "[upsample_nearest1d]") {
  on_cpu([] {
    check_tiles({{HIPOPS_F16, {64, 130, 100}, {202}, HIPOPS_NEAREST_PYTORCH, {}},
                 {HIPOPS_F64, {52, 60, 60}, {160}, HIPOPS_NEAREST_CANDLE, {}},
                 {HIPOPS_BF16, {1, 9001, 31}, {197}, HIPOPS_NEAREST_EXACT, {2.1}},  // a row after the last period
                 {HIPOPS_U8, {17, 1031, 101}, {205}, HIPOPS_NEAREST_PYTORCH, {}}});
  });
}

// What is left of the last piece beside its vectors may be more than of the one before, and a block has 256 work-items.
TEST_CASE("upsample_nearest1d reaches the end of a y in several pieces", "[upsample_nearest1d]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(50);
    const auto check = [&](hipops_dtype dtype, int64_t from, int64_t to, int64_t first_row, int64_t last_row) {
      for (int64_t rows = first_row; rows <= last_row; ++rows) {
        UpsampleCase t{HostTensor(dtype, {1, rows, to}), HostTensor(dtype, {1, rows, from}), HIPOPS_NEAREST_PYTORCH, {0}};
        EXPECT_EQUAL(t.plan().args.periods.count > 1, true);
        check_upsample_case(t, random);
      }
    };
    check(HIPOPS_U8, 10, 17, 465, 500);
    check(HIPOPS_F16, 5, 9, 1350, 1370);
    check(HIPOPS_U8, 18, 9, 435, 460);
    check(HIPOPS_F32, 3, 5, 400, 420);
  });
}

// A pixel's channels may be one unit, whose vectors take columns of x that are side by side.
TEST_CASE("upsample_nearest1d takes pixels of one unit wherever they are in x", "[upsample_nearest1d]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(51);
    for (int64_t channels : {1, 2, 4}) {
      for (int64_t apart : {0, 1, 2, 5}) {
        for (hipops_nearest rule : kRules) {
          const Sizes y_stride = {40 * channels, 1, channels}, x_stride = {60 * channels, 1, apart * channels};
          UpsampleCase t{HostTensor(HIPOPS_U8, {3, channels, 40}, y_stride),
                         HostTensor(HIPOPS_U8, {3, channels, 11}, x_stride), rule, {0}};
          check_upsample_case(t, random);
        }
      }
    }
  });
}
