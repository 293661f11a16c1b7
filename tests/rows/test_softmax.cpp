// hipops_softmax: what it refuses, and its numbers on the CPU with every kernel that it has.
#include "softmax.h"

#include "op_calls.h"
#include "op_numbers.h"
#include "tensor/tensor.h"

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
    },
    [](Op& op, int kernel, uint32_t grid, uint32_t block, const RowGeometry& geometry, const void* x, void* y) {
      SoftmaxArgs args{};
      args.geometry = geometry;
      args.x = x;
      args.y = y;
      return launch(op, kernel, grid, block, &args, sizeof args, nullptr);
    }};

// Of rows that the clustered variant does not hold, f32 has the rest in shared memory, 16 bits have a vector more: a
// vector of it, one for each work-item, or just less. Blocks go over several rows.
void check_longer(const RowOp& op, hipops_dtype dtype) {
  if (dtype == HIPOPS_F64) return;
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  Recorder recorder(op.kernels());
  const int64_t length = 16 / dtype_bytes(dtype), work_items = 1024;
  const int64_t held = work_items * 8 * length;
  const int kernel = dtype == HIPOPS_F32 ? tailed_kernel : full_kernel(dtype);
  for (const int64_t vectors : {int64_t{1}, work_items - 3, work_items}) {
    const Sizes shape = {3, held + vectors * length};
    Operands t{HostTensor(dtype, shape), HostTensor(dtype, shape), {}, {}};
    t.x.randomize(static_cast<uint64_t>(vectors), -3, 5);
    for (const int64_t row : {1, 2}) t.x.set((row + 1) * shape[1] - length, 4 + row);  // the largest one is in the rest
    check_numbers(op, t);
    EXPECT(recorder.ran() == std::vector<int>{kernel});
  }
}

// More than two rounds for each of two blocks, and up to three vectors of a tail for each work-item; in rows that have
// no number for a result, and where the tail alone has one.
void check_rounds_of_tails(const RowOp& op, hipops_dtype dtype) {
  if (dtype != HIPOPS_F32) return;
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const uint32_t block = 256, grid = 2;
  const int64_t held = block * 8 * 4, tail = 2500, cols = held + tail;
  const double inf = INFINITY;
  for (const bool finite : {true, false}) {
    Operands t{HostTensor(dtype, {7, cols}), HostTensor(dtype, {7, cols}), {}, {}};
    t.x.randomize(17, -3, 5);
    if (!finite) {
      t.x.set(2 * cols - 1, NAN);
      t.x.set(4 * cols - tail, inf);
      for (int64_t i = 4 * cols; i < 5 * cols; ++i) t.x.set(i, -inf);
      for (int64_t i = 5 * cols; i < 6 * cols - tail; ++i) t.x.set(i, -inf);
    }
    SoftmaxArgs args{};
    args.x = t.x.view.data;
    args.y = t.y().view.data;
    args.geometry = row_geometry(t.y().view, t.x.view);
    args.geometry.row_step = grid;
    args.geometry.threads = block;
    const uint32_t tails = 2 * 3 * block * 16;  // this row's and the next one's, three vectors a work-item
    check_numbers(op, t, [&]() -> hipops_status {
      const DeviceFacts* device;
      if (hipops_status status = device_facts(&device)) return status;
      return launch(op.kernels(), *device, tailed_kernel, {grid, block, 1, tails}, &args, sizeof args, nullptr);
    });
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

TEST_CASE("softmax of rows that its clustered variant does not hold", "[softmax]") {
  on_cpu(kSoftmax, check_longer, {{"HIPOPS_CPU_RACE", "1"}});
  on_cpu(kSoftmax, check_rounds_of_tails, {{"HIPOPS_CPU_RACE", "1"}});
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

TEST_CASE("softmax's variants are right at their ends", "[softmax]") { on_cpu(kSoftmax, check_variants); }

TEST_CASE("softmax takes few short rows element by element", "[softmax]") { on_cpu(kSoftmax, check_few); }

TEST_CASE("softmax's variants are right over several rounds of the grid", "[softmax]") {
  on_cpu(kSoftmax, check_rounds, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("softmax takes every rank, and success leaves the last failure alone", "[softmax]") {
  if (!has_cpu()) return;
  check_in_child({}, [] {
    check_ranks(kSoftmax);
    for (hipops_dtype dtype : kFloats) Call(kSoftmax, dtype).succeeds();
  });
}

// In resident variants of a part of a wave and of several waves, of which one has a number, and in a streaming one, whose
// first tile is -inf throughout.
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
