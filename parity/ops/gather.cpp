#include "parity/ops/index.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const size_t dim = dim_of(*test);
  Indices indices(*test, x.shape()[dim]);
  std::vector<uint64_t> bits;
  for_each_index(indices.shape(), [&](Index at, int64_t position) {
    at[dim] = indices.at(position);
    bits.push_back(at[dim] < 0 ? 0 : x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
  indices.report_to(test);
}

void random_gather(RandomCase& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.pick_dim(shape);
  m.add_bits("x", shape);
  Shape y_shape = shrunk(m.choices, shape);
  if (m.choices.one_in(2)) y_shape[dim] = Budget{m.budget.elements / 4}.spend(random_size(m.choices));
  const Layout index = random_layout(m.choices, m.index_dtype(), y_shape, Use::kSource);
  m.add(random_indices(m.choices, "index", index, shape[dim]));
  m.add_y(y_shape);
  m.add_report();
}

}  // namespace

OpEntry describe_gather() {
  OpEntry op = {"gather", kAll, {kY, kReport}, {kX, kIndexLikeY, kReport}, {{"dim", true}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_gather, a["y"], a["x"], a["index"], a.dim(), a.report(), a.stream());
  };
  op.bench.sizes = 1;
  op.bench.sizes_are_optional = true;
  op.bench.moved = elements_taken;
  op.random_case = random_gather;
  op.reference = reference;
  op.large_cases = large::add_take_cases;
  return op;
}

}  // namespace hipops::parity
