#include "fuzz/golden_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "parity/number.h"

namespace hipops::fuzz {
namespace {

using Json = nlohmann::ordered_json;

Json real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

Json element(hipops_dtype dtype, uint64_t bits) {
  if (parity::is_float(dtype)) return real(parity::decode(dtype, bits));
  int64_t value = 0;
  switch (dtype) {
    case HIPOPS_I8: return static_cast<int8_t>(bits);
    case HIPOPS_I16: return static_cast<int16_t>(bits);
    case HIPOPS_I32: return static_cast<int32_t>(bits);
    case HIPOPS_I64: value = static_cast<int64_t>(bits); return value;
    default: return bits;
  }
}

Json layout_json(const parity::Layout& layout) {
  Json json = {{"dtype", parity::dtype_name(layout.dtype)}, {"shape", layout.shape}};
  parity::Layout plain = layout;
  plain.stride.clear();
  parity::measure(&plain);
  if (layout.stride != plain.stride) json["stride"] = layout.stride;
  if (layout.offset != 0) json["offset"] = layout.offset;
  return json;
}

template <class T, class Turn>
Json list(const std::vector<T>& values, Turn turn) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(turn(value));
  return json;
}

Json input_json(const parity::InputTensor& input) {
  Json json = layout_json(input.layout);
  json["values"] = list(input.bits, [&](uint64_t bits) { return element(input.layout.dtype, bits); });
  return json;
}

Json output_json(const parity::ExpectedTensor& output) {
  Json json = layout_json(output.layout);
  if (output.sampled) json["positions"] = output.positions;
  json["values"] = parity::is_float(output.layout.dtype)
                       ? list(output.values, real)
                       : list(output.bits, [&](uint64_t bits) { return element(output.layout.dtype, bits); });
  if (output.checksum) json["checksum"] = *output.checksum;
  if (!output.scale.empty()) json["scale"] = list(output.scale, real);
  if (output.ulps) json["ulps"] = *output.ulps;
  return json;
}

Json params_json(const parity::OpEntry& op, const parity::Case& test) {
  Json json = Json::object();
  for (const parity::ParamSpec& param : op.params) {
    if (param.optional && test.params.count(param.name) == 0) continue;
    const double value = test.params.at(param.name);
    if (param.integer) {
      json[param.name] = static_cast<int64_t>(value);
    } else {
      json[param.name] = value;
    }
  }
  return json;
}

Json case_json(const parity::OpEntry& op, const parity::Case& test) {
  Json json = {{"name", test.name}, {"dtype", parity::dtype_name(test.dtype)}, {"params", params_json(op, test)}};
  json["inputs"] = Json::object();
  for (const parity::InputTensor& input : test.inputs) json["inputs"][input.name] = input_json(input);
  json["outputs"] = Json::object();
  for (const parity::ExpectedTensor& output : test.outputs) json["outputs"][output.name] = output_json(output);
  if (test.in_place) json["in_place"] = {test.in_place->output, test.in_place->input};
  json["tolerance"] = {{"ulps", test.tolerance_ulps}};
  return json;
}

}  // namespace

std::string golden_text(const parity::OpEntry& op, const std::string& topic, const parity::Case& test) {
  Json json = {{"schema", 1}, {"op", op.name}, {"topic", topic}, {"reference", {{"generator", "hipops-fuzz"}}}};
  json["cases"] = Json::array();
  json["cases"].push_back(case_json(op, test));
  return json.dump() + "\n";
}

}  // namespace hipops::fuzz
