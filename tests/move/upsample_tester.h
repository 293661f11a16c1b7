// What the tests of upsample_nearest1d and upsample_nearest2d share: the rules as plain C, and results against a plain
// loop.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "as_many.h"
#include "move/mover_tester.h"
#include "move/upsample.h"

namespace hipops_test {

constexpr hipops_nearest kRules[] = {HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_CANDLE, HIPOPS_NEAREST_EXACT};

// hipops.h's definitions, each in its own precision. (Nothing here is fused: the tests are built without contraction.)
inline int64_t source_of(int64_t i, int64_t in, int64_t out, int resized, hipops_nearest rule, double scale) {
  if (rule == HIPOPS_NEAREST_CANDLE) {
    double ratio = scale > 0 ? 1.0 / scale : static_cast<double>(in) / static_cast<double>(out);
    double at = std::floor(static_cast<double>(i) * ratio);
    return at < static_cast<double>(in) ? static_cast<int64_t>(at) : in - 1;
  }
  if ((resized == 2 || (rule == HIPOPS_NEAREST_PYTORCH && scale == 0)) && out == in) return i;
  if (rule == HIPOPS_NEAREST_PYTORCH && scale == 0 && out == 2 * in) return i / 2;
  float ratio = scale > 0 ? static_cast<float>(1.0 / scale) : static_cast<float>(in) / static_cast<float>(out);
  volatile float product = (static_cast<float>(i) + (rule == HIPOPS_NEAREST_EXACT ? 0.5f : 0.0f)) * ratio;
  float at = std::floor(product);
  return at < 0x1p62f ? std::min(static_cast<int64_t>(at), in - 1) : in - 1;
}

struct UpsampleCase {
  HostTensor y, x;
  hipops_nearest rule;
  std::vector<double> scales;  // of the resized dimensions

  int resized() const { return y.view.rank - 2; }

  hipops_status run() const {
    return resized() == 1 ? hipops_upsample_nearest1d(&y.view, &x.view, rule, scales[0], nullptr)
                          : hipops_upsample_nearest2d(&y.view, &x.view, rule, scales[0], scales[1], nullptr);
  }

  hipops::UpsamplePlan plan() const {
    hipops::Scale named[2] = {};
    for (size_t s = 0; s < scales.size(); ++s) named[s].value = scales[s];
    return hipops::plan_upsample(hipops::plan_options(), y.view, x.view, resized(), rule, named);
  }

  const hipops::Op& op() const { return op_named(resized() == 1 ? "upsample_nearest1d" : "upsample_nearest2d"); }

  std::string text() const {
    auto all = [](const hipops_tensor& t) {
      return text_of(Sizes(t.shape, t.shape + t.rank)) + " by " + text_of(Sizes(t.stride, t.stride + t.rank)) + " at " +
             text_of(t.data);
    };
    std::string words = std::string(hipops::parity::dtype_name(x.view.dtype)) + " y " + all(y.view) + ", x " +
                        all(x.view) + ", rule " + std::to_string(rule);
    for (double scale : scales) words += ", scale " + std::to_string(scale);
    return words + ", by " + op().kernel_names[plan().kernel];
  }
};

// Vectors of y that a plan's work-items take, or elements, and of periods always elements.
inline int64_t pieces(const hipops::UpsamplePlan& plan) {
  const hipops::UpsampleArgs& a = plan.args;
  if (!a.small) return a.count;
  if (const hipops::UpsamplePeriods& p = a.periods; p.count != 0)
    return int64_t{p.count - 1} * p.elements + p.last_elements;
  const int64_t times = (a.again[0] != 0 ? 2 : 1) * (a.again[1] != 0 ? 2 : 1);
  return a.dimension[0].size * a.rows * times * a.dimension[2].size * a.dimension[3].size;
}

// The offset in x of what belongs to element `i` of y.
inline int64_t source_offset(const UpsampleCase& t, int64_t i) {
  const hipops_tensor &y = t.y.view, &x = t.x.view;
  int64_t offset = 0;
  for (int d = y.rank - 1; d >= 0; --d) {
    int64_t position = i % y.shape[d];
    i /= y.shape[d];
    if (d >= 2)
      position = source_of(position, x.shape[d], y.shape[d], t.resized(), t.rule, t.scales[static_cast<size_t>(d - 2)]);
    offset += position * x.stride[d];
  }
  return offset;
}

inline void expect_upsampled(const UpsampleCase& t, const std::vector<unsigned char>& x_before) {
  const int64_t bytes = static_cast<int64_t>(hipops::parity::dtype_size(t.x.view.dtype));
  for (int64_t i = 0; i < t.y.count(); ++i) {
    uint64_t expected = hipops::parity::load_bits(
        t.x.view.dtype, static_cast<unsigned char*>(t.x.view.data) + source_offset(t, i) * bytes);
    if (t.y.bits(i) != expected)
      throw std::runtime_error("element " + std::to_string(i) + " of " + t.text() + " is " +
                               std::to_string(t.y.bits(i)) + ", expected " + std::to_string(expected));
  }
  if (!t.y.guards_are_whole()) throw std::runtime_error("a write outside the elements of " + t.text());
  if (t.x.bytes() != x_before) throw std::runtime_error("x has changed: " + t.text());
}

inline void check_upsample_case(UpsampleCase& t, Random& random, Seen* seen = nullptr) {
  fill_with_bits(t.x, random);
  std::vector<unsigned char> before = t.x.bytes();
  if (t.run() != HIPOPS_SUCCESS) throw std::runtime_error(t.text() + ": " + hipops_last_error());
  expect_upsampled(t, before);
  if (seen) seen->add(t.plan().kernel);
}

// A scale, or none; now and then one that says no more than the sizes do, or a ratio that leaves x at once.
inline double random_scale(Random& random, int64_t in, int64_t out) {
  switch (pick(random, 0, 11)) {
    case 0: return static_cast<double>(out) / static_cast<double>(in);
    case 1: return static_cast<double>(pick(random, 1, 5000)) / 1000;
    case 2: return pick(random, 0, 1) == 0 ? 1 : 2;
    case 3: return pick(random, 0, 1) == 0 ? 1e-30 : 1e30;
    default: return 0;
  }
}

inline std::vector<double> random_scales(Random& random, const Sizes& x, const Sizes& y) {
  std::vector<double> scales;
  for (size_t d = 2; d < x.size(); ++d) scales.push_back(random_scale(random, x[d], y[d]));
  return scales;
}

// The strides of [n, c, ..] with c innermost.
inline Sizes channels_last(const Sizes& shape) {
  Sizes stride(shape.size());
  int64_t step = shape[1];
  stride[1] = 1;
  for (size_t d = shape.size(); d-- > 2;) stride[d] = step, step *= shape[d];
  stride[0] = step;
  return stride;
}

// The same places with gaps between them.
inline Sizes spread(Sizes stride) {
  for (int64_t& step : stride) step *= 2;
  return stride;
}

// Any layouts of any sizes.
inline void check_any_layout(int resized, int cases) {
  Random random(static_cast<uint64_t>(resized));
  for (int n = 0; n < cases; ++n) {
    const AsMany as_many(n % 2 == 0);
    Sizes x{pick(random, 1, 3), pick(random, 1, 9)};
    for (int d = 0; d < resized; ++d) x.push_back(pick(random, 1, resized == 1 ? 60 : 14));
    Sizes y = x;
    for (size_t d = 2; d < y.size(); ++d) {
      int64_t turn = pick(random, 0, 5);
      y[d] = turn == 0 ? x[d] : turn == 1 ? 2 * x[d] : turn == 2 ? 1 : pick(random, 1, resized == 1 ? 90 : 24);
    }
    hipops_dtype dtype = kMoved[pick(random, 0, 3)];
    UpsampleCase t{HostTensor(dtype, y, nested_strides(random, y), pick(random, 0, 3) * pick(random, 0, 5)),
                   HostTensor(dtype, x, input_strides(random, x), pick(random, 0, 3) * pick(random, 0, 5)),
                   kRules[pick(random, 0, 2)], random_scales(random, x, y)};
    check_upsample_case(t, random);
  }
}

// Every kernel, by the layouts that it is for: rows of whole vectors, or of any number of elements, and channels last,
// some of them a unit and some more; and with gaps in y.
inline void check_kernels(int resized) {
  Random random(10 + static_cast<uint64_t>(resized));
  Seen seen(op_named(resized == 1 ? "upsample_nearest1d" : "upsample_nearest2d"));
  for (int n = 0; n < 60; ++n)
    for (hipops_dtype dtype : kMoved)
      for (hipops_nearest rule : kRules) {
        int64_t length = 16 / static_cast<int64_t>(hipops::parity::dtype_size(dtype));
        Sizes x{pick(random, 1, 3), pick(random, 1, 4)};
        for (int d = 0; d < resized; ++d) x.push_back(pick(random, 1, 20));
        Sizes y = x;
        for (size_t d = 2; d < y.size(); ++d) y[d] = pick(random, 1, 20);
        bool rows = n % 2 == 0;
        const int64_t twice = n % 8 == 4 ? 4 : 2;  // or four times, where that many of an element are in a vector
        if (rows) y.back() = length * pick(random, 1, 8);
        if (n % 4 == 0) y.back() = twice * (x.back() = std::max<int64_t>(length / twice, 1) * pick(random, 2, 12));
        if (n % 6 == 2) x[1] = y[1] = pick(random, 5, 20), y.back() += pick(random, 0, 7);  // of any number
        if (n % 8 == 6) y[2] = resized == 2 ? x[2] : y[2];  // as high
        if (n % 10 == 8) x[1] = y[1] = pick(random, 8, 20), x.back() = 2 * y.back() + pick(random, 0, 9);
        if (!rows) x[1] = y[1] = pick(random, 1, 4) << (n / 2 % 5);
        const Sizes y_stride = rows ? contiguous(y) : channels_last(y);
        UpsampleCase t{HostTensor(dtype, y, n % 10 == 3 ? spread(y_stride) : y_stride),
                       HostTensor(dtype, x, rows ? Sizes{} : channels_last(x)), rule, random_scales(random, x, y)};
        for (bool many : {true, false}) {
          const AsMany as_many(many);
          check_upsample_case(t, random, &seen);
        }
      }
  seen.expect_all(6, {"_tile"});
}

// Cases of x's shape, what the last dimensions become, and their scales, each of which goes by tiles of rows, in one round
// of the grid and in several.
struct TileCase {
  hipops_dtype dtype;
  Sizes x, resized;
  hipops_nearest rule;
  std::vector<double> scales;
};
inline void check_tiles(const std::vector<TileCase>& cases) {
  const AsMany as_many;
  Random random(40);
  for (const TileCase& c : cases) {
    Sizes y = c.x;
    std::copy(c.resized.begin(), c.resized.end(), y.begin() + 2);
    UpsampleCase t{HostTensor(c.dtype, y), HostTensor(c.dtype, c.x, {}, 1), c.rule, c.scales};
    if (c.scales.empty()) t.scales.resize(c.resized.size());
    hipops::UpsamplePlan plan = t.plan();
    const std::string kernel = t.op().kernel_names[plan.kernel];
    if (kernel.find("_tile") == std::string::npos) throw std::runtime_error(t.text() + " goes by " + kernel);
    check_upsample_case(t, random);
    std::memset(t.y.view.data, 0xab, static_cast<size_t>(t.y.count()) * hipops::parity::dtype_size(c.dtype));
    const std::vector<unsigned char> before = t.x.bytes();
    plan.args.step = plan.args.step / plan.grid * 2;
    plan.grid = 2;
    EXPECT_EQUAL(hipops::launch(op_named(t.resized() == 1 ? "upsample_nearest1d" : "upsample_nearest2d"), plan.kernel,
                                plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr),
                 HIPOPS_SUCCESS);
    expect_upsampled(t, before);
  }
}

// A grid that has to go round, with work-items that do.
inline void check_rounds(int resized) {
  const AsMany as_many;
  Random random(20 + static_cast<uint64_t>(resized));
  hipops::Op& op = op_named(resized == 1 ? "upsample_nearest1d" : "upsample_nearest2d");
  Seen seen(op);
  for (hipops_dtype dtype : kMoved) {
    int64_t bytes = static_cast<int64_t>(hipops::parity::dtype_size(dtype)), length = 16 / bytes;
    for (int64_t channels = 1; channels <= 2 * length; channels *= 2)
      // Rows of whole vectors, of planes that are resized, or stay as high; many planes, as some of them are a period,
      // which become larger, or smaller; channels last, and the same with gaps.
      for (const char* layout : {"rows", "rows as high", "larger", "smaller", "last", "gaps"}) {
        const auto is = [layout](const char* name) { return std::strcmp(layout, name) == 0; };
        const bool periods = is("larger") || is("smaller"), rows = periods || is("rows") || is("rows as high");
        Sizes x{3, periods ? 61 : rows ? 7 : channels, is("smaller") ? 331 : 31}, y = x;
        y[2] = !rows ? 3000 / channels | 1 : periods ? 151 : 1251 / length * length;
        if (resized == 2) x.insert(x.begin() + 2, 3), y.insert(y.begin() + 2, periods || is("rows as high") ? 3 : 9);
        UpsampleCase t{HostTensor(dtype, y, rows ? Sizes{} : is("gaps") ? spread(channels_last(y)) : channels_last(y)),
                       HostTensor(dtype, x, rows ? Sizes{} : channels_last(x)), kRules[channels % 3],
                       std::vector<double>(static_cast<size_t>(resized))};
        fill_with_bits(t.x, random);
        std::vector<unsigned char> before = t.x.bytes();
        hipops::UpsamplePlan plan = t.plan();
        const std::string kernel = op.kernel_names[plan.kernel];
        const bool has_rounds = kernel.find("_any") != std::string::npos || kernel.find("_b8_row") != std::string::npos;
        if (plan.args.small && has_rounds) hipops::take_rounds(&plan.args, static_cast<int32_t>(pick(random, 1, 8)));
        if (plan.args.periods.count == 0) {  // else blocks don't go round
          plan.args.step = plan.args.step / plan.grid * 2;
          plan.grid = 2;
        }
        EXPECT_EQUAL(hipops::launch(op, plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr),
                     HIPOPS_SUCCESS);
        expect_upsampled(t, before);
        seen.add(plan.kernel);
      }
  }
  seen.expect_all(1, {"_tile", "_few"});  // few have no rounds
}

// What both refuse.
inline void check_upsample_refusals(int resized) {
  const std::string name = resized == 1 ? "upsample_nearest1d" : "upsample_nearest2d";
  auto make = [resized] {
    Sizes x{2, 3, 4}, y{2, 3, 7};
    if (resized == 2) x.push_back(5), y.push_back(9);
    return UpsampleCase{HostTensor(HIPOPS_F32, y), HostTensor(HIPOPS_F32, x), HIPOPS_NEAREST_PYTORCH,
                        std::vector<double>(static_cast<size_t>(resized))};
  };
  auto call = [&](auto spoil, hipops_status status, const std::string& message) {
    UpsampleCase t = make();
    spoil(t);
    expect_refused([&] { return t.run(); }, {&t.y, &t.x}, status, name + ": " + message);
  };
  auto invalid = [&](auto spoil, const std::string& message) { call(spoil, HIPOPS_INVALID_ARGUMENT, message); };
  const std::string rank = std::to_string(2 + resized), elements = std::to_string(make().x.count()),
                    of_y = std::to_string(make().y.count());

  invalid([](UpsampleCase& t) { t.x.view.rank = 9; }, "x.rank is 9, expected 0 to 8");
  invalid([](UpsampleCase& t) { t.x.view.rank = 2; }, "x.rank is 2, expected " + rank);
  invalid([](UpsampleCase& t) { t.x.view.dtype = static_cast<hipops_dtype>(13); },
          "x.dtype is 13, expected a hipops_dtype from 1 (f32) to 12 (u64)");
  invalid([](UpsampleCase& t) { t.x.view.data = nullptr; },
          "x.data is NULL, expected memory of " + elements + " elements");
  invalid([](UpsampleCase& t) { t.y.view.data = nullptr; }, "y.data is NULL, expected memory of " + of_y + " elements");
  invalid([](UpsampleCase& t) { t.y.view.shape[2] = -7; }, "y.shape[2] is -7, expected 0 or more");
  invalid([](UpsampleCase& t) { t.y.view.stride[2] = 0; },
          "y.stride[2] is 0, expected distinct elements in an output (shape[2] is 7)");
  invalid([](UpsampleCase& t) { t.y.view.shape[0] = 1; }, "y.shape[0] is 1, expected 2 (x.shape[0])");
  invalid([](UpsampleCase& t) { t.y.view.shape[1] = 2; }, "y.shape[1] is 2, expected 3 (x.shape[1])");
  call([](UpsampleCase& t) { t.y.view.dtype = HIPOPS_I32; }, HIPOPS_UNSUPPORTED_DTYPE,
       "y.dtype is i32, expected f32 (x.dtype)");
  call([](UpsampleCase& t) { t.y.view.stride[0] = t.y.view.stride[1] + 1; }, HIPOPS_UNSUPPORTED_LAYOUT,
       "y.stride lets elements of an output meet, or interleaves its dimensions; expected strides that nest");
  for (int d = 2; d < 2 + resized; ++d)
    invalid([d](UpsampleCase& t) { t.x.view.shape[d] = 0; }, "x.shape[" + std::to_string(d) +
                                                                 "] is 0, expected 1 or more (y.shape[" +
                                                                 std::to_string(d) + "] is " + (d == 2 ? "7)" : "9)"));
  for (int rule : {3, 99, 0x7fffffff})
    invalid([rule](UpsampleCase& t) { t.rule = static_cast<hipops_nearest>(rule); },
            "rule is " + std::to_string(rule) + ", expected a hipops_nearest from 0 to 2");
  for (size_t s = 0; s < static_cast<size_t>(resized); ++s) {
    const std::string scale = resized == 1 ? "scale" : s == 0 ? "scale_h" : "scale_w";
    const double infinity = std::numeric_limits<double>::infinity();
    const std::pair<double, const char*> refused[] = {
        {-1, "-1"}, {-1e-300, "-1e-300"}, {infinity, "inf"}, {-infinity, "-inf"}, {std::nan(""), "nan"}};
    for (const auto& [value, text] : refused)
      invalid([&, v = value](UpsampleCase& t) { t.scales[s] = v; },
              scale + " is " + text + ", expected a finite number of 0 or more");
    for (hipops_nearest rule : kRules)
      invalid([&](UpsampleCase& t) { t.scales[s] = 5e-324, t.rule = rule; },
              scale + " is 4.94066e-324, expected 0 or a number whose reciprocal is finite in " +
                  (rule == HIPOPS_NEAREST_CANDLE ? "f64" : "f32"));
    invalid([&](UpsampleCase& t) { t.scales[s] = 1e-39; },
            scale + " is 1e-39, expected 0 or a number whose reciprocal is finite in f32");
  }
  for (int64_t bytes : {-4, 0, 4, 92})
    invalid([bytes](UpsampleCase& t) { t.y.view.data = static_cast<char*>(t.x.view.data) + bytes; },
            "y overlaps x, expected separate memory");
}

// No elements in y: success, whatever x has, as long as n and c are the same.
inline void check_upsample_empty(int resized) {
  for (const Sizes& shape : {Sizes{0, 3, 5, 5}, Sizes{3, 0, 5, 5}, Sizes{3, 2, 0, 0}, Sizes{3, 2, 0, 5}})
    for (int64_t from : {0, 4})
      for (hipops_nearest rule : kRules) {
        Sizes y(shape.begin(), shape.begin() + 2 + resized), x = y;
        for (size_t d = 2; d < x.size(); ++d) x[d] = from;
        HostTensor memory(HIPOPS_U16, x);
        hipops_tensor out = nowhere(HIPOPS_U16, y);
        EXPECT_EQUAL(resized == 1 ? hipops_upsample_nearest1d(&out, &memory.view, rule, 0, nullptr)
                                  : hipops_upsample_nearest2d(&out, &memory.view, rule, 0, 1.5, nullptr),
                     HIPOPS_SUCCESS);
      }
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

inline void check_upsample_dtypes(const char* op) {
  for (int dtype = -1; dtype <= 14; ++dtype)
    for (int second = -1; second <= 14; ++second)
      CHECK(hipops_supports(op, static_cast<hipops_dtype>(dtype), static_cast<hipops_dtype>(second)) ==
            (dtype >= HIPOPS_F32 && dtype <= HIPOPS_U64 && second == HIPOPS_NONE));
}

}  // namespace hipops_test
