#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

struct Rule {
  double temperature = 1, uniform = 0, top_p = 1, min_p = 0;
  int64_t top_k = 0;
};

// A row's token, and the least distance between two numbers that were compared.
struct Drawn {
  int64_t token;
  Real margin;
};

Drawn draw(const std::vector<double>& row, const Rule& rule) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (std::any_of(row.begin(), row.end(), [](double x) { return std::isnan(x); })) return {-1, 1};
  const double most = *std::max_element(row.begin(), row.end());
  if (most == -INFINITY) return {-1, 1};
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return row[a] > row[b]; });
  if (!(rule.temperature > 0)) return {static_cast<int64_t>(order[0]), 1};
  if (rule.top_k > 0) order.resize(std::min(order.size(), static_cast<size_t>(rule.top_k)));

  std::vector<Real> weights;
  for (const double x : row)
    weights.push_back(x == most ? 1 : std::isinf(most) ? 0 : std::exp((static_cast<Real>(x) - static_cast<Real>(most)) / static_cast<Real>(rule.temperature)));
  const auto total = [&] {
    Real sum = 0;
    for (const size_t i : order) sum += weights[i];
    return sum;
  };
  Real margin = 1, sum = 0;
  const auto compare = [&](Real a, Real b, Real scale) {
    margin = std::min(margin, std::abs(a - b) / scale);
    return a - b;
  };
  if (rule.top_p < 1) {
    const Real all = total();
    size_t kept = 0;
    while (kept < order.size()) {
      sum += weights[order[kept++]];
      if (compare(sum, rule.top_p * all, all) >= 0) break;
    }
    order.resize(kept);
  }
  std::vector<size_t> left;
  for (const size_t i : order)
    if (rule.min_p <= 0 || weights[i] == 1 || compare(weights[i], rule.min_p, 1) >= 0) left.push_back(i);
  order = left;
  std::sort(order.begin(), order.end());
  const Real all = total();
  sum = 0;
  for (const size_t i : order)
    if (compare(sum += weights[i], rule.uniform * all, all) > 0) return {static_cast<int64_t>(i), margin};
  return {static_cast<int64_t>(order.back()), 0};
}

double number_of(const Case& test, const char* name, int64_t row, double absent) {
  if (!find_input(test, name)) return absent;
  const Operand numbers = input_of(test, name);
  if (numbers.dtype() == HIPOPS_F32) return numbers.value(row);
  return static_cast<double>(numbers.dtype() == HIPOPS_I32 ? int64_t{static_cast<int32_t>(numbers.bits(row))} : static_cast<int64_t>(numbers.bits(row)));
}

std::vector<double> row_of(const Operand& x, int64_t row) {
  std::vector<double> numbers;
  for (int64_t c = 0; c < x.shape()[1]; ++c) numbers.push_back(x.value(row * x.shape()[1] + c));
  return numbers;
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<uint64_t> tokens;
  for (int64_t row = 0; row < x.shape()[0]; ++row) {
    const auto number = [&](const char* name, double absent) { return number_of(*test, name, row, absent); };
    const Rule rule{number("temperature", 1), std::clamp(number("uniform", 0), 0.0, 1 - 0x1p-24), number("top_p", 1), number("min_p", 0),
                    static_cast<int64_t>(number("top_k", 0))};
    tokens.push_back(static_cast<uint64_t>(draw(row_of(x, row), rule).token));
  }
  expect_bits(test, "tokens", tokens);
}

// Rounding must not decide a token, so numbers are chosen until all comparisons have a margin. A row without such numbers
// has temperature 0.
void random_sample(RandomCase& m) {
  Choices& choose = m.choices;
  const int64_t columns = choose.one_in(8) ? choose.between(1, 40000) : choose.one_in(2) ? choose.between(1, 3000) : choose.between(1, 40);
  const int64_t rows = choose.between(0, std::clamp<int64_t>(m.budget.elements / 4 / columns, 1, 40));
  const double scale = choose.pick({1.0, 6.0, 30.0});
  const bool has_specials = choose.one_in(3), has_few = choose.one_in(3);
  const auto logit = [=, dtype = m.test.dtype](uint64_t word, double) {
    if (has_specials && word % 5 == 0) return encode(dtype, -INFINITY);
    if (has_specials && word % 4001 == 1) return encode(dtype, word % 2 ? INFINITY : NAN);
    double sum = 0;  // a bell
    for (int i = 8; i < 64; i += 8) sum += static_cast<double>(word >> i & 255) / 255 - 0.5;
    return encode(dtype, scale * (has_few ? std::round(3 * sum) / 2 : sum));
  };
  m.add(tensor_of("x", random_layout(choose, m.test.dtype, {rows, columns}, Use::kSource), logit, choose.below(1 << 16)));
  bool has_temperature = choose.one_in(2);
  const bool has_k = choose.one_in(2), has_p = choose.one_in(2), has_min = choose.one_in(3);
  const Operand x = input_of(m.test, "x");
  std::vector<Rule> rules;
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<double> numbers = row_of(x, row);
    Rule rule;
    for (int attempt = 0;; ++attempt) {
      const auto thousandths = [&](int64_t least, int64_t most) { return static_cast<float>(choose.between(least, most)) / 1000.0f; };
      rule.uniform = thousandths(0, 999);
      if (has_temperature) rule.temperature = choose.one_in(8) ? choose.pick({0.0, -1.0}) : thousandths(100, 3000);
      if (has_k) rule.top_k = choose.one_in(4) ? choose.pick<int64_t>({0, -5, columns + 3, columns}) : choose.between(1, std::min<int64_t>(columns, choose.one_in(2) ? 50 : columns));
      if (has_p) rule.top_p = choose.one_in(4) ? choose.pick({1.0, 2.0, 0.0, -1.0}) : thousandths(1, 999);
      if (has_min) rule.min_p = choose.one_in(4) ? choose.pick({0.0, -1.0, 1.0}) : thousandths(1, 500);
      if (draw(numbers, rule).margin > 2e-5L) break;
      if (attempt < 8) continue;
      has_temperature = true;
      rule.temperature = 0;
      break;
    }
    rules.push_back(rule);
  }
  const auto add = [&](const char* name, hipops_dtype dtype, auto number) {
    InputTensor tensor;
    tensor.name = name;
    tensor.layout = plain_layout(dtype, {rows});
    for (const Rule& rule : rules) {
      const auto value = number(rule);
      tensor.bits.push_back(dtype == HIPOPS_F32 ? encode(dtype, static_cast<double>(value)) : static_cast<uint64_t>(static_cast<int64_t>(value)));
      if (dtype == HIPOPS_I32) tensor.bits.back() &= UINT32_MAX;
    }
    m.add(tensor);
  };
  add("uniform", HIPOPS_F32, [](const Rule& rule) { return rule.uniform; });
  if (has_temperature) add("temperature", HIPOPS_F32, [](const Rule& rule) { return rule.temperature; });
  if (has_k) add("top_k", choose.pick({HIPOPS_I32, HIPOPS_I64}), [](const Rule& rule) { return rule.top_k; });
  if (has_p) add("top_p", HIPOPS_F32, [](const Rule& rule) { return rule.top_p; });
  if (has_min) add("min_p", HIPOPS_F32, [](const Rule& rule) { return rule.min_p; });
  m.add_output("tokens", random_layout(choose, choose.pick({HIPOPS_I32, HIPOPS_I64}), {rows}, Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct ManyLogits {
  const char* name;
  hipops_dtype dtype, tokens;
  int64_t rows, columns, row_pitch, pitch, token_pitch, uniform_pitch;
};

// Weights are 1 or 0, so sums are exact. Half of the first 100 tokens with a weight are left.
void run(large::Stage& stage, const ManyLogits& c) {
  constexpr int64_t kMost = 100;
  std::vector<uint64_t> table, fractions;
  for (uint64_t i = 0; i < 1021; ++i) table.push_back(encode(c.dtype, i * i % 11 == 3 ? 2.5 : -INFINITY));
  for (uint64_t i = 0; i < 61; ++i) fractions.push_back(encode(HIPOPS_F32, static_cast<double>(i * 37 % 61) / 64 + 0x1p-9));
  const large::Pattern logits(c.dtype, table), numbers(HIPOPS_F32, fractions);
  large::Memory& x = stage.memory("x", logits, (c.rows - 1) * c.row_pitch + (c.columns - 1) * c.pitch + 1);
  large::Memory& uniform = stage.memory("uniform", numbers, (c.rows - 1) * c.uniform_pitch + 1);
  large::Memory& k = stage.memory("top_k", large::Pattern(HIPOPS_I32, {kMost}), 1);
  large::Memory& p = stage.memory("top_p", large::Pattern(HIPOPS_F32, {encode(HIPOPS_F32, 0.5)}), 1);
  large::Memory& tokens = stage.unwritten_memory("tokens", c.tokens, (c.rows - 1) * c.token_pitch + 1);
  const hipops_tensor from = x.view({c.rows, c.columns}, {c.row_pitch, c.pitch}), of_rows = uniform.view({c.rows}, {c.uniform_pitch});
  const hipops_tensor most = k.view({c.rows}, {0}), share = p.view({c.rows}, {0}), to = tokens.view({c.rows}, {c.token_pitch});
  stage.called([&] { return hipops_sample(&to, &from, &of_rows, nullptr, &most, &share, nullptr, nullptr); });
  stage.expect(tokens, large::elements_are(to, 0, tokens.pattern(), [=](const int64_t* at) {
                 std::vector<int64_t> left;
                 for (int64_t column = 0; column < c.columns && left.size() < kMost; ++column)
                   if (decode(c.dtype, logits(*at * c.row_pitch + column * c.pitch)) > 0) left.push_back(column);
                 const size_t kept = (left.size() + 1) / 2;
                 const double number = decode(HIPOPS_F32, numbers(*at * c.uniform_pitch));
                 const int64_t token = left.empty() ? -1 : left[static_cast<size_t>(number * static_cast<double>(kept))];
                 return static_cast<uint64_t>(token) & (c.tokens == HIPOPS_I32 ? UINT32_MAX : UINT64_MAX);
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const ManyLogits all[] = {
      {"rows", HIPOPS_BF16, HIPOPS_I32, giant / 256 + 3, 256, 256, 1, 1, 1},
      {"odd_rows", HIPOPS_F32, HIPOPS_I64, giant / 1000 + 3, 999, 1001, 1, 1, 1},
      {"row", HIPOPS_F16, HIPOPS_I64, 1, giant + 9, 0, 1, 1, 1},
      {"far_rows", HIPOPS_F32, HIPOPS_I32, 5, 300, giant / 4 + 4, 1, 1, 1},
      {"far_columns", HIPOPS_BF16, HIPOPS_I32, 3, 90, 1, giant / 64 + 5, 1, 1},
      {"far_tokens", HIPOPS_F16, HIPOPS_I64, 17, 64, 64, 1, giant / 16 + 3, 1},
      {"far_uniform", HIPOPS_F32, HIPOPS_I32, 17, 64, 64, 1, 1, giant / 16 + 3},
  };
  for (const ManyLogits& c : all)
    cases->push_back({"sample", c.dtype, large::large_name(c.name, c.dtype), {c.rows}, [c](large::Stage& stage) { run(stage, c); }});
}

Shape rows_of(const Shape& x, const Shape&, size_t) { return {x[0]}; }

}  // namespace

OpEntry describe_sample() {
  OpEntry op = {"sample", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}};
  op.outputs = {{"tokens", Role::kIndex, false, rows_of}};
  op.inputs = {kX,
               {"uniform", Role::kScalar, false, rows_of},
               {"temperature", Role::kScalar, true, rows_of},
               {"top_k", Role::kIndex, true, rows_of},
               {"top_p", Role::kScalar, true, rows_of},
               {"min_p", Role::kScalar, true, rows_of}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_sample, a["tokens"], a["x"], a["uniform"], a["temperature"], a["top_k"], a["top_p"], a["min_p"], a.stream());
  };
  op.bench.rank = 2;
  op.random_case = random_sample;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
