#include "parity/ops/activations.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const auto kind = static_cast<hipops_activation_kind>(test->params.at("kind"));
  test->tolerance_ulps = tolerance_of(x.dtype());
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position)
    output_of(test, "y").values.push_back(
        static_cast<double>(activation_in_f32(kind, test->params.at("alpha"), x.value(position))));
}

void random_activation(RandomCase& m) {
  m.add_x_and_y(random_shape(m.choices, random_rank(m.choices, 0), m.budget));
  m.pick_params();
}

void run(large::Stage& stage, const LargeRows& c) {
  const large::Pattern values = large::random_floats(c.dtype, 1, 8, 0.125);
  large::Memory& from = stage.memory("x", values, c.elements);
  large::Memory& y = stage.unwritten_memory("y", c.dtype, c.shape[0] * c.shape[1]);
  const hipops_tensor x = from.view(c.shape, c.stride), to = y.view(c.shape);
  stage.called([&] { return hipops_activation(&to, &x, HIPOPS_ACTIVATION_RELU, 0, nullptr); });
  stage.expect(y, large::elements_are(to, 0, y.pattern(), [=](const int64_t* index) {
                 const double value = decode(c.dtype, values(index[0] * x.stride[0] + index[1] * x.stride[1]));
                 return encode(c.dtype, value < 0 ? 0 : value);
               }));
  stage.expect_unchanged(from);
}

}  // namespace

OpEntry describe_activation() {
  OpEntry op = {"activation", kActivationDtypes, {kY}, {kX}, {kind_param(), alpha_param()}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_activation, a["y"], a["x"], kind_of(a), a.real("alpha"), a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.random_case = random_activation;
  op.reference = reference;
  op.large_cases = [](int64_t giant, std::vector<large::LargeCase>* cases) {
    add_large_cases("activation", large_rows(giant), run, cases);
  };
  return op;
}

}  // namespace hipops::parity
