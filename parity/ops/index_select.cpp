#include "parity/ops/index.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const size_t dim = dim_of(*test);
  Indices indices(*test, x.shape()[dim]);
  std::vector<int64_t> rows;
  for (int64_t j = 0; j < indices.shape()[0]; ++j) rows.push_back(indices.at(j));
  std::vector<uint64_t> bits;
  for_each_index(output_of(test, "y").layout.shape, [&](Index at, int64_t) {
    at[dim] = rows[static_cast<size_t>(at[dim])];
    bits.push_back(at[dim] < 0 ? 0 : x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
  if (bits.empty()) indices.forget();
  indices.report_to(test);
}

void random_index_select(RandomCase& m) {
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.pick_dim(shape);
  m.add_bits("x", shape);
  const int64_t size = shape[dim];
  shape[dim] = m.choices.one_in(2) ? Budget{m.budget.elements / 4}.spend(random_size(m.choices)) : size;
  const Layout index = random_layout(m.choices, m.index_dtype(), {shape[dim]}, Use::kSource);
  m.add(random_indices(m.choices, "index", index, size));
  m.add_y(shape);
  m.add_report();
}

}  // namespace

OpEntry describe_index_select() {
  OpEntry op = {"index_select", kAll, {kY, kReport}};
  op.inputs = {kX,
               {"index", Role::kIndex, false, [](const Shape&, const Shape& y, size_t dim) { return Shape{y[dim]}; }},
               kReport};
  op.params = {{"dim", true}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_index_select, a["y"], a["x"], a["index"], a.dim(), a.report(), a.stream());
  };
  op.bench.sizes = 1;
  op.bench.moved = elements_taken;
  op.random_case = random_index_select;
  op.reference = reference;
  op.large_cases = large::add_take_cases;
  return op;
}

}  // namespace hipops::parity
