#include "parity/ops/index.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  const size_t dim = dim_of(*test);
  Indices indices(*test, y.shape()[dim]);
  std::vector<int64_t> rows;
  for (int64_t j = 0; j < indices.shape()[0]; ++j) rows.push_back(indices.at(j));
  std::vector<Sum> sums = sums_of(y);
  for_each_index(x.shape(), [&](Index at, int64_t position) {
    at[dim] = rows[static_cast<size_t>(at[dim])];
    if (at[dim] >= 0) sums[static_cast<size_t>(position_of(y.shape(), at))].add(x.bits(position));
  });
  expect_in_order(test, sums);
  if (x.tensor.layout.elements == 0) indices.forget();
  indices.report_to(test);
}

void random_index_add(RandomCase& m) {
  // With a workspace, more than 256 indices may be sorted.
  const bool has_many = m.choices.one_in(3);
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), has_many ? Budget{16} : m.budget);
  const size_t dim = m.pick_dim(shape);
  m.test.params[kWorkspaceParam] = static_cast<double>(m.choices.below(2));
  if (has_many) {
    shape[dim] = m.choices.between(257, 257 + 2 * m.budget.elements);
    if (dim + 1 < shape.size() && m.choices.one_in(2)) shape.back() = 8;  // vectors of most dtypes
  }
  const int64_t sources = shape[dim];
  m.add_terms("x", shape);
  if (m.choices.one_in(2)) shape[dim] = random_size(m.choices) % 100;
  m.add_output("y", m.add_terms("y", shape, Use::kOutput));
  const Layout index = random_layout(m.choices, m.index_dtype(), {sources}, Use::kSource);
  m.add(random_indices(m.choices, "index", index, shape[dim]));
  m.add_report();
}

}  // namespace

OpEntry describe_index_add() {
  OpEntry op = {"index_add", kAdded, {kY, kReport}};
  op.inputs = {kX, kY,
               {"index", Role::kIndex, false, [](const Shape& x, const Shape&, size_t dim) { return Shape{x[dim]}; }},
               kReport};
  op.params = {{"dim", true}, {kWorkspaceParam, true}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_index_add, a["y"], a["x"], a["index"], a.dim(), a.workspace(), a.workspace_bytes(), a.report(),
                 a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_index_add_workspace_bytes(a["y"], a["x"], a["index"], a.dim(), bytes);
  };
  op.bench.sizes = 1;
  op.bench.moved = elements_added;
  op.random_case = random_index_add;
  op.reference = reference;
  op.large_cases = large::add_index_add_cases;
  return op;
}

}  // namespace hipops::parity
