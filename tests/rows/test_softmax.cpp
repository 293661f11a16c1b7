// hipops_softmax: what it refuses, and its numbers on the CPU.
#include "op_calls.h"
#include "op_numbers.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RowOp kSoftmax = {
    "softmax",
    false,
    false,
    [](const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor*, const hipops_tensor*, double) {
      return hipops_softmax(y, x, nullptr);
    },
    [](const Row& x, const Row&, const Row&, long double, Row* y, Row* magnitude) {
      long double maximum = *std::max_element(x.begin(), x.end()), sum = 0;
      for (size_t i = 0; i < x.size(); ++i) sum += (*y)[i] = std::exp(x[i] - maximum);
      for (size_t i = 0; i < x.size(); ++i) (*magnitude)[i] = (*y)[i] /= sum;
    }};

// Where one element is most of the sum, each rounding of a plain sum would be of its size.
void check_dominant(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (const int64_t cols : {96, 128, 5120})
    for (const double above : {3.0, 9.0, 30.0})
      for (const int64_t at : {int64_t{0}, cols / 2, cols - 1}) {
        Operands t{HostTensor(dtype, {1, cols}), HostTensor(dtype, {1, cols}, {2 * cols, 2}), {}, {}};
        t.x.randomize(static_cast<uint64_t>(cols), -2, 0);
        t.x.set(at, above);
        check_numbers(op, t);
      }
}

// Of rows that go by in tiles, each of which has a larger maximum than all before: a sum that is rescaled each time is
// off by tens of ULPs. One rises by more than exponentials have room for.
void check_rising(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const int64_t cols = 70001;
  const double from[] = {-1, -300};
  Operands t{HostTensor(dtype, {2, cols}, {2 * cols, 2}), HostTensor(dtype, {2, cols}), {}, {}};
  for (int64_t i = 0; i < 2 * cols; ++i)
    t.x.set(i, from[i / cols] * static_cast<double>(cols - i % cols) / static_cast<double>(cols));
  check_numbers(op, t);
}

}  // namespace

TEST_CASE("softmax of rows that rise", "[softmax]") { on_cpu(kSoftmax, check_rising); }

TEST_CASE("softmax of rows with one dominant element, into every other place", "[softmax]") {
  on_cpu(kSoftmax, check_dominant);
}

TEST_CASE("softmax refuses bad tensors", "[softmax]") {
  check_calls([] {
    check_rows_arguments(kSoftmax);
    check_memory_of_rows(kSoftmax);
  });
}

TEST_CASE("softmax of nothing is success", "[softmax]") {
  check_calls([] { check_empty(kSoftmax); });
}

TEST_CASE("softmax is right for rows however they lie", "[softmax]") { on_cpu(kSoftmax, check_layouts); }

TEST_CASE("softmax is right for short rows in one piece", "[softmax]") { on_cpu(kSoftmax, check_packed); }

TEST_CASE("softmax is right for rows that are split", "[softmax]") { on_cpu(kSoftmax, check_split); }

TEST_CASE("softmax takes every rank, and success leaves the last failure alone", "[softmax]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    check_ranks(kSoftmax);
    for (hipops_dtype dtype : kFloats) Call(kSoftmax, dtype).succeeds();
  });
}

// On chip, in a part of a wave and in several waves, of which one has a number; and in spans, of which one has.
TEST_CASE("softmax of infinities and NaN", "[softmax]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    for (hipops_dtype dtype : kFloats)
      for (int cols : {24, 4096, 5003, 40001}) {
        Call call(kSoftmax, dtype, {4, cols});
        for (int i = 0; i < 4 * cols; ++i) call.x.set(i, -infinity);
        call.x.set(2 * cols - 1, 7);             // row 1: the one that counts
        call.x.set(2 * cols + 5, infinity);      // row 2
        call.x.set(4 * cols - 2, std::nan(""));  // row 3
        call.succeeds();
        for (int i = 0; i < 4 * cols; ++i) {
          bool is_number = i / cols == 1;
          EXPECT_EQUAL(std::isnan(call.y.get(i)), !is_number);
          if (is_number) EXPECT_EQUAL(call.y.get(i), i == 2 * cols - 1 ? 1.0 : 0.0);
        }
      }
  });
}

// Each wave takes exponentials under its own maximum: they are small only when scaled by the row's.
TEST_CASE("softmax of waves far under the row's maximum", "[softmax]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    constexpr int cols = 4096;
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    for (const double low : {-20.0, -80.0, -84.0, -200.0}) {
      Call call(kSoftmax, HIPOPS_BF16, {1, cols});
      for (int i = 0; i < cols; ++i) call.x.set(i, i < cols / 2 ? low : 0.0);
      call.succeeds();
      const double sum = cols / 2 * (1 + std::exp(low)), least = std::ldexp(1.0, -133);
      for (int i = 0; i < cols; ++i) {
        const double expected = std::exp(i < cols / 2 ? low : 0.0) / sum;
        EXPECT_EQUAL(std::abs(call.y.get(i) - expected) <= std::max(expected / 128, least), true);
      }
    }
  });
}
