#include "parity/random_case.h"

#include <utility>

#include "parity/random_values.h"
#include "parity/reference.h"

namespace hipops::parity {

const Layout& RandomCase::add(InputTensor tensor) {
  test.inputs.push_back(std::move(tensor));
  return test.inputs.back().layout;
}

const Layout& RandomCase::add_numbers(const std::string& name, const Shape& shape, Use use) {
  return add(random_numbers(choices, name, random_layout(choices, test.dtype, shape, use)));
}

const Layout& RandomCase::add_bits(const std::string& name, const Shape& shape, Use use) {
  return add(random_bits(choices, name, random_layout(choices, test.dtype, shape, use)));
}

const Layout& RandomCase::add_terms(const std::string& name, const Shape& shape, Use use) {
  const Layout& layout = add_numbers(name, shape, use);
  if (test.dtype == HIPOPS_F16) {
    for (uint64_t& bits : test.inputs.back().bits) bits = encode(HIPOPS_F16, decode(HIPOPS_F16, bits) / 16);
  }
  return layout;
}

void RandomCase::add_weight(const std::string& name, hipops_dtype dtype, const Shape& shape) {
  add(random_numbers(choices, name, random_layout(choices, dtype, shape, Use::kSource)));
}

void RandomCase::add_report() {
  if (!choices.one_in(2)) return;
  InputTensor report;
  report.name = "report";
  report.layout = plain_layout(HIPOPS_I64, {2});
  report.bits = {choices.pick<uint64_t>({0, 7}), choices.pick<uint64_t>({~uint64_t{0}, 3})};
  add_output("report", add(report));
}

void RandomCase::add_output(const std::string& name, const Layout& layout) {
  ExpectedTensor output;
  output.name = name;
  output.layout = layout;
  test.outputs.push_back(output);
}

void RandomCase::add_x_and_y(const Shape& shape) {
  const bool in_place = choices.one_in(4);
  const Layout& x = add_numbers("x", shape, in_place ? Use::kOutput : Use::kSource);
  if (!in_place) return add_y(shape);
  add_output("y", x);
  test.in_place = {"y", "x"};
}

void RandomCase::pick_params() {
  for (const ParamSpec& param : op.params)
    if (!param.values.empty()) test.params[param.name] = choices.pick(param.values);
}

size_t RandomCase::pick_dim(const Shape& shape) {
  const size_t dim = choices.below(shape.size());
  test.params["dim"] = static_cast<double>(dim);
  return dim;
}

Case random_case(Choices& choices, const OpEntry& op, int64_t most_elements) {
  RandomCase made{choices, op, {most_elements}, {}};
  made.test.name = "random";
  made.test.dtype = choices.pick(op.dtypes);
  op.random_case(made);
  expect(op, &made.test);
  return made.test;
}

}  // namespace hipops::parity
