#include "fuzz/reference.h"

#include <stdexcept>

#include "fuzz/operand.h"
#include "parity/compare.h"

namespace hipops::fuzz {

const parity::InputTensor* find_input(const parity::Case& test, const std::string& name) {
  for (const parity::InputTensor& input : test.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

Operand input_of(const parity::Case& test, const std::string& name) {
  const parity::InputTensor* input = find_input(test, name);
  if (input == nullptr) throw std::logic_error("a case without " + name);
  return {*input};
}

parity::ExpectedTensor& output_of(parity::Case* test, const std::string& name) {
  for (parity::ExpectedTensor& output : test->outputs) {
    if (output.name == name) return output;
  }
  throw std::logic_error("a case without the output " + name);
}

uint32_t flags_of(const parity::Case& test) {
  const auto found = test.params.find("flags");
  return found == test.params.end() ? 0 : static_cast<uint32_t>(found->second);
}

double tolerance_of(hipops_dtype dtype) { return dtype == HIPOPS_F32 || dtype == HIPOPS_F64 ? 4 : 1; }

void expect_bits(parity::Case* test, const std::string& output, const std::vector<uint64_t>& bits) {
  parity::ExpectedTensor& expected = output_of(test, output);
  if (!parity::is_float(expected.layout.dtype)) {
    expected.bits = bits;
    return;
  }
  expected.sampled = true;
  uint64_t checksum = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    expected.positions.push_back(static_cast<int64_t>(i));
    expected.values.push_back(parity::decode(expected.layout.dtype, bits[i]));
    checksum += bits[i] * parity::checksum_weight(static_cast<int64_t>(i));
  }
  expected.checksum = checksum;
}

void expect(const std::string& op, parity::Case* test) {
  test->tolerance_ulps = 0;
  if (op == "layer_norm") return expect_layer_norm(test);
  if (op == "rms_norm") return expect_rms_norm(test);
  if (op == "fused_add_rms_norm") return expect_fused_add_rms_norm(test);
  if (op == "softmax") return expect_softmax(test);
  if (op == "rope") return expect_rope(test, false, false);
  if (op == "rope_i") return expect_rope(test, true, false);
  if (op == "rope_thd") return expect_rope(test, false, true);
  if (op == "gather") return expect_gather(test);
  if (op == "index_select") return expect_index_select(test);
  if (op == "index_add") return expect_index_add(test);
  if (op == "scatter") return expect_scatter(test);
  if (op == "scatter_add") return expect_scatter_add(test);
  if (op == "upsample_nearest1d") return expect_upsample(test, {"scale"});
  if (op == "upsample_nearest2d") return expect_upsample(test, {"scale_h", "scale_w"});
  if (op == "strided_copy" || op == "copy2d") return expect_copy(test);
  throw std::logic_error("no reference for " + op);
}

}  // namespace hipops::fuzz
