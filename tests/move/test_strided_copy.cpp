// hipops_strided_copy and hipops_copy2d: what they refuse, which kernel they choose, and that every bit arrives, on the
// CPU with every kernel.
#include "strided_copy.h"

#include <cstring>
#include <optional>

#include "as_many.h"
#include "move/copy_plan.h"
#include "move/mover_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

struct Operands {
  HostTensor y, x;

  Operands(hipops_dtype dtype, const Sizes& shape, const Sizes& y_stride = {}, const Sizes& x_stride = {},
           int64_t y_shift = 0, int64_t x_shift = 0)
      : y(dtype, shape, y_stride, y_shift), x(dtype, shape, x_stride, x_shift) {}

  std::string text() const {
    auto strides = [](const hipops_tensor& t) { return text_of(Sizes(t.stride, t.stride + t.rank)); };
    const hipops_tensor& v = x.view;
    return std::string(parity::dtype_name(v.dtype)) + " " + text_of(Sizes(v.shape, v.shape + v.rank)) + ", y " +
           strides(y.view) + " at " + text_of(y.view.data) + ", x " + strides(v) + " at " + text_of(v.data);
  }
};

const char* chosen_for(const hipops_tensor& y, const hipops_tensor& x) {
  return op_named("strided_copy").kernel_names[plan_copy(plan_options(), y, x).kernel];
}

// Every element of y is x's, nothing else of y has changed, and nothing of x.
void expect_copied(const Operands& t, const std::vector<unsigned char>& x_before) {
  for (int64_t i = 0; i < t.x.count(); ++i)
    if (t.y.bits(i) != t.x.bits(i))
      throw std::runtime_error("element " + std::to_string(i) + " of " + t.text() + " by " +
                               chosen_for(t.y.view, t.x.view) + " is " + std::to_string(t.y.bits(i)) + ", expected " +
                               std::to_string(t.x.bits(i)));
  if (!t.y.guards_are_whole()) throw std::runtime_error("a write outside the elements of " + t.text());
  if (t.x.bytes() != x_before) throw std::runtime_error("x has changed: " + t.text());
}

void check_copy(Operands& t, Random& random, Seen* seen = nullptr) {
  fill_with_bits(t.x, random);
  std::vector<unsigned char> before = t.x.bytes();
  if (hipops_strided_copy(&t.y.view, &t.x.view, nullptr) != HIPOPS_SUCCESS)
    throw std::runtime_error(t.text() + ": " + hipops_last_error());
  if (t.x.count() == 0) return;
  expect_copied(t, before);
  if (seen) seen->add(plan_copy(plan_options(), t.y.view, t.x.view).kernel);
}

Operands good() { return Operands(HIPOPS_F32, {4, 8}); }

void refused(hipops_status status, const std::string& message,
             const std::function<void(hipops_tensor& y, hipops_tensor& x)>& spoil) {
  Operands t = good();
  hipops_tensor y = t.y.view, x = t.x.view;
  spoil(y, x);
  expect_refused([&] { return hipops_strided_copy(&y, &x, nullptr); }, {&t.y, &t.x}, status,
                 "strided_copy: " + message);
}

void invalid(const std::string& message, const std::function<void(hipops_tensor& y, hipops_tensor& x)>& spoil) {
  refused(HIPOPS_INVALID_ARGUMENT, message, spoil);
}

}  // namespace

TEST_CASE("strided_copy refuses bad tensors", "[strided_copy]") {
  check_calls([] {
    Operands t = good();
    expect_refused([&] { return hipops_strided_copy(nullptr, &t.x.view, nullptr); }, {&t.y, &t.x},
                   HIPOPS_INVALID_ARGUMENT, "strided_copy: y is NULL, expected a tensor");
    expect_refused([&] { return hipops_strided_copy(&t.y.view, nullptr, nullptr); }, {&t.y, &t.x},
                   HIPOPS_INVALID_ARGUMENT, "strided_copy: x is NULL, expected a tensor");
    invalid("x.rank is 9, expected 0 to 8", [](hipops_tensor&, hipops_tensor& x) { x.rank = 9; });
    invalid("y.rank is -1, expected 0 to 8", [](hipops_tensor& y, hipops_tensor&) { y.rank = -1; });
    invalid("x.dtype is 13, expected a hipops_dtype from 1 (f32) to 12 (u64)",
            [](hipops_tensor&, hipops_tensor& x) { x.dtype = static_cast<hipops_dtype>(13); });
    invalid("x.shape[1] is -8, expected 0 or more", [](hipops_tensor&, hipops_tensor& x) { x.shape[1] = -8; });
    invalid("x.data is NULL, expected memory of 32 elements",
            [](hipops_tensor&, hipops_tensor& x) { x.data = nullptr; });
    invalid("y.data is NULL, expected memory of 32 elements",
            [](hipops_tensor& y, hipops_tensor&) { y.data = nullptr; });
    invalid("x.shape and x.stride reach outside the address space",
            [](hipops_tensor&, hipops_tensor& x) { x.stride[0] = INT64_MAX / 4; });
    invalid("y.rank is 1, expected 2 (x.rank)", [](hipops_tensor& y, hipops_tensor&) { y.rank = 1; });
    invalid("y.shape[0] is 3, expected 4 (x.shape[0])", [](hipops_tensor& y, hipops_tensor&) { y.shape[0] = 3; });
    invalid("y.shape[1] is 7, expected 8 (x.shape[1])", [](hipops_tensor& y, hipops_tensor&) { y.shape[1] = 7; });
    refused(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is i32, expected f32 (x.dtype)",
            [](hipops_tensor& y, hipops_tensor&) { y.dtype = HIPOPS_I32; });
    for (hipops_tensor* side : {&t.y.view, &t.x.view}) {
      hipops_tensor odd = *side;
      odd.data = static_cast<char*>(odd.data) + 2;
      bool is_y = side == &t.y.view;
      expect_refused([&] { return hipops_strided_copy(is_y ? &odd : &t.y.view, is_y ? &t.x.view : &odd, nullptr); },
                     {&t.y, &t.x}, HIPOPS_INVALID_ARGUMENT,
                     std::string("strided_copy: ") + (is_y ? "y" : "x") + ".data is " + text_of(odd.data) +
                         ", expected a multiple of 4 (an element of f32)");
    }
  });
}

TEST_CASE("strided_copy refuses an output whose elements meet, and any overlap", "[strided_copy]") {
  check_calls([] {
    invalid("y.stride[0] is 0, expected distinct elements in an output (shape[0] is 4)",
            [](hipops_tensor& y, hipops_tensor&) { y.stride[0] = 0; });
    refused(HIPOPS_UNSUPPORTED_LAYOUT,
            "y.stride lets elements of an output meet, or interleaves its dimensions; expected strides that nest",
            [](hipops_tensor& y, hipops_tensor&) { y.stride[0] = 7; });
    for (int64_t bytes : {-124, -16, -4, 0, 4, 124})
      invalid("y overlaps x, expected separate memory",
              [bytes](hipops_tensor& y, hipops_tensor& x) { y.data = static_cast<char*>(x.data) + bytes; });
    invalid("y overlaps x, expected separate memory",
            [](hipops_tensor& y, hipops_tensor& x) {  // one element of x, at each place of y
              x.data = static_cast<char*>(y.data) + 64;
              x.stride[0] = x.stride[1] = 0;
            });
  });
}

TEST_CASE("strided_copy of nothing is success", "[strided_copy]") {
  check_calls([] {
    for (const Sizes& shape : {Sizes{0}, Sizes{0, 8}, Sizes{4, 0}, Sizes{3, 0, 8}, Sizes{int64_t{1} << 62, 0, 64},
                               Sizes{2, 2, 2, 2, 2, 2, 0, 2}})
      for (hipops_dtype dtype : kMoved) {
        hipops_tensor nothing = nowhere(dtype, shape);
        EXPECT_EQUAL(hipops_strided_copy(&nothing, &nothing, nullptr), HIPOPS_SUCCESS);
      }
    hipops_tensor y = view_of(0, HIPOPS_F32, {0, 9}), x = view_of(0, HIPOPS_F32, {0, 8});
    EXPECT_EQUAL(hipops_strided_copy(&y, &x, nullptr), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(std::string(hipops_last_error()), "strided_copy: y.shape[1] is 9, expected 8 (x.shape[1])");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("strided_copy takes every dtype, without a second one", "[strided_copy]") {
  for (int dtype = -1; dtype <= 14; ++dtype)
    for (int second = -1; second <= 14; ++second)
      CHECK(hipops_supports("strided_copy", static_cast<hipops_dtype>(dtype), static_cast<hipops_dtype>(second)) ==
            (dtype >= HIPOPS_F32 && dtype <= HIPOPS_U64 && second == HIPOPS_NONE));
}

// ---- The choice

TEST_CASE("strided_copy chooses by layout", "[strided_copy]") {
  const AsMany as_many;
  struct Choice {
    const char* kernel;
    hipops_dtype dtype;
    Sizes shape, y, x;
    uintptr_t y_at, x_at;
  };
  const uintptr_t m = 1 << 20;
  const Choice choices[] = {
      {"strided_copy_b128_any", HIPOPS_U8, {1000}, {}, {}, m, 2 * m},          // a run, with a tail of 8 bytes
      {"strided_copy_b128_any", HIPOPS_U8, {1000}, {}, {}, m + 3, 2 * m + 3},  // with a head
      {"strided_copy_b8_shifted", HIPOPS_U8, {1000}, {}, {}, m, 2 * m + 1},    // no two bytes lie alike
      {"strided_copy_b8_any", HIPOPS_U8, {255}, {}, {}, m, 2 * m + 1},         // too few for that
      {"strided_copy_b8_shifted", HIPOPS_U8, {1000}, {}, {}, m + 1, 2 * m + 5},
      {"strided_copy_b16_any", HIPOPS_U8, {200}, {}, {}, m, 2 * m + 2},
      {"strided_copy_b32_any", HIPOPS_U8, {200}, {}, {}, m + 1, 2 * m + 5},
      {"strided_copy_b16_shifted", HIPOPS_F16, {1000}, {}, {}, m, 2 * m + 6},
      {"strided_copy_b32_shifted", HIPOPS_F32, {1000}, {}, {}, m + 8, 2 * m + 4},
      {"strided_copy_b64_any", HIPOPS_F32, {1000}, {}, {}, m, 2 * m + 8},
      {"strided_copy_b8_any", HIPOPS_U8, {9}, {}, {}, m + 9, 2 * m + 9},                      // no whole unit
      {"strided_copy_b32_any", HIPOPS_F32, {}, {}, {}, m, 2 * m},                             // rank 0
      {"strided_copy_b128_any", HIPOPS_F16, {3, 5, 7}, {}, {}, m, 2 * m},                     // all one run
      {"strided_copy_b16_any", HIPOPS_F16, {5, 3, 7}, {21, 105, 3}, {21, 105, 3}, m, 2 * m},  // with gaps
      {"strided_copy_b128_any", HIPOPS_F16, {7, 5}, {1, 7}, {1, 7}, m, 2 * m},      // one run in another order
      {"strided_copy_b128_any", HIPOPS_F16, {7, 5}, {-5, -1}, {-5, -1}, m, 2 * m},  // backwards in both
      {"strided_copy_b128_any", HIPOPS_F16, {9, 16}, {24, 1}, {40, 1}, m, 2 * m},   // rows of 32 bytes
      {"strided_copy_b64_any", HIPOPS_F16, {9, 20}, {24, 1}, {40, 1}, m, 2 * m},    // of 40
      {"strided_copy_b32_any", HIPOPS_F16, {9, 20}, {24, 1}, {42, 1}, m, 2 * m},    // 84 bytes apart
      {"strided_copy_b128_rows", HIPOPS_F16, {9, 128}, {136, 1}, {256, 1}, m, 2 * m},  // rows of 16 units
      {"strided_copy_b128_any", HIPOPS_F16, {9, 120}, {136, 1}, {256, 1}, m, 2 * m},   // of 15
      {"strided_copy_b16_rows", HIPOPS_F16, {9, 20}, {25, 1}, {40, 1}, m, 2 * m},
      {"strided_copy_b16_rows", HIPOPS_F16, {9, 127}, {127, 1}, {129, 1}, m, 2 * m},
      {"strided_copy_b16_shifted", HIPOPS_F16, {9, 129}, {129, 1}, {131, 1}, m, 2 * m},  // of 256 bytes and more
      {"strided_copy_b32_shifted", HIPOPS_F16, {9, 130}, {130, 1}, {132, 1}, m, 2 * m},
      {"strided_copy_b64_rows", HIPOPS_F16, {9, 132}, {132, 1}, {140, 1}, m, 2 * m},
      {"strided_copy_b8_shifted", HIPOPS_I8, {9, 300}, {300, 1}, {301, 1}, m, 2 * m},
      {"strided_copy_b32_any", HIPOPS_F16, {9, 20}, {24, 1}, {40, 1}, m + 4, 2 * m},
      {"strided_copy_b128_any", HIPOPS_F16, {64, 9, 8}, {72, 8, 1}, {8, 512, 1}, m, 2 * m},  // a transpose of vectors
      {"strided_copy_b32_tile", HIPOPS_F16, {64, 19, 2}, {38, 2, 1}, {2, 130, 1}, m, 2 * m},  // of pairs
      {"strided_copy_b16_square", HIPOPS_F16, {64, 96}, {96, 1}, {1, 64}, m, 2 * m},
      {"strided_copy_b16_staged", HIPOPS_F16, {64, 128}, {128, 1}, {1, 64}, m, 2 * m},  // a whole tile
      {"strided_copy_b16_staged", HIPOPS_F16, {600, 1000}, {1000, 1}, {1, 600}, m, 2 * m},
      {"strided_copy_b16_square", HIPOPS_F16, {72, 128}, {128, 1}, {1, 72}, m, 2 * m},
      {"strided_copy_b16_staged", HIPOPS_F16, {64, 128}, {128, 1}, {1, 64}, m, 2 * m + 2},
      {"strided_copy_b16_staged", HIPOPS_F16, {64, 127}, {127, 1}, {1, 64}, m, 2 * m},
      {"strided_copy_b16_staged", HIPOPS_F16, {64, 128}, {130, 1}, {1, 64}, m, 2 * m},
      {"strided_copy_b16_staged", HIPOPS_F16, {64, 128}, {128, 1}, {1, 66}, m, 2 * m},
      {"strided_copy_b16_tile", HIPOPS_F16, {64, 128}, {256, 2}, {1, 64}, m, 2 * m},  // gaps
      {"strided_copy_b16_tile", HIPOPS_F16, {64, 47}, {47, 1}, {1, 64}, m, 2 * m},    // short lines
      {"strided_copy_b16_tile", HIPOPS_F16, {31, 127}, {127, 1}, {1, 31}, m, 2 * m},
      {"strided_copy_b16_any", HIPOPS_F16, {64, 15}, {15, 1}, {1, 64}, m, 2 * m},  // too short for tiles
      {"strided_copy_b16_rows", HIPOPS_F16, {15, 64}, {64, 1}, {1, 15}, m, 2 * m},
      {"strided_copy_b8_square", HIPOPS_I8, {32, 48}, {48, 1}, {1, 32}, m, 2 * m},
      {"strided_copy_b32_square", HIPOPS_F32, {32, 48}, {48, 1}, {1, 32}, m, 2 * m},
      {"strided_copy_b64_square", HIPOPS_F64, {32, 48}, {48, 1}, {1, 32}, m, 2 * m},
      {"strided_copy_b64_staged", HIPOPS_F64, {32, 49}, {49, 1}, {1, 32}, m, 2 * m},
      {"strided_copy_b32_rows", HIPOPS_F32, {32, 48}, {48, 1}, {1, 0}, m, 2 * m},  // y's innermost repeats one element
      {"strided_copy_b32_rows", HIPOPS_F32, {32, 48}, {48, 1}, {48, -1}, m, 2 * m},
      {"strided_copy_b128_any", HIPOPS_F32, {32, 48}, {48, 1}, {0, 1}, m, 2 * m},  // repeats rows
  };
  int number = 0;
  for (const Choice& c : choices) {
    INFO("choice " << number++);
    CHECK(chosen_for(view_of(c.y_at, c.dtype, c.shape, c.y), view_of(c.x_at, c.dtype, c.shape, c.x)) ==
          std::string(c.kernel));
  }
}

namespace {

// What locate() of device/core/strided.h gives, by plain division.
int64_t place_in_walk(const Walk<kCopyOperands>& walk, int64_t i, CopyOperand operand) {
  int64_t offset = 0;
  for (int d = 0; d + 1 < walk.rank; ++d) {
    offset += i % walk.dim[d].size * walk.dim[d].stride[operand];
    i /= walk.dim[d].size;
  }
  return offset + i * walk.outermost[operand];
}

// Of the plan's pieces of work, as its kernel counts them: how many there are, and where one is. tile's are tiles.
bool is_mode(const CopyPlan& plan, const std::string& mode) {
  std::string name = op_named("strided_copy").kernel_names[plan.kernel];
  return name.substr(name.rfind('_') + 1) == mode;
}

int64_t pieces(const CopyPlan& plan) {
  const StridedCopyArgs& a = plan.args;
  return is_mode(plan, "rows") ? a.walk.count * a.cols : is_mode(plan, "square") ? a.walk.count * a.line : a.walk.count;
}

int64_t place_of(const CopyPlan& plan, int64_t i, CopyOperand operand, int unit) {
  const StridedCopyArgs& a = plan.args;
  if (is_mode(plan, "rows"))
    return place_in_walk(a.walk, i / a.cols, operand) + i % a.cols * a.stride[operand][0];
  if (is_mode(plan, "square"))
    return place_in_walk(a.walk, i / a.line, operand) + i % a.line * (16 / unit) * a.stride[operand][1];
  return place_in_walk(a.walk, i, operand);
}

// Of some of the plan's pieces: that what they take from x is the element whose place they have in y.
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

TEST_CASE("strided_copy takes few units one by one, wherever they are", "[strided_copy]") {
  const auto kernel = [](const Sizes& shape, const Sizes& x_stride) {
    return std::string(chosen_for(view_of(1 << 20, HIPOPS_F32, shape), view_of(1 << 30, HIPOPS_F32, shape, x_stride)));
  };
  CHECK(kernel({128, 256}, {1, 128}) == "strided_copy_b32_few");
  CHECK(kernel({128, 257}, {1, 128}) == "strided_copy_b32_any");
  CHECK(kernel({256, 256}, {1, 256}) == "strided_copy_b32_any");
  CHECK(kernel({256, 272}, {1, 256}) == "strided_copy_b32_square");
  CHECK(kernel({65, 1001}, {4099, 1}) == "strided_copy_b32_few");
  CHECK(kernel({66, 1001}, {4099, 1}) == "strided_copy_b32_shifted");
  CHECK(kernel({256, 1000}, {4000, 1}) == "strided_copy_b128_few");
  CHECK(kernel({263, 1000}, {4000, 1}) == "strided_copy_b128_rows");
}

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
    CHECK(plan.args.walk.small == 0);
    check_grid(plan, kCopyBlock * kCopyDepth);
    check_places(y, x, plan, 1, 16, random);
  }
  SECTION("a run of more than 2^30 elements, of which x and y lie alike in words only") {
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
    CHECK(plan.args.parts == 2);
    CHECK(plan.args.count == int64_t{70} * 60 * 50 * 40 * 2 << 7);
    check_grid(plan, kCopyRowsBlock, kCopyRowsBlock);
    check_places(y, x, plan, 2, 2, random);
  }
  SECTION("offsets past 2^31 of few elements") {
    hipops_tensor y = view_of(low, HIPOPS_F32, {1000, 999}, {3 * g, 2}),
                  x = view_of(high, HIPOPS_F32, {1000, 999}, {-5 * g, 3});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(plan.args.walk.small == 1);
    check_places(y, x, plan, 4, 4, random);
  }
  SECTION("tiles") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {100000, 100000}),
                  x = view_of(high, HIPOPS_U8, {100000, 100000}, {1, 100000});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(std::string(op_named("strided_copy").kernel_names[plan.kernel]) == "strided_copy_b8_square");
    CHECK(pieces(plan) == int64_t{6250} * 6250);
    CHECK(plan.args.tiles >= int64_t{391} * 391);
    check_grid(plan, 1);
    check_places(y, x, plan, 1, 1, random);
  }
  SECTION("more tiles than divisors can tell") {
    hipops_tensor y = view_of(low, HIPOPS_U8, {int64_t{1} << 32, 17, 16}),
                  x = view_of(high, HIPOPS_U8, {int64_t{1} << 32, 17, 16}, {272, 1, 17});
    CopyPlan plan = plan_copy(plan_options(), y, x);
    CHECK(std::string(op_named("strided_copy").kernel_names[plan.kernel]) == "strided_copy_b8_rows");
    check_grid(plan, kCopyRowsBlock, kCopyRowsBlock);
    check_places(y, x, plan, 1, 1, random);
  }
}

// ---- The copies

TEST_CASE("strided_copy moves any layout", "[strided_copy]") {
  on_cpu([] {
    Random random(2);
    for (int n = 0; n < 4000; ++n) {
      const AsMany as_many(n % 2 == 0);
      Sizes shape(static_cast<size_t>(pick(random, 0, 8)));
      int64_t count = 1;
      for (int64_t& size : shape) {
        size = pick(random, 1, pick(random, 0, 3) == 0 ? 40 : 5);
        if (count * size > 4000) size = 1;
        count *= size;
      }
      hipops_dtype dtype = kMoved[pick(random, 0, 3)];
      Operands t(dtype, shape, nested_strides(random, shape), input_strides(random, shape),
                 pick(random, 0, 3) * pick(random, 0, 5), pick(random, 0, 3) * pick(random, 0, 5));
      check_copy(t, random);
    }
  });
}

TEST_CASE("strided_copy moves every permutation of three dimensions, and four, and some of five", "[strided_copy]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(3);
    Seen seen(op_named("strided_copy"));
    auto permuted = [](const Sizes& shape, const std::vector<size_t>& order) {
      Sizes stride(shape.size());
      int64_t step = 1;
      for (size_t place = order.size(); place-- > 0;) stride[order[place]] = step, step *= shape[order[place]];
      return stride;
    };
    for (const Sizes& shape :
         {Sizes{5, 18, 33}, Sizes{16, 32, 48}, Sizes{3, 4, 17, 20}, Sizes{2, 16, 16, 16}, Sizes{2, 3, 16, 5, 17}})
      for (hipops_dtype dtype : kMoved) {
        std::vector<size_t> order(shape.size());
        std::iota(order.begin(), order.end(), size_t{0});
        int turn = 0;
        do {
          if (shape.size() == 5 && turn++ % 5 != 0) continue;
          Operands from(dtype, shape, {}, permuted(shape, order)), to(dtype, shape, permuted(shape, order));
          check_copy(from, random, &seen);
          check_copy(to, random, &seen);
        } while (std::next_permutation(order.begin(), order.end()));
      }
  });
}

TEST_CASE("strided_copy moves tiles of every edge", "[strided_copy]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(4);
    Seen seen(op_named("strided_copy"));
    const int64_t edges[] = {15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 112, 127, 128, 129, 144};
    for (hipops_dtype dtype : kMoved)
      for (int64_t i : edges)
        for (int64_t j : edges) {
          if (i * j > 9000 && pick(random, 0, 3) != 0) continue;
          int64_t gap_x = pick(random, 0, 1) * 16, gap_y = pick(random, 0, 1) * 16;
          switch (pick(random, 0, 4)) {
            case 0: {  // gaps in lines
              Operands t(dtype, {i, j}, {2 * j + 3, 2}, {3, 3 * i + 1});
              check_copy(t, random, &seen);
              break;
            }
            case 1: {  // a batch, backwards
              Operands t(dtype, {2, i, j}, {-(j + gap_y) * i, j + gap_y, 1}, {(i + gap_x) * j, -1, i + gap_x}, 0, 1);
              check_copy(t, random, &seen);
              break;
            }
            case 2: {  // one matrix for all of the batch
              Operands t(dtype, {2, i, j}, {}, {0, 1, i + gap_x});
              check_copy(t, random, &seen);
              break;
            }
            default: {
              Operands t(dtype, {i, j}, {j + gap_y, 1}, {1, i + gap_x}, pick(random, 0, 3) / 3, pick(random, 0, 3) / 3);
              check_copy(t, random, &seen);
            }
          }
        }
    Operands run(HIPOPS_U8, {5000}), halves(HIPOPS_U8, {100}, {}, {}, 0, 2), words(HIPOPS_U8, {100}, {}, {}, 0, 4),
        longs(HIPOPS_U8, {100}, {}, {}, 0, 8);
    for (Operands* t : {&run, &halves, &words, &longs})
      for (int n = 0; n < 10; ++n) check_copy(*t, random, &seen);
    for (hipops_dtype dtype : kMoved)
      for (int64_t n = 16; n < 26; ++n) {
        const int64_t length = 16 / static_cast<int64_t>(parity::dtype_size(dtype));
        Operands elements(dtype, {5, n}, {n + 5, 1}, {2 * n + 1, 2});
        Operands vectors(dtype, {5, n * length}, {(n + 1) * length, 1}, {30 * length, 1});
        Operands apart(dtype, {5, n * length + 1}, {(n + 1) * length + 1, 1}, {30 * length + 3, 1}, n % 5, n % 7);
        check_copy(elements, random, &seen);
        check_copy(apart, random, &seen);
        check_copy(vectors, random, &seen);
      }
    seen.expect_all(10, {"_few"});
  });
}

TEST_CASE("strided_copy moves runs of any number of bytes from any alignment to any other", "[strided_copy]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(5);
    for (int64_t from = 0; from < 17; ++from)
      for (int64_t to = 0; to < 17; ++to)
        for (int64_t n : {1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 100, 256, 700, 4400}) {
          Operands t(HIPOPS_U8, {n + (from * 5 + to) % 3}, {}, {}, to, from);
          check_copy(t, random);
        }
    for (hipops_dtype dtype : kMoved)
      for (int64_t n : {1023, 1024, 1025, 4095, 4096, 4097, 16384, 16391})
        for (int64_t shift : {0, 1, 3}) {
          Operands t(dtype, {n}, {}, {}, shift, shift);
          check_copy(t, random);
        }
  });
}

TEST_CASE("strided_copy keeps every pattern of 16 bits", "[strided_copy]") {
  const AsMany as_many;
  on_cpu([] {
    for (bool transposed : {false, true}) {
      Operands t(HIPOPS_F16, {256, 256}, {}, transposed ? Sizes{1, 256} : Sizes{256, 1});
      for (int i = 0; i < 65536; ++i) static_cast<uint16_t*>(t.x.view.data)[i] = static_cast<uint16_t>(i);
      std::vector<unsigned char> before = t.x.bytes();
      EXPECT_EQUAL(hipops_strided_copy(&t.y.view, &t.x.view, nullptr), HIPOPS_SUCCESS);
      expect_copied(t, before);
    }
  });
}

TEST_CASE("strided_copy's kernels go round where the grid is too small", "[strided_copy]") {
  const AsMany as_many;
  on_cpu([] {
    Random random(6);
    Seen seen(op_named("strided_copy"));
    for (hipops_dtype dtype : kMoved) {
      const int64_t bytes = static_cast<int64_t>(parity::dtype_size(dtype)), n = 16 / bytes;
      std::vector<Operands> several;
      several.emplace_back(dtype, Sizes{19 * n, 301}, Sizes{602, 2}, Sizes{301, 1});                // elements
      several.emplace_back(dtype, Sizes{19 * n, 301}, Sizes{610, 2}, Sizes{301, 1});                // in rows
      several.emplace_back(dtype, Sizes{400, 9}, Sizes{27, 2}, Sizes{9, 1});                        // short ones
      several.emplace_back(dtype, Sizes{40, 70 * n}, Sizes{80 * n, 1}, Sizes{72 * n, 1});            // rows of vectors
      several.emplace_back(dtype, Sizes{20 * n, 16 * n}, Sizes{}, Sizes{1, 20 * n});                // squares
      several.emplace_back(dtype, Sizes{17, 17, 17}, Sizes{}, Sizes{1, 17, 289});                   // a batch of tiles
      several.emplace_back(dtype, Sizes{133, 201}, Sizes{402, 2}, Sizes{1, 133});                   // of any strides
      several.emplace_back(dtype, Sizes{3, 333, 201}, Sizes{}, Sizes{66933, 1, 333});               // staged
      several.emplace_back(dtype, Sizes{37, 2101}, Sizes{}, Sizes{2105, 1});                        // shifted rows
      several.emplace_back(dtype, Sizes{80003 / bytes}, Sizes{}, Sizes{}, 1, 1);                     // a run
      if (bytes < 4)
        several.emplace_back(dtype, Sizes{301, 10, 4 / bytes}, Sizes{48 / bytes, 4 / bytes, 1},
                             Sizes{52 / bytes, 4 / bytes, 1});
      if (bytes < 8)
        several.emplace_back(dtype, Sizes{301, 10, 8 / bytes}, Sizes{88 / bytes, 8 / bytes, 1},
                             Sizes{104 / bytes, 8 / bytes, 1});
      for (Operands& t : several) {
        fill_with_bits(t.x, random);
        std::vector<unsigned char> before = t.x.bytes();
        CopyPlan plan = plan_copy(plan_options(), t.y.view, t.x.view);
        int64_t per_block = plan.args.step / plan.grid;
        plan.grid = 2;
        plan.args.step = 2 * per_block;
        EXPECT_EQUAL(
            launch(op_named("strided_copy"), plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr),
            HIPOPS_SUCCESS);
        expect_copied(t, before);
        seen.add(plan.kernel);
      }
    }
    seen.expect_all(1, {"_few"});
  });
}

TEST_CASE("strided_copy leaves the last failure alone", "[strided_copy]") {
  on_cpu([] {
    fail_runtime(719, "before");
    Operands t = good();
    EXPECT_EQUAL(hipops_strided_copy(&t.y.view, &t.x.view, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), "before");
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
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
  expect_refused([&] { return call.run(); }, {&call.y, &call.x}, HIPOPS_INVALID_ARGUMENT, "copy2d: " + message);
}

}  // namespace

TEST_CASE("copy2d refuses bad arguments", "[copy2d]") {
  check_calls([] {
    for (int dtype : {0, 13, 99, 0x7fffffff})
      invalid_2d("dtype is " + std::to_string(dtype) + ", expected a hipops_dtype from 1 (f32) to 12 (u64)",
                 [dtype](Call2d& c) { std::memcpy(&c.dtype, &dtype, sizeof dtype); });
    invalid_2d("rows is -1, expected 0 or more", [](Call2d& c) { c.rows = -1; });
    invalid_2d("cols is -8, expected 0 or more", [](Call2d& c) { c.cols = -8; });
    for (int64_t stride : {int64_t{7}, int64_t{0}, int64_t{-10}, INT64_MIN})
      invalid_2d("y_stride is " + std::to_string(stride) + ", expected 8 (cols) or more",
                 [stride](Call2d& c) { c.y_stride = stride; });
    invalid_2d("y is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.y_data = nullptr; });
    invalid_2d("x is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.x_data = nullptr; });
    invalid_2d("x is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.x_data = nullptr, c.x_stride = -8; });
    invalid_2d("y is NULL, expected memory of 3 rows of 8 elements", [](Call2d& c) { c.y_data = nullptr, c.y_stride = INT64_MAX; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y",
               [](Call2d& c) { c.y_stride = INT64_MAX; });
    invalid_2d("rows, cols and x_stride reach outside the address space from x",
               [](Call2d& c) { c.x_stride = INT64_MIN; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y",
               [](Call2d& c) { c.rows = 1, c.cols = INT64_MAX; });
    invalid_2d("rows, cols and y_stride reach outside the address space from y", [](Call2d& c) { c.rows = INT64_MAX; });
    Call2d odd;
    const char* odd_y = static_cast<char*>(odd.y_data) + 1;
    const char* odd_x = static_cast<const char*>(odd.x_data) + 2;
    odd.y_data = const_cast<char*>(odd_y);
    expect_refused([&] { return odd.run(); }, {&odd.y, &odd.x}, HIPOPS_INVALID_ARGUMENT,
                   "copy2d: y is " + text_of(odd_y) + ", expected a multiple of 4 (an element of f32)");
    odd.y_data = odd.y.view.data;
    odd.x_data = odd_x;
    expect_refused([&] { return odd.run(); }, {&odd.y, &odd.x}, HIPOPS_INVALID_ARGUMENT,
                   "copy2d: x is " + text_of(odd_x) + ", expected a multiple of 4 (an element of f32)");
    for (int64_t elements : {-7, 0, 1, 8, 27})  // 8: y's gap, and what is after it
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

TEST_CASE("copy2d of nothing is success, whatever the pointers", "[copy2d]") {
  check_calls([] {
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 0, 8, 8, 8, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 8, 0, 0, -3, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 0, 0, INT64_MIN, INT64_MIN, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_copy2d(nullptr, nullptr, HIPOPS_F64, 8, 0, -1, 0, nullptr), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("copy2d moves rows from any pitch", "[copy2d]") {
  on_cpu([] {
    Random random(8);
    for (int n = 0; n < 1500; ++n) {
      const AsMany as_many(n % 2 == 0);
      int64_t rows = pick(random, 1, 40), cols = pick(random, 1, 70);
      int64_t y_stride = cols + pick(random, 0, 2) * pick(random, 0, 9),
              x_stride = pick(random, -2, 2) * cols + pick(random, 0, 9);
      if (rows == 1) y_stride = pick(random, -100, 100);  // not looked at
      Operands t(kMoved[n % 4], {rows, cols}, {rows == 1 ? cols : y_stride, 1}, {x_stride, 1}, pick(random, 0, 9),
                 pick(random, 0, 9));
      fill_with_bits(t.x, random);
      std::vector<unsigned char> before = t.x.bytes();
      if (hipops_copy2d(t.y.view.data, t.x.view.data, t.x.view.dtype, rows, cols, y_stride, x_stride, nullptr) !=
          HIPOPS_SUCCESS)
        throw std::runtime_error(t.text() + ": " + hipops_last_error());
      expect_copied(t, before);
    }
  });
}
