#include <algorithm>
#include <cmath>
#include <limits>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

int64_t integer_at(const Operand& of, int64_t i) {
  return of.dtype() == HIPOPS_I64 ? static_cast<int64_t>(of.bits(i)) : int64_t{static_cast<int32_t>(of.bits(i))};
}

// The numbers of a row of x. A row with a NaN or +inf, or only -inf, has results of NaN.
struct LogSum {
  Real greatest = -INFINITY, total = 1, logarithm = 0;  // total: of e^(x - greatest)
  bool is_empty = false, is_nan = false;

  explicit LogSum(const std::vector<Real>& row) {
    for (const Real x : row) greatest = std::max(greatest, x), is_nan = is_nan || std::isnan(x);
    is_empty = greatest == -INFINITY && !is_nan;
    is_nan = is_nan || std::isinf(greatest);
    if (is_nan) return;
    std::vector<Real> powers;
    for (const Real x : row) powers.push_back(std::exp(x - greatest));
    total = static_cast<Real>(sum(powers));
    logarithm = std::log(total);
  }
  Real value() const { return is_empty ? -INFINITY : is_nan ? kNan : greatest + logarithm; }
  Real magnitude() const { return std::fabs(greatest) + logarithm; }
};

void reference(Case* test) {
  const Operand x = input_of(*test, "x"), targets = input_of(*test, "target");
  const InputTensor* dloss = find_input(*test, "dloss");
  const auto param = [&](const char* name) { return static_cast<Real>(test->params.at(name)); };
  const Real smoothing = param("label_smoothing"), z = param("z_loss");
  const auto ignored = static_cast<int64_t>(test->params.at("ignore_index"));
  const int64_t cols = x.shape().back(), rows = x.tensor.layout.elements / std::max<int64_t>(cols, 1);
  const Real each = smoothing / static_cast<Real>(cols);
  ExpectedTensor* const dx = find_output(test, "dx");
  Scalars loss(test, "loss", 4), lse(test, "lse", 4);
  test->tolerance_ulps = tolerance_of(test->dtype);
  uint64_t wrong = 0, first_wrong = UINT64_MAX;
  std::vector<Real> row(static_cast<size_t>(cols)), below(row.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) row[static_cast<size_t>(c)] = x.value(r * cols + c);
    const LogSum log_sum(row);
    const Real of_row = log_sum.value(), terms = 2 * z * log_sum.magnitude();
    lse.add(of_row, std::max<Real>(log_sum.magnitude(), 1));
    const int64_t target = integer_at(targets, r);
    const bool is_in_range = target >= 0 && target < cols, counts = target != ignored && is_in_range;
    if (target != ignored && !is_in_range) ++wrong, first_wrong = std::min(first_wrong, static_cast<uint64_t>(r));
    Real of_target = 0;
    if (counts && log_sum.is_nan) of_target = kNan;
    else if (counts) {
      for (size_t c = 0; c < row.size(); ++c) below[c] = log_sum.greatest - row[c];
      of_target = (log_sum.greatest - row[static_cast<size_t>(target)]) + log_sum.logarithm;
      if (smoothing != 0) {
        const Real mean = static_cast<Real>(sum(below)) / static_cast<Real>(cols);
        of_target = (1 - smoothing) * of_target + smoothing * (log_sum.logarithm + mean);
      }
      of_target += z * of_row * of_row;
    }
    loss.add(of_target, counts ? std::max<Real>(1, std::fabs(of_target) + terms * log_sum.magnitude()) : 0);  // the sum is 1 or more, and is rounded
    if (!dx) continue;
    const Real factor = dloss ? Operand{*dloss}.value(r) : 1;
    for (int64_t c = 0; c < cols; ++c) {
      const Real power = log_sum.is_nan ? kNan : std::exp(row[static_cast<size_t>(c)] - log_sum.greatest) / log_sum.total;
      const Real at_target = c == target ? 1 - smoothing : 0;
      const Real value = factor * power * (1 + 2 * z * of_row) - (smoothing != 0 ? factor * each : 0), scale = power * (1 + terms) + each + at_target;
      dx->values.push_back(counts ? static_cast<double>(value - (c == target ? factor * at_target : 0)) : 0);
      const Real size = factor == 0 ? std::numeric_limits<double>::min() : scale * std::fabs(factor);  // the sign of 0 times a number is free
      dx->scale.push_back(counts && std::isfinite(size) ? static_cast<double>(size) : 0);
    }
  }
  if (const InputTensor* report = find_input(*test, "report"))
    output_of(test, "report").bits = {report->bits[0] + wrong, std::min(report->bits[1], first_wrong)};
}

void random_call(RandomCase& m) {
  Choices& choose = m.choices;
  Shape shape = random_rows(m);
  shape.back() = std::max<int64_t>(shape.back(), 1);
  const Shape of_rows(shape.begin(), shape.end() - 1);
  const bool has_gradient = !choose.one_in(4), in_place = has_gradient && choose.one_in(4);
  const Layout x = m.add_numbers("x", shape, in_place ? Use::kOutput : Use::kSource);
  m.pick_params();
  const int64_t bad = choose.pick<int64_t>({0, 5, 1}), ignored = static_cast<int64_t>(m.test.params.at("ignore_index")), cols = shape.back();
  const hipops_dtype dtype = choose.pick({HIPOPS_I64, HIPOPS_I32});
  m.add(tensor_of("target", random_layout(choose, dtype, of_rows, Use::kSource), [=](uint64_t word, double) {
    const bool is_bad = bad != 0 && (word >> 40) % static_cast<uint64_t>(bad) == 0;
    const int64_t others[] = {ignored, cols, -1, ignored, INT32_MAX, dtype == HIPOPS_I64 ? int64_t{1} << 40 : INT32_MIN};
    const int64_t target = is_bad ? others[word % 6] : static_cast<int64_t>(word % static_cast<uint64_t>(cols));
    return static_cast<uint64_t>(target) & (dtype == HIPOPS_I32 ? UINT32_MAX : UINT64_MAX);
  }, choose.below(1 << 16)));
  if (has_gradient && choose.one_in(2)) m.add_weight("dloss", scalar_dtype(m.test.dtype), of_rows);
  Shape with_one = of_rows;
  if (of_rows.empty() || choose.one_in(2)) with_one.push_back(1);
  m.add_output("loss", random_layout(choose, scalar_dtype(m.test.dtype), with_one, Use::kOutput));
  if (choose.one_in(2)) m.add_output("lse", random_layout(choose, scalar_dtype(m.test.dtype), of_rows, Use::kOutput));
  if (has_gradient) m.add_output("dx", in_place ? x : random_layout(choose, m.test.dtype, shape, Use::kOutput));
  if (in_place) m.test.in_place = {"dx", "x"};
  m.add_report();
}

// ---- Past 2^31 elements and 4 GiB

struct LargeRows {
  const char* name;
  hipops_dtype dtype;
  int64_t period, periods, rows;
  int64_t step = 0;         // elements from a row to the next; 0: contiguous
  int64_t column_step = 1;  // of x
  bool in_place = false;
};

// One element of a period is 0, the others are -inf. The number of periods is a power of two, so powers are exact.
void run(large::Stage& stage, const LargeRows& c) {
  const int64_t cols = c.period * c.periods, step = c.step == 0 ? cols * c.column_step : c.step;
  std::vector<uint64_t> numbers(static_cast<size_t>(c.period), encode(c.dtype, -INFINITY)), targets;
  numbers[3] = encode(c.dtype, 0);
  for (int64_t i = 0; i < 61; ++i) targets.push_back(static_cast<uint64_t>(i % 7 == 5 ? -100 : i % 7 == 6 ? cols + i : cols / 61 * i + i % 3));
  const large::Pattern logits(c.dtype, numbers), of_rows(HIPOPS_I64, targets);
  large::Memory& x = stage.memory("x", logits, (c.rows - 1) * step + (cols - 1) * c.column_step + 1);
  large::Memory& target = stage.memory("target", of_rows, c.rows);
  large::Memory& loss = stage.unwritten_memory("loss", scalar_dtype(c.dtype), c.rows);
  large::Memory& dx = c.in_place ? x : stage.unwritten_memory("dx", c.dtype, (c.rows - 1) * cols + cols);
  const hipops_tensor from = x.view({c.rows, cols}, {step, c.column_step}), at = target.view({c.rows}), of_loss = loss.view({c.rows}),
                      to = c.in_place ? from : dx.view({c.rows, cols});
  stage.called([&] { return hipops_cross_entropy(&of_loss, nullptr, &to, &from, &at, nullptr, -100, 0, 0, 0, nullptr, nullptr); });
  const auto is_power = [=](int64_t row, int64_t col) { return (row * step + col * c.column_step) % c.period == 3; };
  const auto target_of = [=](int64_t row) {
    const auto named = static_cast<int64_t>(of_rows(row));
    return named >= 0 && named < cols ? named : int64_t{-1};
  };
  const double power = 1 / static_cast<double>(c.periods);
  stage.expect(dx, large::elements_are(to, 0, dx.pattern(), [=](const int64_t* i) {
                 const int64_t named = target_of(i[0]);
                 return encode(c.dtype, named < 0 ? 0 : (is_power(i[0], i[1]) ? power : 0) - (i[1] == named ? 1 : 0));
               }));
  const auto right = [=](int64_t row) {
    const int64_t named = target_of(row);
    return named < 0 ? 0 : is_power(row, named) ? std::log(static_cast<double>(c.periods)) : INFINITY;
  };
  large::Expectation losses = large::elements_are(of_loss, 0, loss.pattern(), [=](const int64_t* i) { return encode(of_loss.dtype, right(i[0])); });
  losses.tolerance = 4, losses.rounding = 0.5;
  losses.error = [=](int64_t row, uint64_t bits) {
    const double got = decode(of_loss.dtype, bits), want = right(row);
    return got == want ? 0 : std::isfinite(want) ? std::fabs(got - want) / ulp(of_loss.dtype, want) : INFINITY;
  };
  stage.expect(loss, losses);
  stage.expect_unchanged(target);
  if (!c.in_place) stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const LargeRows all[] = {
      {"rows", HIPOPS_BF16, 125, 32, giant / 4000 + 3},
      {"odd_rows", HIPOPS_F16, 127, 32, giant / 4064 + 3},
      {"short_rows", HIPOPS_F16, 5, 8, giant / 40 + 5},
      {"rows_of_a_vocabulary", HIPOPS_F32, 125, 1024, giant / 128000 + 1, 0, 1, true},
      {"one_row", HIPOPS_BF16, 65, giant / 64, 1},
      {"one_row_of_every_second", HIPOPS_F16, 65, giant / 128, 1, 0, 2},
      {"far_rows", HIPOPS_F32, 125, 8, 5, giant / 4 + 4},
      {"far_odd_rows", HIPOPS_F64, 125, 8, 5, giant / 4 + 1, 1, true},
  };
  for (const LargeRows& c : all)
    cases->push_back({"cross_entropy", c.dtype, large::large_name(c.name, c.dtype), {c.rows, c.period * c.periods},
                      [c](large::Stage& stage) { run(stage, c); }});
}

}  // namespace

OpEntry describe_cross_entropy() {
  OpEntry op = {"cross_entropy", kFloats};
  op.outputs = {scalar_of_rows("loss"), scalar_of_rows("lse"), {"dx", Role::kData, true}, kReport};
  op.outputs[0].optional = false;
  op.inputs = {kX, {"target", Role::kIndex, false, scalar_of_rows("").shape}, scalar_of_rows("dloss"), kReport};
  op.params = {{"ignore_index", true, false, {-100, 2}},
               {"label_smoothing", false, false, {0, 0.125, 1}},
               {"z_loss", false, false, {0, 0.0001, 0.5}},
               {"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_cross_entropy, a["loss"], a["lse"], a["dx"], a["x"], a["target"], a["dloss"], a.integer("ignore_index"),
                 a.real("label_smoothing"), a.real("z_loss"), a.flags(), a.report(), a.stream());
  };
  op.in_place = {{"dx", {"x"}}};
  op.by_rows = true;
  op.random_case = random_call;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
