// upsample_nearest1d and upsample_nearest2d.
#include <algorithm>
#include <cmath>

#include "parity/ops/describe.h"

namespace hipops::parity {
namespace {

// Each operation is rounded in the rule's type.
template <class F>
int64_t source(int64_t i, int64_t from, int64_t to, double scale, F centre) {
  const F ratio = scale > 0 ? static_cast<F>(1 / scale) : static_cast<F>(from) / static_cast<F>(to);
  const F at = std::floor((static_cast<F>(i) + centre) * ratio);
  return at < static_cast<F>(from - 1) ? static_cast<int64_t>(at) : from - 1;
}

int64_t source(int rule, int64_t i, int64_t from, int64_t to, size_t resized, double scale) {
  if (rule != HIPOPS_NEAREST_CANDLE && resized == 2 && to == from) return i;
  if (rule == HIPOPS_NEAREST_CANDLE) return source<double>(i, from, to, scale, 0);
  if (rule == HIPOPS_NEAREST_EXACT) return source<float>(i, from, to, scale, 0.5f);
  if (scale == 0 && to == from) return i;
  if (scale == 0 && to == 2 * from) return i / 2;
  return source<float>(i, from, to, scale, 0);
}

const std::vector<const char*> kScale = {"scale"}, kScales = {"scale_h", "scale_w"};

void expect_upsample(Case* test, const std::vector<const char*>& scales) {
  const Operand x = input_of(*test, "x");
  const Shape& shape = output_of(test, "y").layout.shape;
  const int rule = static_cast<int>(test->params.at("rule"));
  std::vector<uint64_t> bits;
  for_each_index(shape, [&](Index at, int64_t) {
    for (size_t s = 0; s < scales.size(); ++s) {
      const size_t d = 2 + s;
      at[d] = source(rule, at[d], x.shape()[d], shape[d], scales.size(), test->params.at(scales[s]));
    }
    bits.push_back(x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
}

// The greatest size of dimension d in a shape of at most `elements` elements.
int64_t most_of(const Shape& shape, size_t d, int64_t elements) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != d) elements /= std::max<int64_t>(shape[i], 1);
  return std::max<int64_t>(elements, 1);
}

void random_upsample(RandomCase& m, const std::vector<const char*>& scales) {
  Shape shape = random_shape(m.choices, 2 + scales.size(), m.budget);
  Shape target = shape;
  m.test.params["rule"] = static_cast<double>(m.choices.below(3));
  for (size_t s = 0; s < scales.size(); ++s) {
    int64_t& from = shape[2 + s];
    int64_t& to = target[2 + s];
    from = std::max<int64_t>(from, 1);
    const int64_t any = Budget{m.budget.elements / 8}.spend(random_size(m.choices));
    to = m.choices.pick({from, 2 * from, from / 2, any, from + 1});
    to = std::min(to, most_of(target, 2 + s, 4 * m.budget.elements));
    const double quotient = static_cast<double>(to) / static_cast<double>(from);
    m.test.params[scales[s]] = m.choices.pick({0.0, 0.0, quotient, quotient * 1.01, 2.0, 0.3});
  }
  m.add_bits("x", shape);
  m.add_y(target);
}

}  // namespace

OpEntry describe_upsample_nearest1d() {
  OpEntry op = {"upsample_nearest1d", kAll, {kY}, {kX}, {{"rule", true}, {"scale"}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_upsample_nearest1d, a["y"], a["x"], static_cast<hipops_nearest>(a.integer("rule")),
                 a.real("scale"), a.stream());
  };
  op.bench.rank = 3;
  op.bench.sizes = 1;
  op.random_case = [](RandomCase& m) { random_upsample(m, kScale); };
  op.reference = [](Case* test) { expect_upsample(test, kScale); };
  op.large_cases = large::add_upsample_cases;
  return op;
}

OpEntry describe_upsample_nearest2d() {
  OpEntry op = {"upsample_nearest2d", kAll, {kY}, {kX}, {{"rule", true}, {"scale_h"}, {"scale_w"}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_upsample_nearest2d, a["y"], a["x"], static_cast<hipops_nearest>(a.integer("rule")),
                 a.real("scale_h"), a.real("scale_w"), a.stream());
  };
  op.bench.rank = 4;
  op.bench.sizes = 2;
  op.random_case = [](RandomCase& m) { random_upsample(m, kScales); };
  op.reference = [](Case* test) { expect_upsample(test, kScales); };
  op.large_cases = large::add_upsample_cases;
  return op;
}

}  // namespace hipops::parity
