// rope, rope_i and rope_thd.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parity/ops/describe.h"

namespace hipops::parity {
namespace {

using Real = long double;
constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

// A product may be below the least double, and a scale of 0 means no scale.
double scale_of(Real magnitude) {
  const double nearest = static_cast<double>(magnitude);
  return magnitude > 0 ? std::max(nearest, std::numeric_limits<double>::denorm_min()) : nearest;
}

template <bool interleaved, bool tokens_first>
void reference(Case* test) {
  const Operand x = input_of(*test, "x"), cos = input_of(*test, "cos"), sin = input_of(*test, "sin");
  const InputTensor* positions = find_input(*test, "positions");
  ExpectedTensor& y = output_of(test, "y");
  const int64_t pairs = cos.shape().back(), rows = cos.shape()[cos.shape().size() - 2];
  const bool batched = cos.shape().size() == 3;
  test->tolerance_ulps = tolerance_of(x.dtype());
  for_each_index(x.shape(), [&](const Index& at, int64_t position) {
    const int64_t b = at[0], t = tokens_first ? at[1] : at[2], k = at[3];
    if (k >= 2 * pairs) {  // past the pairs
      y.values.push_back(x.value(position));
      y.scale.push_back(0);
      return;
    }
    double token = static_cast<double>(t);  // exact for small i64 values too
    if (positions != nullptr) {
      const int64_t tokens = positions->layout.shape.back();
      const int64_t where = positions->layout.shape.size() == 2 ? b * tokens + t : t;
      token = Operand{*positions}.value(where);
    }
    const int64_t pair = interleaved ? k / 2 : k % pairs;
    const bool second = interleaved ? k % 2 == 1 : k >= pairs;
    const int64_t other = position + (second ? -1 : 1) * (interleaved ? 1 : pairs);
    Real value = kNan, magnitude = 0;
    if (token >= 0 && token < static_cast<double>(rows)) {
      const int64_t entry = ((batched ? b * rows : 0) + static_cast<int64_t>(token)) * pairs + pair;
      const Real mine = static_cast<Real>(x.value(position)) * cos.value(entry);
      const Real others = static_cast<Real>(x.value(other)) * sin.value(entry);
      value = second ? others + mine : mine - others;
      magnitude = std::max(std::fabs(mine), std::fabs(others));
    }
    y.values.push_back(static_cast<double>(value));
    y.scale.push_back(std::isfinite(magnitude) && std::isfinite(value) ? scale_of(magnitude) : 0);
  });
}

template <bool tokens_first>
void random_rope(RandomCase& m) {
  Budget budget = m.budget;
  const int64_t d =
      budget.spend(m.choices.one_in(2) ? random_size(m.choices) : m.choices.pick({8, 2, 64, 80, 128, 7, 33}));
  const int64_t t = budget.spend(m.choices.between(1, 20) - (m.choices.one_in(40) ? 1 : 0));
  const int64_t h = budget.spend(m.choices.between(1, 9)), b = budget.spend(m.choices.between(1, 3));
  m.add_x_and_y(tokens_first ? Shape{b, t, h, d} : Shape{b, h, t, d});
  const int64_t pairs = m.choices.one_in(3) ? m.choices.between(0, d / 2) : d / 2;
  const bool with_positions = m.choices.one_in(2);
  const int64_t rows = with_positions ? m.choices.between(1, 40) : t + m.choices.pick({0, 0, 1, 5});
  Shape table = {rows, pairs};
  if (m.choices.one_in(3)) table.insert(table.begin(), b);
  const hipops_dtype dtype = m.weight_dtype();
  for (const char* name : {"cos", "sin"}) m.add_weight(name, dtype, table);
  if (!with_positions) return;
  const Shape shape = m.choices.one_in(2) ? Shape{b, t} : Shape{t};
  const Layout layout = random_layout(m.choices, m.choices.pick({HIPOPS_I64, HIPOPS_I32}), shape, Use::kSource);
  m.add(random_indices(m.choices, "positions", layout, rows));
}

template <bool tokens_first>
Shape angles(const Shape& x, const Shape&, size_t) {
  return {x[tokens_first ? 1 : 2], x[3] / 2};
}

using Function = hipops_status (*)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                                   const hipops_tensor* sin, const hipops_tensor* positions, void* stream);

template <Function function, bool interleaved, bool tokens_first>
OpEntry describe(const char* name) {
  OpEntry op = {name, kFloats, {kY}};
  op.inputs = {kX,
               {"cos", Role::kWeight, false, angles<tokens_first>},
               {"sin", Role::kWeight, false, angles<tokens_first>},
               {"positions", Role::kIndex, true}};
  op.bind = [](const Arguments& a) {
    return bound(function, a["y"], a["x"], a["cos"], a["sin"], a["positions"], a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.bench.rank = 4;
  op.bench.even_columns = true;
  op.random_case = random_rope<tokens_first>;
  op.reference = reference<interleaved, tokens_first>;
  op.large_cases = large::add_rope_cases;
  return op;
}

}  // namespace

OpEntry describe_rope() { return describe<hipops_rope, false, false>("rope"); }
OpEntry describe_rope_i() { return describe<hipops_rope_i, true, false>("rope_i"); }
OpEntry describe_rope_thd() { return describe<hipops_rope_thd, false, true>("rope_thd"); }

}  // namespace hipops::parity
