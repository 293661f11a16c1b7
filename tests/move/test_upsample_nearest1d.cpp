// hipops_upsample_nearest1d: the indices of PyTorch and candle, and large tensors.
#include "upsample_nearest1d.h"

#include <cmath>
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

// The indices that the op uses: it moves the elements 0, 1, 2, ...
std::vector<unsigned char> indices_of(int64_t in, int64_t out, hipops_nearest rule) {
  std::vector<int32_t> from(static_cast<size_t>(in)), to(static_cast<size_t>(out), -1);
  std::iota(from.begin(), from.end(), 0);
  hipops_tensor x = view_of(reinterpret_cast<uintptr_t>(from.data()), HIPOPS_I32, {1, 1, in});
  hipops_tensor y = view_of(reinterpret_cast<uintptr_t>(to.data()), HIPOPS_I32, {1, 1, out});
  expect_success(hipops_upsample_nearest1d(&y, &x, rule, 0, nullptr));
  return {to.begin(), to.end()};
}

UpsampleArgs args_for(const Sizes& y, const Sizes& x) {
  const Scale none[1] = {};
  return plan_upsample(plan_options(), view_of(1 << 20, HIPOPS_U8, y), view_of(uintptr_t{1} << 44, HIPOPS_U8, x), 1, HIPOPS_NEAREST_PYTORCH, none).args;
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

TEST_CASE("upsample_nearest1d has PyTorch's indices for every pair of sizes up to 128", "[upsample_nearest1d]") {
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

TEST_CASE("upsample_nearest1d has candle's indices for every pair of sizes up to 128", "[upsample_nearest1d]") {
  on_cpu([] {
    for (bool many : {true, false}) {
      const AsMany as_many(many);
      for (size_t in = 1; in <= kLargest; ++in)
        for (size_t out = 1; out <= kLargest; ++out) check_candles_indices(in, out);
    }
  });
}

TEST_CASE("upsample_nearest1d uses i >> s only if its f32 definition gives that", "[upsample_nearest1d]") {
  const int64_t f32_limit = int64_t{1} << 24;  // from there on f32 has no odd numbers
  const auto shifts = [](int64_t in, int64_t out, hipops_nearest rule, double scale = 0) {
    return resize_of(in, out, 1, rule, scale).rule == kSourceShift;
  };
  const auto copies = [](int64_t in, int64_t out, hipops_nearest rule, double scale = 0) {
    return resize_of(in, out, 1, rule, scale).rule == kSourceSame;
  };
  CHECK(copies(f32_limit * 8 + 1, f32_limit * 8 + 1, HIPOPS_NEAREST_PYTORCH));  // by definition
  CHECK(shifts(f32_limit * 8 + 1, f32_limit * 16 + 2, HIPOPS_NEAREST_PYTORCH));
  CHECK(!copies(5, 6, HIPOPS_NEAREST_PYTORCH, 1));  // index 5 is the last of x, which has 4 as its last
  CHECK(!shifts(5, 11, HIPOPS_NEAREST_PYTORCH, 2));
  CHECK(shifts(f32_limit / 4, f32_limit, HIPOPS_NEAREST_PYTORCH));
  CHECK(!shifts(f32_limit / 4 + 1, f32_limit + 4, HIPOPS_NEAREST_PYTORCH));
  CHECK(!copies(f32_limit + 1, f32_limit + 1, HIPOPS_NEAREST_PYTORCH, 1));
  CHECK(copies(f32_limit / 2, f32_limit / 2, HIPOPS_NEAREST_EXACT));
  CHECK(!copies(f32_limit / 2 + 1, f32_limit / 2 + 1, HIPOPS_NEAREST_EXACT));
  CHECK(shifts(f32_limit / 4, f32_limit / 2, HIPOPS_NEAREST_EXACT));
  CHECK(shifts(f32_limit * 8 + 1, f32_limit * 16 + 2, HIPOPS_NEAREST_CANDLE));
  for (hipops_nearest rule : kRules) CHECK(!shifts(5, 21, rule, 4));
}

TEST_CASE("upsample_nearest1d counts in 64 bits if something exceeds 2^31", "[upsample_nearest1d]") {
  const AsMany as_many;
  const int64_t g = int64_t{1} << 30;
  CHECK(args_for({1, 1, g + 1}, {1, 1, 100}).fits_int32 == 1);
  CHECK(args_for({1, 1, 2 * g}, {1, 1, 100}).fits_int32 == 0);  // 2^27 vectors, whose positions reach 2^31
  CHECK(args_for({9, 1, 2 * g - 1}, {9, 1, 100}).fits_int32 == 0);
  CHECK(args_for({1, 1, 100}, {1, 1, 3 * g}).fits_int32 == 0);
  CHECK(args_for({1, 1, 100}, {1, 1, 3 * g}).dimension[0].last == 3 * g - 1);
}

TEST_CASE("upsample_nearest1d gives the same bits in rounds, and in 64 bits", "[upsample_nearest1d]") {
  on_cpu([] { check_large_launches(1); });
}

TEST_CASE("upsample_nearest1d rounds positions past 2^24 as f32 does", "[upsample_nearest1d]") {
  on_cpu([] {
    const int64_t in = (int64_t{1} << 24) + 5, out = in + 3;
    std::vector<uint8_t> from(static_cast<size_t>(in)), to(static_cast<size_t>(out));
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
    hipops_tensor x = view_of(reinterpret_cast<uintptr_t>(from.data()), HIPOPS_U8, {1, 1, in});
    hipops_tensor y = view_of(reinterpret_cast<uintptr_t>(to.data()), HIPOPS_U8, {1, 1, out});
    for (hipops_nearest rule : kRules) {
      expect_success(hipops_upsample_nearest1d(&y, &x, rule, 0, nullptr));
      for (int64_t i = out - 100000; i < out; ++i) {
        const float ratio = static_cast<float>(in) / static_cast<float>(out);
        volatile float f32 = (static_cast<float>(i) + (rule == HIPOPS_NEAREST_EXACT ? 0.5f : 0.0f)) * ratio;
        const double f64 = static_cast<double>(i) * (static_cast<double>(in) / static_cast<double>(out));
        const int64_t at =
            std::min(static_cast<int64_t>(std::floor(rule == HIPOPS_NEAREST_CANDLE ? f64 : double{f32})), in - 1);
        if (to[static_cast<size_t>(i)] != from[static_cast<size_t>(at)])
          throw std::runtime_error("rule " + std::to_string(rule) + ", element " + std::to_string(i));
      }
    }
  });
}

// The last piece may have more elements after its last vector than other pieces, and a block has 256 work-items.
TEST_CASE("upsample_nearest1d reaches the end of a y in several pieces", "[upsample_nearest1d]") {
  on_cpu([] {
    Random random(50);
    const auto check = [&](hipops_dtype dtype, int64_t from, int64_t to, int64_t first_row, int64_t last_row) {
      for (int64_t rows = first_row; rows <= last_row; ++rows) {
        UpsampleCase t{HostTensor(dtype, {1, rows, to}), HostTensor(dtype, {1, rows, from}), HIPOPS_NEAREST_PYTORCH};
        HostTensor other(dtype, {1, rows, to});
        fill_with_bits(t.x, random);
        t.run(other.view);  // by the kernel for small tensors
        const AsMany as_many;
        EXPECT(t.plan().args.periods.count > 1);
        t.run(t.y.view);
        EXPECT(all_bits(t.y) == all_bits(other) && t.y.guards_are_whole());
      }
    };
    check(HIPOPS_U8, 10, 17, 465, 500);
    check(HIPOPS_F16, 5, 9, 1350, 1370);
    check(HIPOPS_U8, 18, 9, 435, 460);
    check(HIPOPS_F32, 3, 5, 400, 420);
  });
}
