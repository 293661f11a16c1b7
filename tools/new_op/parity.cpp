#include "parity/ops/describe.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  test->tolerance_ulps = tolerance_of(x.dtype());
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position)
    output_of(test, "y").values.push_back(2 * x.value(position));
}

void random_@op@(RandomCase& m) {
  m.add_x_and_y(random_shape(m.choices, random_rank(m.choices, 0), m.budget));
  m.pick_params();
}

}  // namespace

OpEntry describe_@op@() {
  OpEntry op = {"@op@", kFloats, {kY}, {kX}};
  op.bind = [](const Arguments& a) { return bound(hipops_@op@, a["y"], a["x"], a.stream()); };
  op.in_place = {{"y", {"x"}}};
  op.random_case = random_@op@;
  op.reference = reference;
  return op;
}

}  // namespace hipops::parity
