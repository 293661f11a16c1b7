#include "parity/reference.h"

#include <stdexcept>

#include "parity/compare.h"

namespace hipops::parity {

void expect(const OpEntry& op, Case* test) {
  test->tolerance_ulps = 0;
  op.reference(test);
}

const InputTensor* find_input(const Case& test, const std::string& name) {
  for (const InputTensor& input : test.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

Operand input_of(const Case& test, const std::string& name) {
  const InputTensor* input = find_input(test, name);
  if (input == nullptr) throw std::logic_error("a case without " + name);
  return {*input};
}

ExpectedTensor* find_output(Case* test, const std::string& name) {
  for (ExpectedTensor& output : test->outputs) {
    if (output.name == name) return &output;
  }
  return nullptr;
}

ExpectedTensor& output_of(Case* test, const std::string& name) {
  if (ExpectedTensor* output = find_output(test, name)) return *output;
  throw std::logic_error("a case without the output " + name);
}

uint32_t flags_of(const Case& test) {
  const auto found = test.params.find("flags");
  return found == test.params.end() ? 0 : static_cast<uint32_t>(found->second);
}

double tolerance_of(hipops_dtype dtype) { return dtype == HIPOPS_F32 || dtype == HIPOPS_F64 ? 4 : 1; }

void expect_bits(Case* test, const std::string& output, const std::vector<uint64_t>& bits) {
  ExpectedTensor& expected = output_of(test, output);
  if (!is_float(expected.layout.dtype)) {
    expected.bits = bits;
    return;
  }
  expected.sampled = true;
  uint64_t checksum = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    expected.positions.push_back(static_cast<int64_t>(i));
    expected.values.push_back(decode(expected.layout.dtype, bits[i]));
    checksum += bits[i] * checksum_weight(static_cast<int64_t>(i));
  }
  expected.checksum = checksum;
}

}  // namespace hipops::parity
