#include "parity/ops/rows.h"

#include <algorithm>
#include <cmath>

namespace hipops::parity {
namespace {

constexpr int64_t kLongRow = 40000;  // a row of this length is split in every dtype
constexpr int64_t kShortRows = 20000;  // most elements of short rows: a block for each row is slow on the CPU

}  // namespace

TensorSpec columns_of_x(const char* name) {
  return {name, Role::kWeight, true, [](const Shape& x, const Shape&, size_t) { return Shape{x.back()}; }};
}

TensorSpec scalar_of_rows(const char* name) {
  return {name, Role::kScalar, true, [](const Shape& x, const Shape&, size_t) { return Shape(x.begin(), x.end() - 1); }};
}

Scalars::Scalars(Case* test, const std::string& name, double ulps) : output_(find_output(test, name)) {
  if (output_ != nullptr) output_->ulps = ulps;
}

void Scalars::add(Real value, Real scale) {
  if (output_ == nullptr) return;
  output_->values.push_back(static_cast<double>(value));
  output_->scale.push_back(std::isfinite(scale) ? static_cast<double>(scale) : 0);
}

double tolerance_of_variance(hipops_dtype dtype) { return dtype == HIPOPS_BF16 ? 256 : dtype == HIPOPS_F16 ? 32 : 4; }

Shape random_rows(RandomCase& m) {
  const Budget rows = {std::min(m.budget.elements, kShortRows)};
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), rows);
  if (m.choices.one_in(4)) {  // few long rows, some over the budget
    std::fill(shape.begin(), shape.end(), 1);
    if (shape.size() > 1) shape.front() = m.choices.between(1, 2);
    const bool split = m.choices.one_in(8);
    shape.back() = m.choices.between(1, split ? kLongRow : m.budget.elements);
  } else if (m.choices.one_in(4)) {  // many short rows
    shape = {0, m.choices.between(1, 40) * m.choices.pick({1, 1, 4, 8})};
    shape.front() = m.choices.between(1, std::max<int64_t>(rows.elements / shape.back(), 1));
  }
  return shape;
}

// All weights have one dtype.
static void add_weights(RandomCase& m, int64_t columns) {
  hipops_dtype dtype = HIPOPS_NONE;
  for (const TensorSpec& input : m.op.inputs) {
    if (input.role != Role::kWeight) continue;
    if (dtype == HIPOPS_NONE) dtype = m.weight_dtype();
    if (!m.choices.one_in(3)) m.add_weight(input.name, dtype, {columns});
  }
}

void random_row_case(RandomCase& m) {
  const Shape shape = random_rows(m);
  m.add_x_and_y(shape);
  add_weights(m, shape.back());
  m.pick_params();
  add_scalars(m, shape);
}

void add_scalars(RandomCase& m, const Shape& x) {
  if (x.back() == 0) return;
  for (const TensorSpec& output : m.op.outputs) {
    if (output.role != Role::kScalar || !m.choices.one_in(2)) continue;
    Shape shape(x.begin(), x.end() - 1);
    if (shape.empty() || m.choices.one_in(2)) shape.push_back(1);
    m.add_output(output.name, random_layout(m.choices, scalar_dtype(m.test.dtype), shape, Use::kOutput));
  }
}

void add_gradients(RandomCase& m, const Shape& shape, const char* like) {
  const bool in_place = m.choices.one_in(4);
  const Use use = in_place ? Use::kOutput : Use::kSource;
  const Layout dy = m.add_numbers("dy", shape, use), other = m.add_numbers(like, shape, use);
  if (!in_place) return m.add_output("dx", random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  const bool is_dy = m.choices.one_in(2);
  m.add_output("dx", is_dy ? dy : other);
  m.test.in_place = {"dx", is_dy ? "dy" : like};
}

void add_residual(Case* test, std::vector<Real>& row, size_t first) {
  const Operand residual = input_of(*test, "residual");
  ExpectedTensor* sums = find_output(test, "residual_out");
  for (size_t c = 0; c < row.size(); ++c) {
    row[c] = static_cast<float>(row[c] + static_cast<Real>(residual.value(static_cast<int64_t>(first + c))));
    if (sums != nullptr) sums->values.push_back(static_cast<double>(row[c]));
    if (flags_of(*test) & HIPOPS_ROUND_SUM) row[c] = decode(test->dtype, encode(test->dtype, static_cast<double>(row[c])));
  }
}

void random_residual_case(RandomCase& m) {
  const Shape shape = random_rows(m);
  m.add_x_and_y(shape);
  m.add_numbers("residual", shape);
  add_weights(m, shape.back());
  m.add_output("residual_out", random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  m.pick_params();
  add_scalars(m, shape);
}

Wide sum(const std::vector<Real>& terms) {
  Wide total = 0, rounded_off = 0;
  for (const Wide term : terms) {
    const Wide next = total + term;
    const bool term_is_larger = std::fabs(static_cast<Real>(term)) > std::fabs(static_cast<Real>(total));
    if (std::isfinite(static_cast<Real>(next))) rounded_off += term_is_larger ? term - next + total : total - next + term;
    total = next;
  }
  return total + rounded_off;
}

Real mean_of_squares(const std::vector<Real>& terms) {
  Wide total = 0;
  for (const Wide term : terms) total += term * term;
  return static_cast<Real>(total / static_cast<Wide>(terms.size()));
}

std::vector<Real> weights_of(const Case& test, const std::string& name, Real without) {
  std::vector<Real> values(static_cast<size_t>(input_of(test, "x").shape().back()), without);
  const InputTensor* tensor = find_input(test, name);
  if (tensor == nullptr) return values;
  for (size_t c = 0; c < values.size(); ++c) values[c] = Operand{*tensor}.value(static_cast<int64_t>(c));
  return values;
}

Weighing::Weighing(Case* test) : test_(test), weight_(weights_of(*test, "weight", 1)), y_(output_of(test, "y")) {
  const uint32_t flags = flags_of(*test);
  const bool weighted = find_input(*test, "weight") != nullptr;
  if (weighted && (flags & HIPOPS_WEIGHT_PLUS_ONE))
    for (Real& w : weight_) w += 1;
  // f32 and f64 are computed in their own type. Their normalized elements may be off by ULPs, so no rounding shows.
  rounds_ = weighted && (flags & HIPOPS_ROUND_BEFORE_WEIGHT) && dtype_size(test->dtype) == 2;
}

// f32 cannot resolve values near a tie, so both neighbours are right. The expected product is the tie's. An ULP of the
// scale is twice the distance between the neighbours' rounded products.
double Weighing::product(Real normalized, Real weight) {
  if (!rounds_) return static_cast<double>(normalized * weight);
  const Real margin = 4 * std::max<Real>(std::fabs(normalized) * 0x1p-23, 0x1p-149);
  const double low = round(normalized - margin), high = round(normalized + margin);
  const double value = static_cast<double>((Real{low} + Real{high}) / 2 * weight);
  double scale = 0;
  if (low < high && std::isfinite(value)) {
    const double least = ulp(test_->dtype, 0);
    const double unit = ulp(test_->dtype, low) * static_cast<double>(std::fabs(weight)) + ulp(test_->dtype, value);
    scale = std::exp2(std::ceil(std::log2(unit)) - std::log2(least)) * smallest_normal();
  }
  y_.scale.push_back(scale);
  return value;
}

}  // namespace hipops::parity
