#include "parity/ops/activations.h"

namespace hipops::parity {
namespace {

// A product as f32 has it, if it is out of f32's normal range.
long double product_in_f32(long double a, long double b) {
  const long double product = a * b, in_f32 = decode(HIPOPS_F32, encode(HIPOPS_F32, static_cast<double>(product)));
  return std::isinf(in_f32) || std::fabs(product) < std::numeric_limits<float>::min() ? in_f32 : product;
}

void reference(Case* test) {
  const Operand dy = input_of(*test, "dy"), x = input_of(*test, "x"), up = input_of(*test, "up");
  const auto kind = static_cast<hipops_activation_kind>(test->params.at("kind"));
  const double alpha = test->params.at("alpha"), limit = static_cast<float>(test->params.at("limit"));
  ExpectedTensor *dx = find_output(test, "dx"), *dup = find_output(test, "dup");
  test->tolerance_ulps = tolerance_of(x.dtype());
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position) {
    double gate = x.value(position), other = up.value(position);
    const long double gradient = dy.value(position);
    const bool cuts_gate = limit > 0 && !(gate < limit), cuts_up = limit > 0 && !(std::fabs(other) < limit);
    if (cuts_gate && gate > limit) gate = limit;
    if (cuts_up && std::fabs(other) > limit) other = std::copysign(limit, other);
    const long double factor = flags_of(*test) ? other + 1.0L : other;
    if (dx) {
      const Slope of_x = cuts_gate ? Slope{0} : gradient_of(kind, alpha, gate, product_in_f32(gradient, factor));
      dx->values.push_back(static_cast<double>(of_x.value));
      dx->scale.push_back(static_cast<double>(of_x.scale));
    }
    if (dup) dup->values.push_back(static_cast<double>(cuts_up ? 0 : activation_in_f32(kind, alpha, gate) * gradient));
  }
}

void random_call(RandomCase& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 0), m.budget);
  const std::string in_place = m.choices.pick<std::string>({"", "", "", "dy", "x", "up"}), absent = m.choices.pick<std::string>({"", "", "dx", "dup"});
  std::string output;  // in place
  Layout of_output;
  for (const std::string name : {"dy", "x", "up"}) {
    const Layout layout = m.add_numbers(name, shape, name == in_place ? Use::kOutput : Use::kSource);
    if (name != in_place) continue;
    output = absent == "dx" || (absent.empty() && name == "up") ? "dup" : "dx";
    of_output = layout;
    m.test.in_place = {output, name};
  }
  for (const std::string name : {"dx", "dup"})
    if (name != absent) m.add_output(name, name == output ? of_output : random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  m.pick_params();
}

// Past 2^31 elements and 4 GiB. dx and dup are views of one memory, as x and up are. The gradients are exact before they are
// rounded.
void run(large::Stage& stage, const LargeGated& c) {
  const large::Pattern values = large::random_floats(c.dtype, 1, 8, 0.125), gradients = large::random_floats(c.dtype, 2, 8, 0.125);
  large::Memory& both = stage.memory("x", values, c.elements);
  large::Memory& of_y = stage.memory("dy", gradients, c.y_elements);
  large::Memory& to = stage.unwritten_memory("dx", c.dtype, c.elements);
  const hipops_tensor x = both.view(c.shape, c.stride), up = both.view(c.shape, c.stride, c.up), dy = of_y.view(c.shape, c.y_stride);
  const hipops_tensor dx = to.view(c.shape, c.stride), dup = to.view(c.shape, c.stride, c.up);
  stage.called([&] {
    return hipops_activation_and_mul_backward(&dx, &dup, &dy, &x, &up, HIPOPS_ACTIVATION_RELU, 0, 0, 0, nullptr);
  });
  const auto value = [=](const large::Pattern& of, const hipops_tensor& view, const int64_t* index, int64_t offset) {
    int64_t place = offset;
    for (int d = 0; d < view.rank; ++d) place += index[d] * view.stride[d];
    return decode(c.dtype, of(place));
  };
  const hipops_tensor pairs = to.view({c.shape[0], c.shape[1], 2}, {c.stride[0], c.stride[1], c.up});  // dx, dup
  stage.expect(to, large::elements_are(pairs, 0, to.pattern(), [=](const int64_t* index) {
                 const double gate = value(values, x, index, 0), gradient = value(gradients, dy, index, 0);
                 if (index[2] == 1) return encode(c.dtype, (gate < 0 ? 0 : gate) * gradient);
                 return encode(c.dtype, gate <= 0 ? 0 : value(values, x, index, c.up) * gradient);
               }));
  for (const large::Memory* input : {&both, &of_y}) stage.expect_unchanged(*input);
}

void add_large(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t odd = giant / 402 + 3;
  std::vector<LargeGated> all = large_gated(giant, odd);
  all.push_back({"halves_of_odd_pitch", HIPOPS_F16, {odd, 201}, {409, 1}, {203, 1}, 208, odd * 409, odd * 203});
  add_large_cases("activation_and_mul_backward", all, run, cases);
}

}  // namespace

OpEntry describe_activation_and_mul_backward() {
  OpEntry op = {"activation_and_mul_backward", kActivationDtypes, {{"dx", Role::kData, true}, {"dup", Role::kData, true}}, {{"dy"}, kX, {"up"}}};
  op.params = {kind_param(), {"limit", false, false, {0, 1.5}}, alpha_param(), {"flags", true, false, {0, HIPOPS_UP_PLUS_ONE}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_activation_and_mul_backward, a["dx"], a["dup"], a["dy"], a["x"], a["up"], kind_of(a), a.real("limit"),
                 a.real("alpha"), a.flags(), a.stream());
  };
  op.in_place = {{"dx", {"dy", "x", "up"}}, {"dup", {"dy", "x", "up"}}};
  op.random_case = random_call;
  op.reference = reference;
  op.large_cases = add_large;
  return op;
}

}  // namespace hipops::parity
