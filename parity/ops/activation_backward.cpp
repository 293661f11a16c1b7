#include "parity/ops/activations.h"
#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand dy = input_of(*test, "dy"), x = input_of(*test, "x");
  const auto kind = static_cast<hipops_activation_kind>(test->params.at("kind"));
  ExpectedTensor& dx = output_of(test, "dx");
  test->tolerance_ulps = tolerance_of(x.dtype());
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position) {
    const Slope gradient = gradient_of(kind, test->params.at("alpha"), x.value(position), dy.value(position));
    dx.values.push_back(static_cast<double>(gradient.value));
    dx.scale.push_back(static_cast<double>(gradient.scale));
  }
}

void random_call(RandomCase& m) {
  add_gradients(m, random_shape(m.choices, random_rank(m.choices, 0), m.budget), "x");
  m.pick_params();
}

void run(large::Stage& stage, const LargeRows& c) {
  const large::Pattern values = large::random_floats(c.dtype, 1, 8, 0.125), gradients = large::random_floats(c.dtype, 2, 8, 0.125);
  large::Memory& from = stage.memory("x", values, c.elements);
  large::Memory& dy = stage.memory("dy", gradients, c.elements);
  large::Memory& dx = stage.unwritten_memory("dx", c.dtype, c.shape[0] * c.shape[1]);
  const hipops_tensor x = from.view(c.shape, c.stride), of_y = dy.view(c.shape, c.stride), to = dx.view(c.shape);
  stage.called([&] { return hipops_activation_backward(&to, &of_y, &x, HIPOPS_ACTIVATION_RELU, 0, nullptr); });
  stage.expect(dx, large::elements_are(to, 0, dx.pattern(), [=](const int64_t* index) {
                 const int64_t place = index[0] * x.stride[0] + index[1] * x.stride[1];
                 return encode(c.dtype, decode(c.dtype, values(place)) <= 0 ? 0 : decode(c.dtype, gradients(place)));
               }));
  for (const large::Memory* input : {&from, &dy}) stage.expect_unchanged(*input);
}

}  // namespace

OpEntry describe_activation_backward() {
  OpEntry op = {"activation_backward", kActivationDtypes, {{"dx"}}, {{"dy"}, kX}, {kind_param(), alpha_param()}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_activation_backward, a["dx"], a["dy"], a["x"], kind_of(a), a.real("alpha"), a.stream());
  };
  op.in_place = {{"dx", {"dy", "x"}}};
  op.random_case = random_call;
  op.reference = reference;
  op.large_cases = [](int64_t giant, std::vector<large::LargeCase>* cases) {
    add_large_cases("activation_backward", large_rows(giant), run, cases);
  };
  return op;
}

}  // namespace hipops::parity
