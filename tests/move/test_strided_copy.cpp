// hipops_strided_copy and hipops_copy2d: plans and kernels past 2^31 elements, and the pointers of copy2d.
#include "strided_copy.h"

#include <cstring>

#include "as_many.h"
#include "move/copy_plan.h"
#include "op_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// The offset that locate() of device/core/strided.h returns, by plain division.
int64_t place_in_walk(const Walk<kCopyOperands>& walk, int64_t i, CopyOperand operand) {
  int64_t offset = 0;
  for (int d = 0; d + 1 < walk.rank; ++d) {
    offset += i % walk.dim[d].size * walk.dim[d].stride[operand];
    i /= walk.dim[d].size;
  }
  return offset + i * walk.outermost[operand];
}

bool is_mode(const CopyPlan& plan, const std::string& mode) {
  std::string name = op_named("strided_copy").kernel_names[plan.kernel];
  return name.substr(name.rfind('_') + 1) == mode;
}

// The number of pieces of work as the kernel counts them, and the place of one. A piece of `tile` is a tile.
int64_t pieces(const CopyPlan& plan) {
  const StridedCopyArgs& a = plan.args;
  if (is_mode(plan, "rows")) return a.walk.count * a.rows.cols;
  return is_mode(plan, "square") ? a.walk.count * a.squares.line : a.walk.count;
}

int64_t place_of(const CopyPlan& plan, int64_t i, CopyOperand operand, int unit) {
  const StridedCopyArgs& a = plan.args;
  if (is_mode(plan, "rows"))
    return place_in_walk(a.walk, i / a.rows.cols, operand) + i % a.rows.cols * a.row_stride[operand];
  if (is_mode(plan, "square")) {
    const int64_t line = a.squares.line, step = operand == kCopyY ? a.squares.y_stride : 1;
    return place_in_walk(a.walk, i / line, operand) + i % line * (16 / unit) * step;
  }
  return place_in_walk(a.walk, i, operand);
}

// Some of the plan's pieces load the element of x that belongs to their place in y.
void check_places(const hipops_tensor& y, const hipops_tensor& x, const CopyPlan& plan, int bytes, int unit,
                  Random& random) {
  const StridedCopyArgs& a = plan.args;
  std::vector<int> dims(static_cast<size_t>(y.rank));
  std::iota(dims.begin(), dims.end(), 0);
  std::sort(dims.begin(), dims.end(), [&](int p, int q) { return y.stride[p] > y.stride[q]; });
  for (int n = 0; n < 2000; ++n) {
    int64_t i = n == 0 ? 0 : n == 1 ? pieces(plan) - 1 : pick(random, 0, pieces(plan) - 1);
    int64_t to = (static_cast<char*>(a.y) - static_cast<char*>(y.data)) + place_of(plan, i, kCopyY, unit) * unit;
    int64_t from =
        (static_cast<const char*>(a.x) - static_cast<char*>(x.data)) + place_of(plan, i, kCopyX, unit) * unit;
    int64_t expected = 0, rest = to;
    for (int d : dims) {
      int64_t position = rest / (y.stride[d] * bytes);
      rest -= position * y.stride[d] * bytes;
      REQUIRE(position < y.shape[d]);
      expected += position * x.stride[d] * bytes;
    }
    REQUIRE(rest < bytes);  // a head or tail may begin within an element
    REQUIRE(from == expected + rest);
  }
}

void check_grid(const CopyPlan& plan, int64_t depth, uint32_t block = kCopyBlock) {
  CHECK(plan.block == block);
  CHECK(uint64_t{plan.grid} * plan.block < uint64_t{1} << 32);
  CHECK(plan.args.step == int64_t{plan.grid} * depth);
  CHECK(plan.grid >= 1);
}

}  // namespace

TEST_CASE("strided_copy finds its elements past 2^31 of them", "[strided_copy]") {
  const AsMany as_many;
  Random random(1);
  const int64_t g = int64_t{1} << 30;
  const uintptr_t low = uintptr_t{1} << 32, high = uintptr_t{1} << 44;
  SECTION("a run of 3 GB and 5 bytes") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {3 * g + 5}), x = view_of(high, HIPOPS_U8, {3 * g + 5});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(plan.args.walk.count == 3 * g / 16);
    CHECK((plan.args.head == 0 && plan.args.tail == 5));
    check_grid(plan, kCopyBlock * kCopyDepth);
    check_places(y, x, plan, 1, 16, random);
  }
  SECTION("a run with a head") {
    hipops_tensor y = view_of(low + 7, HIPOPS_U8, {80 * g + 5}), x = view_of(high + 7, HIPOPS_U8, {80 * g + 5});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(plan.args.walk.count == (80 * g + 5 - 9) / 16);
    CHECK((plan.args.head == 9 && plan.args.tail == 12));
    CHECK(plan.args.walk.fits_int32 == 0);
    check_grid(plan, kCopyBlock * kCopyDepth);
    check_places(y, x, plan, 1, 16, random);
  }
  SECTION("a run of more than 2^30 elements, with x and y at equal offsets to words only") {
    hipops_tensor y = view_of(low + 1, HIPOPS_U8, {g + 1}), x = view_of(high + 5, HIPOPS_U8, {g + 1});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(std::string(op_named("strided_copy").kernel_names[plan.kernel]) == "strided_copy_b32_any");
    CHECK(plan.args.walk.count == g / 4 - 1);
    CHECK((plan.args.head == 3 && plan.args.tail == 2));
    check_grid(plan, kCopyBlock * kCopyDepth);
    check_places(y, x, plan, 1, 4, random);
  }
  SECTION("more elements than a grid has work-items") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {64 * g}, {2}), x = view_of(high, HIPOPS_U8, {64 * g}, {1});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(int64_t{plan.grid} * kCopyBlock * kCopyDepth < plan.args.walk.count);
    check_grid(plan, kCopyBlock * kCopyDepth);
    check_places(y, x, plan, 1, 1, random);
  }
  SECTION("five dimensions") {
    Sizes shape{70, 60, 50, 40, 1100};
    hipops_tensor y = view_of(low, HIPOPS_F16, shape),
                  x = view_of(high, HIPOPS_F16, shape, {1000, 70000, 0, 4200001, -1});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(pieces(plan) == int64_t{70} * 60 * 50 * 40 * 1100);
    CHECK(plan.args.rows.pieces == 2);
    CHECK(plan.args.rows.count == int64_t{70} * 60 * 50 * 40 * 2 << 7);
    check_grid(plan, kCopyRowsBlock, kCopyRowsBlock);
    check_places(y, x, plan, 2, 2, random);
  }
  SECTION("offsets past 2^31 of few elements") {
    hipops_tensor y = view_of(low, HIPOPS_F32, {1000, 999}, {3 * g, 2}),
                  x = view_of(high, HIPOPS_F32, {1000, 999}, {-5 * g, 3});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(plan.args.walk.fits_int32 == 1);
    check_places(y, x, plan, 4, 4, random);
  }
  SECTION("tiles") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {100000, 100000}),
                  x = view_of(high, HIPOPS_U8, {100000, 100000}, {1, 100000});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(std::string(op_named("strided_copy").kernel_names[plan.kernel]) == "strided_copy_b8_square");
    CHECK(pieces(plan) == int64_t{6250} * 6250);
    CHECK(plan.args.squares.tiles >= int64_t{391} * 391);
    check_grid(plan, 1);
    check_places(y, x, plan, 1, 1, random);
  }
  SECTION("more tiles than a divisor handles") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {int64_t{1} << 32, 17, 16}),
                  x = view_of(high, HIPOPS_U8, {int64_t{1} << 32, 17, 16}, {272, 1, 17});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(std::string(op_named("strided_copy").kernel_names[plan.kernel]) == "strided_copy_b8_rows");
    check_grid(plan, kCopyRowsBlock, kCopyRowsBlock);
    check_places(y, x, plan, 1, 1, random);
  }
}

// Each kernel with two blocks that divide in 64 bits gives the op's bits.
TEST_CASE("strided_copy's kernels divide in 64 bits", "[strided_copy]") {
  on_cpu([] {
    const AsMany as_many;
    Random random(6);
    std::vector<bool> seen(static_cast<size_t>(op_named("strided_copy").kernel_count));
    for (hipops_dtype dtype : kMoved) {
      const int64_t bytes = static_cast<int64_t>(parity::dtype_size(dtype)), n = 16 / bytes;
      struct Case {
        Sizes shape, y, x;
      };
      std::vector<Case> cases = {{{19 * n, 301}, {602, 2}, {301, 1}},       // elements
                                 {{400, 9}, {27, 2}, {9, 1}},               // short rows
                                 {{40, 70 * n}, {80 * n, 1}, {72 * n, 1}},  // rows of vectors
                                 {{20 * n, 16 * n}, {}, {1, 20 * n}},       // squares
                                 {{17, 17, 17}, {}, {1, 17, 289}},          // a batch of tiles
                                 {{133, 201}, {402, 2}, {1, 133}},          // tiles of any strides
                                 {{3, 333, 201}, {}, {66933, 1, 333}},      // staged
                                 {{37, 2101}, {}, {2105, 1}},               // shifted rows
                                 {{301, 10, 4}, {48, 4, 1}, {52, 4, 1}}};   // 4 elements together
      for (const Case& c : cases) {
        HostTensor x(dtype, c.shape, c.x), y(dtype, c.shape, c.y), other(dtype, c.shape, c.y);
        fill_with_bits(x, random);
        expect_success(hipops_strided_copy(&y.view, &x.view, nullptr));
        CopyPlan plan = plan_copy(plan_options(), other.view, x.view);
        plan.args.step = plan.args.step / plan.grid * 2;
        plan.grid = 2;
        plan.args.walk.fits_int32 = 0;
        expect_success(launch(op_named("strided_copy"), plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr));
        EXPECT(all_bits(other) == all_bits(y) && other.guards_are_whole());
        seen[static_cast<size_t>(plan.kernel)] = true;
      }
    }
    EXPECT(std::count(seen.begin(), seen.end(), true) >= 16);
  });
}

// Lines of any length that begin anywhere, with and without gaps, so that tiles are next to other memory on each side.
TEST_CASE("strided_copy transposes lines of any alignment", "[strided_copy]") {
  on_cpu([] {
    const AsMany as_many;
    Random random(8);
    int staged = 0;
    for (hipops_dtype dtype : kMoved) {
      const int64_t bytes = static_cast<int64_t>(parity::dtype_size(dtype)), n = 16 / bytes;
      for (int i = 0; i < 40; ++i) {
        const int64_t batch = pick(random, 1, 3), rows = pick(random, 4 * n, 20 * n), cols = pick(random, 48, 300);
        const int64_t x_line = rows + pick(random, 0, 1) * pick(random, 0, 2 * n);
        const int64_t y_line = cols + pick(random, 0, 1) * pick(random, 0, 2 * n);
        const int64_t x_step = cols * x_line + pick(random, 0, 1) * pick(random, 0, 2 * n);
        const Sizes shape = {2, batch, rows, cols}, y_strides = {batch * rows * y_line, rows * y_line, y_line, 1};
        HostTensor x(dtype, shape, {x_step, 2 * x_step, 1, x_line}, pick(random, 0, n - 1));
        HostTensor y(dtype, shape, y_strides, pick(random, 0, n - 1));
        fill_with_bits(x, random);
        staged += is_mode(plan_copy(plan_options(), y.view, x.view), "staged");
        expect_success(hipops_strided_copy(&y.view, &x.view, nullptr));
        EXPECT(all_bits(y) == all_bits(x) && y.guards_are_whole());
      }
    }
    EXPECT(staged >= 100);
  });
}

// ---- copy2d

namespace {

struct Call2d {
  HostTensor y{HIPOPS_F32, {3, 8}, {10, 1}}, x{HIPOPS_F32, {3, 8}, {12, 1}};
  void* y_data = y.view.data;
  const void* x_data = x.view.data;
  hipops_dtype dtype = HIPOPS_F32;
  int64_t rows = 3, cols = 8, y_stride = 10, x_stride = 12;

  hipops_status run() const { return hipops_copy2d(y_data, x_data, dtype, rows, cols, y_stride, x_stride, nullptr); }
};

void invalid_2d(const std::string& message, const std::function<void(Call2d&)>& spoil) {
  Call2d call;
  spoil(call);
  const auto y = call.y.bytes();
  EXPECT_EQUAL(call.run(), HIPOPS_INVALID_ARGUMENT);
  EXPECT_EQUAL(error_without_values(), "copy2d: " + message);
  EXPECT(call.y.bytes() == y);
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

}  // namespace

TEST_CASE("copy2d refuses bad arguments", "[copy2d]") {
  check_calls([] {
    for (int dtype : {0, 17, 99, 0x7fffffff})
      invalid_2d("dtype is " + std::to_string(dtype) + ", expected a hipops_dtype from 1 (f32) to 16 (f8_e5m2fnuz)",
                 [dtype](Call2d& c) { std::memcpy(&c.dtype, &dtype, sizeof dtype); });
    invalid_2d("rows is -1, expected 0 or more", [](Call2d& c) { c.rows = -1; });
    invalid_2d("cols is -8, expected 0 or more", [](Call2d& c) { c.cols = -8; });
    for (int64_t stride : {int64_t{7}, int64_t{0}, int64_t{-10}, INT64_MIN})
      invalid_2d("y_stride is " + std::to_string(stride) + ", expected 8 (cols) or more",
                 [stride](Call2d& c) { c.y_stride = stride; });
    invalid_2d("y is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.y_data = nullptr; });
    invalid_2d("x is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.x_data = nullptr; });
    invalid_2d("x is NULL, expected memory of 3 rows of 8 elements",
               [](Call2d& c) { c.x_data = nullptr, c.x_stride = -8; });
    invalid_2d("y is NULL, expected memory of 3 rows of 8 elements",
               [](Call2d& c) { c.y_data = nullptr, c.y_stride = INT64_MAX; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y",
               [](Call2d& c) { c.y_stride = INT64_MAX; });
    invalid_2d("rows, cols and x_stride reach outside the address space from x",
               [](Call2d& c) { c.x_stride = INT64_MIN; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y",
               [](Call2d& c) { c.rows = 1, c.cols = INT64_MAX; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y", [](Call2d& c) { c.rows = INT64_MAX; });
    const auto odd = [](const void* data) { return text_of(data) + ", expected a multiple of 4 (an element of f32)"; };
    char* const address = reinterpret_cast<char*>(uintptr_t{4098});
    invalid_2d("y is " + odd(address), [&](Call2d& c) { c.y_data = address; });
    invalid_2d("x is " + odd(address), [&](Call2d& c) { c.x_data = address; });
    for (int64_t elements : {-7, 0, 1, 8, 27})  // 8: from y's gap on
      invalid_2d("y overlaps x, expected separate memory",
                 [elements](Call2d& c) { c.x_data = static_cast<float*>(c.y_data) + elements; });
  });
}

TEST_CASE("copy2d between the lines of one buffer is no overlap", "[copy2d]") {
  on_cpu([] {
    Random random(7);
    HostTensor buffer(HIPOPS_U16, {5, 20});
    fill_with_bits(buffer, random);
    uint16_t* at = static_cast<uint16_t*>(buffer.view.data);
    EXPECT_EQUAL(hipops_copy2d(at + 10, at, HIPOPS_U16, 5, 10, 20, 20, nullptr), HIPOPS_SUCCESS);
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 10; ++j) EXPECT(at[20 * i + 10 + j] == at[20 * i + j]);
    EXPECT(buffer.guards_are_whole());
  });
}

TEST_CASE("copy2d of nothing is success, for any pointers", "[copy2d]") {
  check_calls([] {
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 0, 8, 8, 8, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 8, 0, 0, -3, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 0, 0, INT64_MIN, INT64_MIN, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 8, 0, -1, 0, nullptr), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}
