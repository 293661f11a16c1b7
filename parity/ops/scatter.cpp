// scatter and scatter_add.
#include <algorithm>
#include <cmath>

#include "parity/ops/index.h"

namespace hipops::parity {
namespace {

// Calls visit(x's position, y's position) for each source with a valid target, in the order of dim along a line.
template <class Visit>
void for_each_source(Case* test, Visit visit) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  const size_t dim = dim_of(*test);
  Indices indices(*test, y.shape()[dim]);
  for_each_index(x.shape(), [&](Index at, int64_t position) {
    at[dim] = indices.at(position);
    if (at[dim] >= 0) visit(position, position_of(y.shape(), at));
  });
  indices.report_to(test);
}

void expect_scatter(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<uint64_t> bits = all_bits(input_of(*test, "y"));
  for_each_source(test, [&](int64_t from, int64_t to) { bits[static_cast<size_t>(to)] = x.bits(from); });
  expect_bits(test, "y", bits);
}

void expect_scatter_add(Case* test) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  std::vector<Sum> sums = sums_of(y);
  for_each_source(test, [&](int64_t from, int64_t to) { sums[static_cast<size_t>(to)].add(x.bits(from)); });
  const bool any_order = flags_of(*test) == 0 && is_float(y.dtype());
  if (!any_order) return expect_in_order(test, sums);
  const bool rounded_once = dtype_size(y.dtype()) == 2 && test->params.at(kWorkspaceParam) != 0;
  double tolerance = tolerance_of(y.dtype()), to_f32 = 1;
  if (rounded_once) {  // half of the tolerance covers that rounding; eps is f32's
    to_f32 = 2 * ulp(HIPOPS_F32, 1) / ulp(y.dtype(), 1);
  } else {  // enough ULPs that the dtype can represent every scale
    for (const Sum& sum : sums) {
      const double least = sum.scale(largest(y.dtype()));
      if (std::isfinite(least)) tolerance = std::max(tolerance, least);
    }
  }
  ExpectedTensor& expected = output_of(test, "y");
  test->tolerance_ulps = tolerance;
  for (const Sum& sum : sums) {
    expected.values.push_back(sum.exact());
    expected.scale.push_back(sum.scale(tolerance) * to_f32);
  }
}

// Without an order, only sums may repeat an index: scatter would have several right answers.
template <bool adds>
void random_scatter(RandomCase& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.pick_dim(shape);
  const bool in_order = m.choices.one_in(2);
  const bool workspace = m.choices.one_in(2);
  m.test.params["flags"] = in_order ? HIPOPS_DETERMINISTIC : 0;
  m.test.params[kWorkspaceParam] = workspace ? 1 : 0;
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

OpEntry describe(const char* name, const std::vector<hipops_dtype>& dtypes) {
  OpEntry op = {name, dtypes, {kY, kReport}, {kX, kY, kIndexLikeX, kReport}};
  op.params = {{"dim", true}, {"flags", true}, {kWorkspaceParam, true}};
  op.bench.sizes = 1;
  return op;
}

}  // namespace

OpEntry describe_scatter() {
  OpEntry op = describe("scatter", kAll);
  op.bind = [](const Arguments& a) {
    return bound(hipops_scatter, a["y"], a["x"], a["index"], a.dim(), a.flags(), a.workspace(), a.workspace_bytes(),
                 a.report(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_scatter_workspace_bytes(a["y"], a["x"], a["index"], a.dim(), a.flags(), bytes);
  };
  op.bench.moved = [](int64_t x, int64_t y) { return x + std::min(x, y); };
  op.random_case = random_scatter<false>;
  op.reference = expect_scatter;
  op.large_cases = large::add_scatter_cases;
  return op;
}

OpEntry describe_scatter_add() {
  OpEntry op = describe("scatter_add", kAdded);
  op.bind = [](const Arguments& a) {
    return bound(hipops_scatter_add, a["y"], a["x"], a["index"], a.dim(), a.flags(), a.workspace(), a.workspace_bytes(),
                 a.report(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_scatter_add_workspace_bytes(a["y"], a["x"], a["index"], a.dim(), a.flags(), bytes);
  };
  op.bench.moved = elements_added;
  op.random_case = random_scatter<true>;
  op.reference = expect_scatter_add;
  op.large_cases = large::add_scatter_cases;
  return op;
}

}  // namespace hipops::parity
