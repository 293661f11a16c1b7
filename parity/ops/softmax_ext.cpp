#include <algorithm>
#include <cmath>
#include <limits>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// softmax of the scores x * scale + slope * mask.
void reference(Case* test) {
  const InputTensor *mask = find_input(*test, "mask"), *slopes = find_input(*test, "alibi_slopes"), *sinks = find_input(*test, "sinks");
  const auto element = [](const InputTensor* t, size_t at, double without) {
    return t == nullptr ? without : Operand{*t}.value(static_cast<int64_t>(at));
  };
  const Real scale = static_cast<float>(test->params.at("scale"));
  const bool is_boolean = mask != nullptr && mask->layout.dtype == HIPOPS_U8, zeroes = flags_of(*test) & HIPOPS_MASKED_ROW_ZERO;
  ExpectedTensor& y = output_of(test, "y");
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    const size_t number = first / row.size();
    const Real slope = element(slopes, number, 1), sink = element(sinks, number, -kInfinity);
    Real greatest = sink;
    std::vector<Real> terms;  // of each score: the magnitudes of its terms
    for (size_t c = 0; c < row.size(); ++c) {
      double added = is_boolean ? 0 : element(mask, first + c, 0);
      if (is_boolean && mask->element(static_cast<int64_t>(first + c)) == 0) added = -kInfinity;
      const Real size = std::fabs(row[c] * scale) + std::fabs(slope * added);
      row[c] = added == -kInfinity ? -kInfinity : row[c] * scale + slope * added;
      terms.push_back(std::isfinite(size) ? size : 0);
      if (std::isnan(row[c]) || row[c] > greatest || std::isnan(greatest)) greatest = std::isnan(greatest) ? greatest : row[c];
    }
    const bool is_masked = greatest == -kInfinity;
    if (std::isinf(greatest) && !is_masked) greatest = std::nanl("");
    std::vector<Real> power;
    for (const Real v : row) power.push_back(is_masked ? 0 : std::exp(v - greatest));
    power.push_back(is_masked ? 0 : std::exp(sink - greatest));
    const Real total = static_cast<Real>(sum(power));
    // Each term of a score, and each score, is rounded to f32. An exponential has the same error, and the sum of the
    // exponentials has the mean error.
    Real mean = std::isfinite(sink) ? power.back() / total * std::fabs(sink) : 0;
    for (size_t c = 0; c < row.size(); ++c) mean += power[c] / total * terms[c];
    const Real of_a_score = test->dtype == HIPOPS_F32 ? 1 : std::ldexp(Real{1}, test->dtype == HIPOPS_F16 ? -11 : -14);
    for (size_t c = 0; c < row.size(); ++c) {
      const Real value = is_masked && zeroes ? 0 : row[c] == -kInfinity && !is_masked && !std::isnan(total) ? 0 : power[c] / total;
      y.values[first + c] = static_cast<double>(value);
      const Real size = std::max(terms[c], mean) * of_a_score;
      const Real scaled = value * (test->dtype == HIPOPS_F32 ? std::max<Real>(size, 1) : 1 + size);
      y.scale.push_back(std::isfinite(scaled) ? static_cast<double>(scaled) : 0);
    }
  });
}

// A mask, with -inf among its elements, that may be broadcast.
void add_mask(RandomCase& m, const Shape& shape) {
  const hipops_dtype dtype = m.choices.pick({m.test.dtype, HIPOPS_F32, HIPOPS_U8});
  InputTensor mask = random_numbers(m.choices, "mask", random_layout(m.choices, dtype, shape, Use::kSource));
  const uint64_t masked = m.choices.pick<uint64_t>({0, 2, 16});
  for (uint64_t& bits : mask.bits)  // of equal bits, so that elements that share memory stay equal
    if (masked != 0 && mixed_bits(bits) % masked == 0) bits = dtype == HIPOPS_U8 ? 0 : encode(dtype, -kInfinity);
  m.add(std::move(mask));
}

void random_softmax_ext_case(RandomCase& m) {
  const Shape shape = random_rows(m);
  m.add_x_and_y(shape);
  const bool has_mask = !m.choices.one_in(4);
  if (has_mask) add_mask(m, shape);
  Shape rows(shape.begin(), shape.end() - 1);
  if (rows.empty() || m.choices.one_in(2)) rows.push_back(1);
  for (const char* name : {"alibi_slopes", "sinks"})
    if (m.choices.one_in(2) && (has_mask || std::string(name) == "sinks")) m.add_weight(name, HIPOPS_F32, rows);
  m.pick_params();
}

}  // namespace

OpEntry describe_softmax_ext() {
  OpEntry op = {"softmax_ext", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}, {kY}};
  op.inputs = {kX, {"mask", Role::kMask, true}, scalar_of_rows("alibi_slopes"), scalar_of_rows("sinks")};
  op.params = {{"scale", false, false, {1, 0.125, -2, 0}},
               {"flags", true, false,
                {0, HIPOPS_MASKED_ROW_ZERO, HIPOPS_BATCH_INVARIANT, HIPOPS_MASKED_ROW_ZERO | HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_softmax_ext, a["y"], a["x"], a["mask"], a["alibi_slopes"], a["sinks"], a.real("scale"), a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.by_rows = true;
  op.random_case = random_softmax_ext_case;
  op.reference = reference;
  op.bench.moved = [](int64_t x, int64_t) { return 3 * x; };  // the mask, too
  op.large_cases = large::add_row_cases;
  return op;
}

}  // namespace hipops::parity
