// The checks of parity's large cases must detect one wrong bit, and compute the places of elements.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "catch.h"
#include "runtime/host_runtime.h"
#include "parity/large_cases.h"
#include "parity/large_sums.h"
#include "parity/ops.h"

using namespace hipops::parity;
using namespace hipops::parity::large;

namespace {

constexpr int64_t kScale = 1 << 16, kBorder = (int64_t{1} << 31) / kScale;
constexpr int64_t kElements = 40 * kBorder + 5;  // more than a check compares in one step

bool has_reason(const CaseResult& result, const std::string& part) {
  for (const std::string& reason : result.reasons)
    if (reason.find(part) != std::string::npos) return true;
  return false;
}

// The result of a check of a memory that `damage` has changed.
template <class Damage>
CaseResult check(hipops_dtype dtype, bool samples, Damage damage) {
  HostRuntime runtime;
  CaseResult result;
  {
    Staging staging(runtime);
    Stage stage(runtime, staging, kScale, 1);
    const Pattern pattern = random_bits(dtype, 1);
    Memory& y = stage.memory("y", pattern, kElements);
    damage(y);
    const std::vector<int64_t> touched = {3 * kBorder + 7000};
    samples ? stage.expect_samples(y, is_pattern(pattern), touched) : stage.expect(y, is_pattern(pattern));
    result = stage.result();
  }
  CHECK(runtime.live == 0);
  return result;
}

bool holds(const Memory& memory, const Pattern& pattern) {
  const auto* bytes = static_cast<const unsigned char*>(memory.data());
  const int64_t size = static_cast<int64_t>(dtype_size(pattern.dtype()));
  bool same = true;
  for (int64_t i = 0; i < memory.elements(); ++i)
    same &= load_bits(pattern.dtype(), bytes + i * size) == pattern.table()[static_cast<size_t>(i % pattern.period())];
  return same;
}

}  // namespace

TEST_CASE("a memory holds its pattern from end to end", "[large]") {
  for (const hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_I64}) {
    const CaseResult result = check(dtype, false, [](Memory&) {});
    CHECK(result.verdict == CaseResult::Verdict::kPassed);
    HostRuntime runtime;
    const Pattern pattern = random_bits(dtype, 1);
    CHECK(holds(Memory(runtime, "x", pattern, 3 * kPeriod + 2), pattern));
  }
}

TEST_CASE("a memory holds a pattern that is longer than one copy to the device", "[large]") {
  constexpr int64_t kLongPeriod = (int64_t{1} << 20) + 7;  // of 8 bytes
  HostRuntime runtime;
  const Pattern pattern = random_floats(HIPOPS_F64, 1, 4, 0, kLongPeriod);
  for (const int64_t elements : {kLongPeriod - 1, 2 * kLongPeriod + 1})
    CHECK(holds(Memory(runtime, "x", pattern, elements), pattern));
}

TEST_CASE("one bit past a border is found", "[large]") {
  for (const hipops_dtype dtype : {HIPOPS_U8, HIPOPS_F32}) {
    const Pattern pattern = random_bits(dtype, 1);
    for (const int64_t place : {int64_t{0}, kBorder - 1, kBorder, 2 * kBorder, 2 * kBorder + 1, 8 * kBorder - 1,
                                3 * kBorder + 7001, kElements - 1}) {
      for (const bool samples : {false, true}) {
        const CaseResult result =
            check(dtype, samples, [&](Memory& y) { y.set(place, pattern(place) ^ 1); });
        CAPTURE(place, samples);
        CHECK(result.verdict == CaseResult::Verdict::kFailed);
        CHECK(has_reason(result, "y[" + std::to_string(place) + "]: expected "));
        CHECK(has_reason(result, "y: 1 elements are off"));
      }
    }
  }
}

TEST_CASE("a range with the bytes of another part of the memory is found", "[large]") {
  const Pattern pattern = random_bits(HIPOPS_BF16, 1);
  const CaseResult result = check(HIPOPS_BF16, false, [&](Memory& y) {
    for (int64_t i = 0; i < 100; ++i) y.set(2 * kBorder + i, pattern(i));
  });
  CHECK(has_reason(result, "y[" + std::to_string(2 * kBorder) + "]"));
}

TEST_CASE("a changed byte next to a memory is found", "[large]") {
  CHECK(has_reason(check(HIPOPS_U8, true, [](Memory& y) { static_cast<unsigned char*>(y.data())[-3] ^= 1; }),
             "wrote outside y: byte 3 before its start"));
  CHECK(has_reason(check(HIPOPS_U8, true, [](Memory& y) { static_cast<unsigned char*>(y.data())[kElements + 1] ^= 1; }),
             "wrote outside y: byte 2 past its end"));
}

TEST_CASE("an error within the tolerance passes, and a larger one fails", "[large]") {
  HostRuntime runtime;
  Staging staging(runtime);
  Stage stage(runtime, staging, kScale, 1);
  const Pattern one(HIPOPS_F32, {0x3f800000, 0x3f800000});
  Memory& y = stage.memory("y", one, 100);
  Expectation expectation = is_pattern(one);
  expectation.tolerance = 2;
  expectation.rounding = 0.5;
  expectation.error = [](int64_t, uint64_t got) { return error_in_ulps(HIPOPS_F32, 1, 0, got); };
  stage.expect(y, expectation);
  CHECK(stage.result().worst_ulps == 0.5);
  y.set(7, 0x3f800002);
  stage.expect(y, expectation);
  CHECK(stage.result().verdict == CaseResult::Verdict::kPassed);
  CHECK(stage.result().worst_ulps == 2);
  CHECK(stage.result().worst_position == 7);
  y.set(8, 0x3f800003);
  stage.expect(y, expectation);
  CHECK(stage.result().verdict == CaseResult::Verdict::kFailed);
  CHECK(has_reason(stage.result(), "y[8]: expected 1 (0x3f800000), got"));
  CHECK(has_reason(stage.result(), "off by 3 ULPs (tolerance 2)"));
}

TEST_CASE("elements of any view are found by their place", "[large]") {
  struct View {
    std::vector<int64_t> shape, stride;
    int64_t offset;
  };
  const View views[] = {{{3, 4}, {4, 1}, 0},     {{3, 4}, {7, 1}, 2},  {{3, 4}, {1, 5}, 1},  {{3, 4}, {-9, 2}, 30},
                        {{3, 4}, {9, -1}, 5},    {{5}, {3}, 4},        {{1, 1}, {9, 9}, 3},
                        {{2, 1, 3}, {-20, 7, -2}, 28},
                        {{2, 3, 2}, {30, 2, 1}, 0}, {{2, 3, 2}, {1, 20, 4}, 1}};
  constexpr int64_t kMemory = 64;
  for (const View& v : views) {
    HostRuntime runtime;
    const Pattern before = random_bits(HIPOPS_U16, 5);
    Memory memory(runtime, "y", before, kMemory);
    const hipops_tensor view = memory.view(v.shape, v.stride, v.offset);
    std::vector<uint64_t> want;
    for (int64_t i = 0; i < kMemory; ++i) want.push_back(before(i));
    const auto bits = [](const int64_t* i) { return static_cast<uint64_t>(1 + i[0] * 100 + i[1] * 10 + i[2]); };
    int64_t i[HIPOPS_MAX_RANK] = {};
    for (i[0] = 0; i[0] < v.shape[0]; ++i[0]) {
      for (i[1] = 0; i[1] < (view.rank > 1 ? v.shape[1] : 1); ++i[1]) {
        for (i[2] = 0; i[2] < (view.rank > 2 ? v.shape[2] : 1); ++i[2]) {
          int64_t place = v.offset;
          for (int d = 0; d < view.rank; ++d) place += i[d] * view.stride[d];
          want[static_cast<size_t>(place)] = bits(i);
        }
      }
    }
    const Expectation expectation = elements_are(view, v.offset, before, bits);
    for (const int64_t part : {kMemory, int64_t{7}, int64_t{1}}) {
      std::vector<uint16_t> got(kMemory);
      for (int64_t at = 0; at < kMemory; at += part)
        expectation.write(at, std::min(part, kMemory - at),
                          reinterpret_cast<unsigned char*>(got.data()) + at * int64_t{sizeof got[0]});
      CHECK(std::vector<uint64_t>(got.begin(), got.end()) == want);
    }
  }
}

TEST_CASE("sums of summands are exact", "[large]") {
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16, HIPOPS_F16, HIPOPS_F64}) {
    const Pattern pattern = summands(dtype, 3);
    uint64_t sum = encode(dtype, 0);
    double exact = 0;
    for (int64_t i = 0; i < 20; ++i) {
      sum = exact_sum(dtype, sum, pattern(i));
      exact += decode(dtype, pattern(i));
      CHECK(decode(dtype, sum) == exact);
    }
  }
  CHECK(exact_sum(HIPOPS_U8, 200, 100) == 44);
}

TEST_CASE("Modulo is the remainder", "[large]") {
  std::mt19937_64 random(1);
  for (const int64_t divisor : {int64_t{2}, int64_t{3}, int64_t{31}, kPeriod, int64_t{1} << 20, int64_t{2097143}}) {
    const Modulo modulo(divisor);
    bool right = true;
    for (int i = 0; i < 10000; ++i) {
      const int64_t n = static_cast<int64_t>(random() >> (22 + i % 40));
      for (const int64_t near : {n, n / divisor * divisor, n / divisor * divisor + divisor - 1})
        right &= modulo(near) == near % divisor;
    }
    CHECK(right);
  }
}

TEST_CASE("a case is skipped if memory is short, and fails if a call fails", "[large]") {
  const LargeCase test = {"op", HIPOPS_F32, "name", {1}, [](Stage& stage) {
                            stage.unwritten_memory("y", HIPOPS_F32, 1000);
                            stage.called([] { return HIPOPS_UNSUPPORTED_LAYOUT; });
                          }};
  HostRuntime runtime;
  Staging staging(runtime);
  CaseResult result = run_large_case(runtime, staging, test, kScale, 1);
  CHECK(result.verdict == CaseResult::Verdict::kFailed);
  CHECK(has_reason(result, "HIPOPS_UNSUPPORTED_LAYOUT"));
  runtime.refuse_allocation = HIPOPS_INTERNAL_ERROR;  // the CPU's, out of memory
  result = run_large_case(runtime, staging, test, kScale, 1);
  CHECK(result.verdict == CaseResult::Verdict::kSkipped);
  CHECK(has_reason(result, "y needs 0.0 GiB: "));
  runtime.refuse_allocation = HIPOPS_RUNTIME_ERROR;
  CHECK(run_large_case(runtime, staging, test, kScale, 1).verdict == CaseResult::Verdict::kFailed);
}

namespace {

// Addresses of any size without memory behind them.
class UntouchableRuntime : public HostRuntime {
 public:
  hipops_status allocate(size_t bytes, void** pointer) override {
    *pointer = reinterpret_cast<void*>(next_);
    next_ += (bytes + 255) / 256 * 256;
    return HIPOPS_SUCCESS;
  }
  hipops_status release(void*) override { return HIPOPS_SUCCESS; }
  hipops_status copy_to_device(void*, const void*, size_t) override { return HIPOPS_SUCCESS; }
  hipops_status copy_on_device(void*, const void*, size_t) override { return HIPOPS_SUCCESS; }

 private:
  uintptr_t next_ = 256;
};

}  // namespace

TEST_CASE("large cases are within their memories in their full size", "[large]") {
  UntouchableRuntime runtime;
  runtime.synchronize_status = HIPOPS_RUNTIME_ERROR;  // up to the call
  Staging staging(runtime);
  for (const LargeCase& test : large_cases(1)) {
    const CaseResult result = run_large_case(runtime, staging, test, 1, 1);
    CAPTURE(test.op, test.name, result.reasons);
    CHECK(has_reason(result, "waiting for the device"));
  }
}

TEST_CASE("every op has large cases with distinct names", "[large]") {
  std::map<std::string, std::set<std::string>> names;
  for (const LargeCase& test : large_cases(1)) {
    CAPTURE(test.op, test.name);
    CHECK(names[test.op].insert(test.name).second);
    const OpEntry* op = find_op(all_ops(), test.op);
    REQUIRE(op != nullptr);
    CHECK(std::find(op->dtypes.begin(), op->dtypes.end(), test.dtype) != op->dtypes.end());
  }
  for (const OpEntry& op : all_ops()) {
    CAPTURE(op.name);
    CHECK(names[op.name].size() >= 5);
  }
}
