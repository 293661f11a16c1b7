#include "fuzz/random_case.h"

#include <algorithm>
#include <stdexcept>

#include "fuzz/random_layout.h"
#include "fuzz/random_values.h"
#include "fuzz/reference.h"
#include "parity/number.h"

namespace hipops::fuzz {
namespace {

using parity::Case;
using parity::ExpectedTensor;
using parity::InputTensor;
using parity::Layout;

struct Maker {
  Choices& choices;
  Budget budget;
  Case test;

  const Layout& add(InputTensor tensor) {
    test.inputs.push_back(std::move(tensor));
    return test.inputs.back().layout;
  }

  // Of the case's dtype: numbers to compute with, or elements to move.
  const Layout& add_numbers(const std::string& name, const Shape& shape, Use use = Use::kSource) {
    return add(random_numbers(choices, name, random_layout(choices, test.dtype, shape, use)));
  }
  const Layout& add_bits(const std::string& name, const Shape& shape, Use use = Use::kSource) {
    return add(random_bits(choices, name, random_layout(choices, test.dtype, shape, use)));
  }

  // Of which some thousands can be summed: those of f16 are smaller, as it ends at 65504.
  const Layout& add_terms(const std::string& name, const Shape& shape, Use use = Use::kSource) {
    const Layout& layout = add_numbers(name, shape, use);
    if (test.dtype == HIPOPS_F16) {
      for (uint64_t& bits : test.inputs.back().bits)
        bits = parity::encode(HIPOPS_F16, parity::decode(HIPOPS_F16, bits) / 16);
    }
    return layout;
  }

  void add_output(const std::string& name, const Layout& layout) {
    ExpectedTensor output;
    output.name = name;
    output.layout = layout;
    test.outputs.push_back(output);
  }
  void add_y(const Shape& shape) { add_output("y", random_layout(choices, test.dtype, shape, Use::kOutput)); }

  // y beside x or, now and then where x's elements are distinct, x itself. Before x's elements are made.
  void add_x_and_y(const Shape& shape) {
    const bool in_place = choices.one_in(4);
    const Layout& x = add_numbers("x", shape, in_place ? Use::kOutput : Use::kSource);
    if (!in_place) return add_y(shape);
    add_output("y", x);
    test.in_place = {"y", "x"};
  }

  hipops_dtype weight_dtype() { return choices.one_in(2) ? HIPOPS_F32 : test.dtype; }

  void add_report() {
    if (!choices.one_in(2)) return;
    InputTensor report;
    report.name = "report";
    report.layout = plain_layout(HIPOPS_I64, {2});
    report.bits = {choices.pick<uint64_t>({0, 7}), choices.pick<uint64_t>({~uint64_t{0}, 3})};
    add_output("report", add(report));
  }

  hipops_dtype index_dtype() {
    return choices.pick({HIPOPS_I64, HIPOPS_I32, HIPOPS_U32, HIPOPS_I16, HIPOPS_U8});
  }
};

// ---- Ops on rows

constexpr int64_t kLongRow = 40000;  // split in every dtype

Shape random_rows(Maker& m) {
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  if (m.choices.one_in(4)) {  // few rows that are long, and now and then longer than the budget
    std::fill(shape.begin(), shape.end(), 1);
    if (shape.size() > 1) shape.front() = m.choices.between(1, 2);
    const bool split = m.choices.one_in(8);
    shape.back() = m.choices.between(1, split ? kLongRow : m.budget.elements);
  } else if (m.choices.one_in(4)) {  // many that are short, of whole vectors or not
    shape = {0, m.choices.between(1, 40) * m.choices.pick({1, 1, 4, 8})};
    shape.front() = m.choices.between(1, std::max<int64_t>(m.budget.elements / shape.back(), 1));
  }
  return shape;
}

void make_rows(Maker& m, const std::vector<std::string>& weights) {
  const Shape shape = random_rows(m);
  m.add_x_and_y(shape);
  const hipops_dtype dtype = weights.empty() ? HIPOPS_NONE : m.weight_dtype();
  for (const std::string& name : weights) {
    if (m.choices.one_in(3)) continue;
    m.add(random_numbers(m.choices, name, random_layout(m.choices, dtype, {shape.back()}, Use::kSource)));
  }
  if (!weights.empty()) m.test.params["eps"] = m.choices.pick({1e-5, 1e-6, 1e-3, 1.0});
}

void make_rms_norm(Maker& m) {
  make_rows(m, {"weight"});
  m.test.params["flags"] = static_cast<double>(m.choices.pick<uint32_t>(
      {0, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT}));
}

void make_fused_add(Maker& m) {
  const Shape shape = random_rows(m);
  m.add_x_and_y(shape);
  m.add_numbers("residual", shape);
  if (m.choices.one_in(3)) {
    m.add(random_numbers(m.choices, "weight", random_layout(m.choices, m.weight_dtype(), {shape.back()}, Use::kSource)));
  }
  m.add_output("residual_out", random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  m.test.params["eps"] = m.choices.pick({1e-5, 1e-6, 1e-3, 1.0});
  m.test.params["flags"] = static_cast<double>(m.choices.pick<uint32_t>(
      {0, HIPOPS_ROUND_SUM, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT,
       HIPOPS_ROUND_SUM | HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT}));
}

// ---- Rotary embedding

void make_rope(Maker& m, bool tokens_first) {
  Budget budget = m.budget;
  const int64_t d =
      budget.take(m.choices.one_in(2) ? random_size(m.choices) : m.choices.pick({8, 2, 64, 80, 128, 7, 33}));
  const int64_t t = budget.take(m.choices.between(1, 20) - (m.choices.one_in(40) ? 1 : 0));
  const int64_t h = budget.take(m.choices.between(1, 9)), b = budget.take(m.choices.between(1, 3));
  m.add_x_and_y(tokens_first ? Shape{b, t, h, d} : Shape{b, h, t, d});
  const int64_t pairs = m.choices.one_in(3) ? m.choices.between(0, d / 2) : d / 2;
  const bool with_positions = m.choices.one_in(2);
  const int64_t rows = with_positions ? m.choices.between(1, 40) : t + m.choices.pick({0, 0, 1, 5});
  Shape table = {rows, pairs};
  if (m.choices.one_in(3)) table.insert(table.begin(), b);
  const hipops_dtype dtype = m.weight_dtype();
  for (const char* name : {"cos", "sin"}) {
    m.add(random_numbers(m.choices, name, random_layout(m.choices, dtype, table, Use::kSource)));
  }
  if (!with_positions) return;
  const Shape shape = m.choices.one_in(2) ? Shape{b, t} : Shape{t};
  const Layout layout =
      random_layout(m.choices, m.choices.pick({HIPOPS_I64, HIPOPS_I32}), shape, Use::kSource);
  m.add(random_indices(m.choices, "positions", layout, rows));
}

// ---- Ops with an index

// As many as there are, or fewer.
Shape shrunk(Choices& choices, Shape shape) {
  for (int64_t& size : shape) {
    if (choices.one_in(4)) size = choices.between(0, size);
  }
  return shape;
}

void make_gather(Maker& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.choices.below(shape.size());
  m.test.params["dim"] = static_cast<double>(dim);
  m.add_bits("x", shape);
  Shape taken = shrunk(m.choices, shape);
  if (m.choices.one_in(2)) taken[dim] = Budget{m.budget.elements / 4}.take(random_size(m.choices));
  const Layout index = random_layout(m.choices, m.index_dtype(), taken, Use::kSource);
  m.add(random_indices(m.choices, "index", index, shape[dim]));
  m.add_y(taken);
  m.add_report();
}

void make_index_select(Maker& m) {
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.choices.below(shape.size());
  m.test.params["dim"] = static_cast<double>(dim);
  m.add_bits("x", shape);
  const int64_t size = shape[dim];
  shape[dim] = m.choices.one_in(2) ? Budget{m.budget.elements / 4}.take(random_size(m.choices)) : size;
  const Layout index = random_layout(m.choices, m.index_dtype(), {shape[dim]}, Use::kSource);
  m.add(random_indices(m.choices, "index", index, size));
  m.add_y(shape);
  m.add_report();
}

void make_index_add(Maker& m) {
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.choices.below(shape.size());
  m.test.params["dim"] = static_cast<double>(dim);
  m.test.params["workspace"] = static_cast<double>(m.choices.below(2));
  const int64_t sources = shape[dim];
  m.add_terms("x", shape);
  if (m.choices.one_in(2)) shape[dim] = random_size(m.choices) % 100;
  m.add_output("y", m.add_terms("y", shape, Use::kOutput));
  const Layout index = random_layout(m.choices, m.index_dtype(), {sources}, Use::kSource);
  m.add(random_indices(m.choices, "index", index, shape[dim]));
  m.add_report();
}

// An index that repeats has one answer only in order, unless it is for sums.
void make_scatter(Maker& m, bool adds) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.choices.below(shape.size());
  const bool half = m.test.dtype == HIPOPS_F16 || m.test.dtype == HIPOPS_BF16;
  const bool in_order = m.choices.one_in(2);
  const bool workspace = (adds && half && in_order) || m.choices.one_in(2);
  m.test.params["dim"] = static_cast<double>(dim);
  m.test.params["flags"] = in_order ? HIPOPS_DETERMINISTIC : 0;
  m.test.params["workspace"] = workspace ? 1 : 0;
  const Shape sources = shrunk(m.choices, shape);
  Shape target = shape;
  if (m.choices.one_in(2)) target[dim] = random_size(m.choices) % 100;
  if (adds) {
    m.add_terms("x", sources);
    m.add_output("y", m.add_terms("y", target, Use::kOutput));
  } else {
    m.add_bits("x", sources);
    m.add_output("y", m.add_bits("y", target, Use::kOutput));
  }
  const bool any = adds || in_order;
  const Layout index = random_layout(m.choices, m.index_dtype(), sources, any ? Use::kSource : Use::kOutput);
  m.add(any ? random_indices(m.choices, "index", index, target[dim])
            : distinct_indices(m.choices, "index", index, dim, target[dim]));
  m.add_report();
}

// ---- Upsampling and copies

// What dimension d may have, of so many elements and what the others have.
int64_t most_of(const Shape& shape, size_t d, int64_t elements) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != d) elements /= std::max<int64_t>(shape[i], 1);
  return std::max<int64_t>(elements, 1);
}

void make_upsample(Maker& m, const std::vector<std::string>& scales) {
  Shape shape = random_shape(m.choices, 2 + scales.size(), m.budget);
  Shape target = shape;
  m.test.params["rule"] = static_cast<double>(m.choices.below(3));
  for (size_t s = 0; s < scales.size(); ++s) {
    int64_t& from = shape[2 + s];
    int64_t& to = target[2 + s];
    from = std::max<int64_t>(from, 1);
    const int64_t any = Budget{m.budget.elements / 8}.take(random_size(m.choices));
    to = m.choices.pick({from, 2 * from, from / 2, any, from + 1});
    to = std::min(to, most_of(target, 2 + s, 4 * m.budget.elements));
    const double quotient = static_cast<double>(to) / static_cast<double>(from);
    m.test.params[scales[s]] = m.choices.pick({0.0, 0.0, quotient, quotient * 1.01, 2.0, 0.3});
  }
  m.add_bits("x", shape);
  m.add_y(target);
}

void make_copy(Maker& m) {
  const size_t rank = m.choices.pick<size_t>({1, 2, 3, 4, 2, 3, 5, 6, 7, 8, 0, 4});
  const Shape shape = random_shape(m.choices, rank, m.budget);
  m.add_bits("x", shape);
  m.add_y(shape);
}

void make_copy2d(Maker& m) {
  const Shape shape = random_shape(m.choices, 2, m.budget);
  Layout x = plain_layout(m.test.dtype, shape), y = x;
  x.stride[0] = m.choices.pick<int64_t>({shape[1], shape[1] + 1, shape[1] + 8, 0, -shape[1] - 3, 1});
  y.stride[0] = shape[1] + m.choices.pick<int64_t>({0, 1, 8, 16});
  for (Layout* layout : {&x, &y}) {
    if (m.choices.one_in(3)) layout->offset = static_cast<int64_t>(m.choices.below(16));
    if (!parity::measure(layout).empty()) throw std::logic_error("copy2d: a random layout that cannot be");
  }
  m.add(random_bits(m.choices, "x", x));
  m.add_output("y", y);
}

void make(Maker& m, const std::string& op) {
  if (op == "layer_norm") return make_rows(m, {"weight", "bias"});
  if (op == "rms_norm") return make_rms_norm(m);
  if (op == "fused_add_rms_norm") return make_fused_add(m);
  if (op == "softmax") return make_rows(m, {});
  if (op == "rope" || op == "rope_i" || op == "rope_thd") return make_rope(m, op == "rope_thd");
  if (op == "gather") return make_gather(m);
  if (op == "index_select") return make_index_select(m);
  if (op == "index_add") return make_index_add(m);
  if (op == "scatter" || op == "scatter_add") return make_scatter(m, op == "scatter_add");
  if (op == "upsample_nearest1d") return make_upsample(m, {"scale"});
  if (op == "upsample_nearest2d") return make_upsample(m, {"scale_h", "scale_w"});
  if (op == "strided_copy") return make_copy(m);
  if (op == "copy2d") return make_copy2d(m);
  throw std::logic_error("no random cases of " + op);
}

}  // namespace

Case random_case(Choices& choices, const parity::OpEntry& op, int64_t most_elements) {
  Maker maker{choices, {most_elements}, {}};
  maker.test.name = "random";
  maker.test.dtype = choices.pick(op.dtypes);
  make(maker, op.name);
  expect(op.name, &maker.test);
  return maker.test;
}

}  // namespace hipops::fuzz
