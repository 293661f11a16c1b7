#include "parity/ops/activations.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x"), up = input_of(*test, "up");
  const auto kind = static_cast<hipops_activation_kind>(test->params.at("kind"));
  const double alpha = test->params.at("alpha"), limit = static_cast<float>(test->params.at("limit"));
  test->tolerance_ulps = tolerance_of(x.dtype());
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position) {
    double gate = x.value(position), other = up.value(position);
    if (limit > 0) {
      gate = gate > limit ? limit : gate;
      other = other > limit ? limit : other < -limit ? -limit : other;
    }
    const long double factor = flags_of(*test) ? other + 1.0L : other;
    output_of(test, "y").values.push_back(static_cast<double>(activation_in_f32(kind, alpha, gate) * factor));
  }
}

void random_activation_and_mul(RandomCase& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 0), m.budget);
  m.add_x_and_y(shape);
  m.add_numbers("up", shape);
  m.pick_params();
}

// Past 2^31 elements and 4 GiB. max(x, 0) * up is exact before it is rounded.
void run(large::Stage& stage, const LargeGated& c) {
  const large::Pattern values = large::random_floats(c.dtype, 1, 8, 0.125);
  large::Memory& both = stage.memory("x", values, c.elements);
  large::Memory& y = stage.unwritten_memory("y", c.dtype, c.y_elements);
  const hipops_tensor x = both.view(c.shape, c.stride), up = both.view(c.shape, c.stride, c.up);
  const hipops_tensor to = y.view(c.shape, c.y_stride);
  stage.called([&] { return hipops_activation_and_mul(&to, &x, &up, HIPOPS_ACTIVATION_RELU, 0, 0, 0, nullptr); });
  stage.expect(y, large::elements_are(to, 0, y.pattern(), [=](const int64_t* index) {
                 int64_t place = 0;
                 for (int d = 0; d < x.rank; ++d) place += index[d] * x.stride[d];
                 const double gate = decode(c.dtype, values(place));
                 return encode(c.dtype, (gate < 0 ? 0 : gate) * decode(c.dtype, values(place + c.up)));
               }));
  stage.expect_unchanged(both);
}

void add_large(int64_t giant, std::vector<large::LargeCase>* cases) {
  std::vector<LargeGated> all = large_gated(giant, giant / 201 + 3);
  all.push_back({"one_run", HIPOPS_BF16, {giant + 7}, {1}, {1}, 8, giant + 15, giant + 7});
  all.push_back({"one_run_apart", HIPOPS_F16, {giant + 7}, {1}, {1}, 1, giant + 8, giant + 7});
  all.push_back({"transposed", HIPOPS_F32, {3, giant / 3}, {1, 3}, {giant / 3, 1}, 3, giant + 3, giant});
  add_large_cases("activation_and_mul", all, run, cases);
}

}  // namespace

OpEntry describe_activation_and_mul() {
  OpEntry op = {"activation_and_mul", kActivationDtypes, {kY}, {kX, {"up"}}};
  op.params = {kind_param(), {"limit", false, false, {0, 1.5}}, alpha_param(),
               {"flags", true, false, {0, HIPOPS_UP_PLUS_ONE}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_activation_and_mul, a["y"], a["x"], a["up"], kind_of(a), a.real("limit"), a.real("alpha"),
                 a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x", "up"}}};
  op.random_case = random_activation_and_mul;
  op.reference = reference;
  op.large_cases = add_large;
  return op;
}

}  // namespace hipops::parity
