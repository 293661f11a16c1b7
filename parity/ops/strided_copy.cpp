// strided_copy and copy2d, which share kernels.
#include <algorithm>
#include <stdexcept>

#include "parity/ops/describe.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<uint64_t> bits;
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position) bits.push_back(x.bits(position));
  expect_bits(test, "y", bits);
}

void random_copy(RandomCase& m) {
  const size_t rank = m.choices.pick<size_t>({1, 2, 3, 4, 2, 3, 5, 6, 7, 8, 0, 4});
  const Shape shape = random_shape(m.choices, rank, m.budget);
  m.add_bits("x", shape);
  m.add_y(shape);
}

void random_copy2d(RandomCase& m) {
  const Shape shape = random_shape(m.choices, 2, m.budget);
  Layout x = plain_layout(m.test.dtype, shape), y = x;
  x.stride[0] = m.choices.pick<int64_t>({shape[1], shape[1] + 1, shape[1] + 8, 0, -shape[1] - 3, 1});
  y.stride[0] = shape[1] + m.choices.pick<int64_t>({0, 1, 8, 16});
  for (Layout* layout : {&x, &y}) {
    if (m.choices.one_in(3)) layout->offset = static_cast<int64_t>(m.choices.below(16));
    if (!measure(layout).empty()) throw std::logic_error("copy2d: a random layout that cannot be");
  }
  m.add(random_bits(m.choices, "x", x));
  m.add_output("y", y);
}

// copy2d uses x's rows and columns for both tensors, and ignores the stride within a row.
std::string copy2d_problem(const Arguments& a) {
  const hipops_tensor &y = *a["y"], &x = *a["x"];
  if (x.rank != 2) return "inputs.x.shape: of rank " + std::to_string(x.rank) + ", expected 2 for copy2d";
  if (y.rank != 2 || y.shape[0] != x.shape[0] || y.shape[1] != x.shape[1])
    return "outputs.y.shape: expected x's shape for copy2d";
  if (x.shape[1] > 1 && x.stride[1] != 1) return "inputs.x.stride: expected 1 within a row for copy2d";
  if (y.shape[1] > 1 && y.stride[1] != 1) return "outputs.y.stride: expected 1 within a row for copy2d";
  return "";
}

void make_as_copy2d(hipops_tensor* y, hipops_tensor* x) {
  y->dtype = x->dtype;
  for (hipops_tensor* t : {y, x}) {
    t->rank = 2;
    std::copy(x->shape, x->shape + 2, t->shape);
    t->stride[1] = 1;
  }
}

}  // namespace

OpEntry describe_strided_copy() {
  OpEntry op = {"strided_copy", kAll, {kY}, {kX}};
  op.bind = [](const Arguments& a) { return bound(hipops_strided_copy, a["y"], a["x"], a.stream()); };
  op.bench.any_view = true;
  op.random_case = random_copy;
  op.reference = reference;
  op.large_cases = large::add_copy_cases;
  return op;
}

OpEntry describe_copy2d() {
  OpEntry op = {"copy2d", kAll, {kY}, {kX}};
  op.bind = [](const Arguments& a) {
    const hipops_tensor *y = a["y"], *x = a["x"];
    return bound(hipops_copy2d, y->data, x->data, x->dtype, x->shape[0], x->shape[1], y->stride[0], x->stride[0],
                 a.stream());
  };
  op.problem = copy2d_problem;
  op.make_as_passed = make_as_copy2d;
  op.kernels_of = "strided_copy";
  op.random_case = random_copy2d;
  op.reference = reference;
  op.large_cases = large::add_copy_cases;
  return op;
}

}  // namespace hipops::parity
