// rope, rope_i and rope_thd with x and y, or tables, past 2^31 elements and 4 GiB.
#include <algorithm>
#include <cmath>

#include "parity/large_cases.h"

namespace hipops::parity::large {
namespace {

enum class RopeOp { kRope, kRopeI, kRopeThd };

const char* name_of(RopeOp op) {
  return op == RopeOp::kRope ? "rope" : op == RopeOp::kRopeI ? "rope_i" : "rope_thd";
}

struct RopeCase {
  const char* name;
  hipops_dtype dtype, table_dtype;
  int64_t batches, heads, tokens, width, pairs;
  std::vector<int64_t> positions = {};  // of the tokens; empty: their own numbers
  int64_t table_rows = 0;               // 0: one row for each token
  int64_t far = 0;                      // from a batch to the next in x and y; 0: contiguous
  bool in_place = false;
};

// The number of different rows of x, and of the tables. An element depends on both.
constexpr int64_t kKinds = 31, kTableKinds = 29;

double power_of_two_below(double v) { return v == 0 ? 0 : std::ldexp(1.0, std::ilogb(v)); }

struct Results {
  std::vector<double> value, scale;  // [kind][kind of the table's row][element]
  std::vector<uint64_t> bits;
  double rounding = 0;
};

Results results_of(RopeOp op, const RopeCase& c, const Pattern& x, const Pattern& cos, const Pattern& sin) {
  Results results;
  const auto add = [&](double value, double scale) {
    results.value.push_back(value);
    results.scale.push_back(scale);
    results.bits.push_back(encode(c.dtype, value));
    results.rounding = std::max(results.rounding, error_in_ulps(c.dtype, value, scale, results.bits.back()));
  };
  for (int64_t kind = 0; kind < kKinds; ++kind) {
    for (int64_t row = 0; row < kTableKinds; ++row) {
      for (int64_t e = 0; e < c.width; ++e) {
        const auto element = [&](int64_t i) { return decode(c.dtype, x(kind * c.width + i)); };
        if (e >= 2 * c.pairs) {
          add(element(e), 0);
          continue;
        }
        const bool interleaved = op == RopeOp::kRopeI;
        const int64_t pair = interleaved ? e / 2 : e % c.pairs;
        const bool second = interleaved ? e % 2 != 0 : e >= c.pairs;
        const double a = element(interleaved ? 2 * pair : pair);
        const double b = element(interleaved ? 2 * pair + 1 : pair + c.pairs);
        const double cosine = decode(c.table_dtype, cos(row * c.pairs + pair));
        const double sine = decode(c.table_dtype, sin(row * c.pairs + pair));
        const double terms[] = {second ? a * sine : a * cosine, second ? b * cosine : -b * sine};
        // The terms may cancel, so the error is in ULPs of the larger term.
        add(terms[0] + terms[1], power_of_two_below(std::max(std::fabs(terms[0]), std::fabs(terms[1]))));
      }
    }
  }
  return results;
}

hipops_status call(RopeOp op, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& cos,
                   const hipops_tensor& sin, const hipops_tensor* positions) {
  if (op == RopeOp::kRope) return hipops_rope(&y, &x, &cos, &sin, positions, nullptr);
  if (op == RopeOp::kRopeI) return hipops_rope_i(&y, &x, &cos, &sin, positions, nullptr);
  return hipops_rope_thd(&y, &x, &cos, &sin, positions, nullptr);
}

void run(Stage& stage, RopeOp op, const RopeCase& c) {
  const bool tokens_first = op == RopeOp::kRopeThd;
  const std::vector<int64_t> shape = {c.batches, tokens_first ? c.tokens : c.heads, tokens_first ? c.heads : c.tokens,
                                      c.width};
  const int64_t batch = c.far == 0 ? c.heads * c.tokens * c.width : c.far / c.width * c.width;
  const std::vector<int64_t> stride = {batch, shape[2] * c.width, c.width, 1};
  const int64_t reach = (c.batches - 1) * batch + c.heads * c.tokens * c.width;
  const int64_t table_rows = c.table_rows == 0 ? c.tokens : c.table_rows, table_size = table_rows * c.pairs;
  const Pattern values = random_floats(c.dtype, 40, 4, 0, kKinds * c.width);
  const Pattern cosines = random_floats(c.table_dtype, 41, 1, 0, kTableKinds * c.pairs);
  const Pattern sines = random_floats(c.table_dtype, 42, 1, 0, kTableKinds * c.pairs);

  Memory& x = stage.memory("x", values, reach);
  Memory& y = c.in_place ? x : stage.unwritten_memory("y", c.dtype, reach);
  Memory& cos = stage.memory("cos", cosines, table_size);
  Memory& sin = stage.memory("sin", sines, table_size);
  hipops_tensor positions = {};
  if (!c.positions.empty()) {
    const std::vector<uint64_t> table(c.positions.begin(), c.positions.end());
    positions = stage.memory("positions", Pattern(HIPOPS_I64, table), c.tokens).view({c.tokens});
  }
  const hipops_tensor to = y.view(shape, stride), from = x.view(shape, stride);
  const hipops_tensor cos_view = cos.view({table_rows, c.pairs}), sin_view = sin.view({table_rows, c.pairs});
  stage.called([&] { return call(op, to, from, cos_view, sin_view, c.positions.empty() ? nullptr : &positions); });

  const Results results = results_of(op, c, values, cosines, sines);
  const Modulo kind_of(kKinds), table_kind_of(kTableKinds);
  const int64_t width = c.width;
  const auto at = [&, kind_of, table_kind_of, width, tokens_first](const int64_t* i) {
    const int64_t row = (i[0] * stride[0] + i[1] * stride[1]) / width + i[2];
    const int64_t token = tokens_first ? i[1] : i[2];
    const int64_t position = c.positions.empty() ? token : c.positions[static_cast<size_t>(token)];
    return static_cast<size_t>((kind_of(row) * kTableKinds + table_kind_of(position)) * width + i[3]);
  };
  Expectation expected = elements_are(to, 0, y.pattern(), [&](const int64_t* i) { return results.bits[at(i)]; });
  const Places places(to, 0);
  expected.error = [&, places](int64_t place, uint64_t got) {
    int64_t index[HIPOPS_MAX_RANK] = {}, run;
    if (!places.find(place, index, &run)) return HUGE_VAL;
    return error_in_ulps(c.dtype, results.value[at(index)], results.scale[at(index)], got);
  };
  expected.tolerance = dtype_size(c.dtype) == 2 ? 1 : 4;
  expected.rounding = results.rounding;
  std::vector<int64_t> touched;
  for (int64_t i = 0; i < std::min<int64_t>(c.batches, 16); ++i) touched.push_back(i * batch);
  stage.expect_samples(y, expected, touched);
  if (!c.in_place) stage.expect_unchanged(x);
  stage.expect_unchanged(cos);
  stage.expect_unchanged(sin);
}

}  // namespace

void add_rope_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16;
  RopeCase decode_step = {"far_positions", bf16, bf16, 1, 32, 5, 128, 64};
  decode_step.table_rows = giant / 64 + 100;
  decode_step.positions = {giant / 64 + 99, giant / 64 + 1, giant / 64 - 1, 3, giant / 128};
  RopeCase in_place = {"in_place", bf16, f32, 2, 3, giant / 512 + 1, 96, 40};
  in_place.in_place = true;
  RopeCase apart = {"far_apart", f16, f32, 4, 3, 5, 64, 32};
  apart.far = giant / 2 + 64;
  const RopeCase common[] = {
      {"many_tokens", bf16, f32, 1, 4, giant / 512 + 3, 128, 64},
      {"many_pairs", f16, f16, 1, 1, giant + 5, 2, 1},
      {"many_batches", f32, f32, giant / 1024 + 1, 2, 5, 128, 48},
      decode_step,
      in_place,
      apart,
  };
  for (const RopeOp op : {RopeOp::kRope, RopeOp::kRopeI, RopeOp::kRopeThd}) {
    for (const RopeCase& c : common) {
      std::vector<int64_t> shape = {c.batches, c.heads, c.tokens, c.width};
      if (op == RopeOp::kRopeThd) std::swap(shape[1], shape[2]);
      cases->push_back({name_of(op), c.dtype, large_name(c.name, c.dtype), shape,
                        [=](Stage& stage) { run(stage, op, c); }});
    }
  }
}

}  // namespace hipops::parity::large
