#include "parity/golden.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "parity/golden_json.h"
#include "parity/number.h"

namespace hipops::parity {
namespace {

using namespace golden;

constexpr int64_t kSchema = 1;
constexpr int64_t kMaxOffset = int64_t{1} << 20;  // in elements
constexpr size_t kMaxReason = 400;                // of a message: the JSON parser quotes the text that it refuses

bool role_takes(Role role, hipops_dtype dtype, hipops_dtype case_dtype) {
  if (role == Role::kData) return dtype == case_dtype;
  const bool is_place = dtype == HIPOPS_I64 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32;
  if (role == Role::kResult && is_place) return true;
  if (role == Role::kWeight || role == Role::kResult) return dtype == case_dtype || dtype == HIPOPS_F32;
  if (role == Role::kMask) return dtype == case_dtype || dtype == HIPOPS_F32 || dtype == HIPOPS_U8;
  if (role == Role::kQuantised) return dtype == HIPOPS_I8 || (dtype >= HIPOPS_F8_E4M3FN && dtype <= HIPOPS_F8_E5M2FNUZ);
  if (role == Role::kScalar) return dtype == scalar_dtype(case_dtype);
  if (role == Role::kReport) return dtype == HIPOPS_I64;
  return dtype == HIPOPS_U8 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64 || dtype == HIPOPS_I32 || dtype == HIPOPS_I16;
}

Layout read_layout(const Node& node, Role role, hipops_dtype case_dtype) {
  Layout layout;
  layout.dtype = read_dtype(node.child("dtype"));
  if (!role_takes(role, layout.dtype, case_dtype)) {
    refuse(node.below("dtype"), std::string(dtype_name(layout.dtype)) + " in a case of " + dtype_name(case_dtype));
  }
  layout.shape = read_int64s(node.child("shape"), HIPOPS_MAX_RANK);
  if (role == Role::kReport && (layout.shape != std::vector<int64_t>{2} || node.json.contains("stride"))) {
    refuse(node.path, "a report has shape [2] and no stride");
  }
  if (const auto stride = node.optional_child("stride")) {
    expect_length(*stride, static_cast<int64_t>(layout.shape.size()));
    layout.stride = read_int64s(*stride, HIPOPS_MAX_RANK);
  }
  if (const auto offset = node.optional_child("offset")) {
    layout.offset = read_int64(*offset);
    if (layout.offset < 0 || layout.offset > kMaxOffset) refuse(offset->path, "not in 0 to 2^20");
  }
  const std::string problem = measure(&layout);
  if (!problem.empty()) throw Refusal{node.below(problem)};
  return layout;
}

Generator read_integer_generator(const Node& node, hipops_dtype dtype, Generator::Kind kind) {
  const bool index = kind == Generator::Kind::kIndex;
  expect_keys(node,
              index ? std::vector<std::string>{"kind", "seed", "bound"} : std::vector<std::string>{"kind", "seed"});
  if (is_float(dtype)) refuse(node.below("kind"), std::string("not for ") + dtype_name(dtype));
  Generator generator;
  generator.kind = kind;
  generator.seed = read_seed(node.child("seed"));
  if (!index) return generator;
  const Node bound = node.child("bound");
  const int64_t value = read_int64(bound);
  uint64_t greatest;
  if (value < 1 || value > int64_t{1} << 32) refuse(bound.path, "not in 1 to 2^32");
  if (!encode_integer_exactly(dtype, value - 1, &greatest)) {
    refuse(bound.path, std::string("values out of range for ") + dtype_name(dtype));
  }
  generator.bound = static_cast<uint64_t>(value);
  return generator;
}

Generator read_generator(const Node& node, hipops_dtype dtype) {
  expect_object(node);
  const std::string kind = read_string(node.child("kind"));
  if (kind == "bits") return read_integer_generator(node, dtype, Generator::Kind::kBits);
  if (kind == "index") return read_integer_generator(node, dtype, Generator::Kind::kIndex);
  expect_keys(node, {"kind", "seed", "scale", "shift"});
  Generator generator;
  if (kind == "uniform") {
    generator.kind = Generator::Kind::kUniform;
  } else if (kind == "bell") {
    generator.kind = Generator::Kind::kBell;
  } else if (kind == "constant") {
    generator.kind = Generator::Kind::kConstant;
  } else {
    refuse(node.below("kind"), "unknown generator " + quote(kind));
  }
  // A constant does not use the first two fields, and may omit them.
  const bool constant = generator.kind == Generator::Kind::kConstant;
  if (!constant || node.json.contains("seed")) generator.seed = read_seed(node.child("seed"));
  if (!constant || node.json.contains("scale")) generator.scale = read_finite(node.child("scale"));
  generator.shift = read_finite(node.child("shift"));
  const double reach = generator.reach();
  if (generator.shift + reach > largest(dtype) || generator.shift - reach < lowest(dtype)) {
    refuse(node.path, std::string("values out of range for ") + dtype_name(dtype));
  }
  return generator;
}

InputTensor read_input(const Node& node, const TensorSpec& spec, hipops_dtype case_dtype) {
  expect_keys(node, {"dtype", "shape", "stride", "offset", "values", "generator"});
  InputTensor tensor;
  tensor.name = spec.name;
  tensor.layout = read_layout(node, spec.role, case_dtype);
  const auto values = node.optional_child("values");
  const auto generator = node.optional_child("generator");
  if (values.has_value() == generator.has_value()) refuse(node.path, "needs either values or a generator");
  if (generator) {
    tensor.generator = read_generator(*generator, tensor.layout.dtype);
  } else {
    tensor.bits = read_list<uint64_t>(*values, tensor.layout.elements,
                                      [&](const Node& value) { return read_bits(value, tensor.layout.dtype); });
  }
  return tensor;
}

void read_sample(const Node& node, ExpectedTensor* tensor) {
  tensor->sampled = true;
  const Node positions = node.child("positions");
  expect_array(positions);
  int64_t previous = -1;
  tensor->positions =
      read_list<int64_t>(positions, static_cast<int64_t>(positions.json.size()), [&](const Node& entry) {
        const int64_t position = read_int64(entry);
        if (position < 0 || position >= tensor->layout.elements) refuse(entry.path, "outside the tensor");
        if (position <= previous) refuse(entry.path, "not ascending");
        return previous = position;
      });
  if (const auto checksum = node.optional_child("checksum")) {
    if (!checksum->json.is_number_unsigned()) refuse(checksum->path, "not an integer of 0 to 2^64 - 1");
    tensor->checksum = checksum->json.get<uint64_t>();
    for (const char* key : {"row_checksums", "row_tolerances"}) {
      if (node.json.contains(key)) refuse(node.below(key), "not beside a checksum");
    }
    return;
  }
  if (!is_float(tensor->layout.dtype)) refuse(node.below("checksum"), "missing");
  if (tensor->layout.shape.empty()) refuse(node.below("row_checksums"), "a tensor of rank 0 has no rows");
  const int64_t rows = tensor->layout.rows();
  tensor->row_checksums = read_list<double>(node.child("row_checksums"), rows, read_real);
  tensor->row_tolerances = read_list<double>(node.child("row_tolerances"), rows, read_not_negative);
}

ExpectedTensor read_output(const Node& node, const TensorSpec& spec, hipops_dtype case_dtype) {
  expect_keys(node, {"dtype", "shape", "stride", "offset", "values", "positions", "row_checksums", "row_tolerances",
                     "checksum", "scale", "ulps"});
  ExpectedTensor tensor;
  tensor.name = spec.name;
  tensor.layout = read_layout(node, spec.role, case_dtype);
  const bool sample = node.json.contains("positions") || node.json.contains("row_checksums") ||
                      node.json.contains("row_tolerances") || node.json.contains("checksum");
  if (sample) read_sample(node, &tensor);
  const int64_t count = sample ? static_cast<int64_t>(tensor.positions.size()) : tensor.layout.elements;
  const Node values = node.child("values");
  if (is_float(tensor.layout.dtype)) {
    tensor.values = read_list<double>(values, count, read_real);
  } else {
    tensor.bits =
        read_list<uint64_t>(values, count, [&](const Node& value) { return read_bits(value, tensor.layout.dtype); });
  }
  if (const auto scale = node.optional_child("scale")) {
    if (!is_float(tensor.layout.dtype)) refuse(scale->path, "for float dtypes only");
    tensor.scale = read_list<double>(*scale, count, read_not_negative);
  }
  if (const auto ulps = node.optional_child("ulps")) tensor.ulps = read_not_negative(*ulps);
  return tensor;
}

const TensorSpec* find_spec(const std::vector<TensorSpec>& specs, const std::string& name) {
  for (const TensorSpec& spec : specs) {
    if (name == spec.name) return &spec;
  }
  return nullptr;
}

// Reads an object that has an entry for each required spec and no entry without a spec.
template <typename Tensor, typename Read>
std::vector<Tensor> read_tensors(const Node& node, const std::vector<TensorSpec>& specs, Read read) {
  expect_object(node);
  for (const auto& item : node.json.items()) {
    if (find_spec(specs, item.key()) == nullptr) refuse(node.path, "unknown tensor " + quote(item.key()));
  }
  std::vector<Tensor> tensors;
  for (const TensorSpec& spec : specs) {
    const auto child = node.optional_child(spec.name);
    if (child) {
      tensors.push_back(read(*child, spec));
    } else if (!spec.optional) {
      refuse(node.below(spec.name), "missing");
    }
  }
  return tensors;
}

std::map<std::string, double> read_params(const Node& node, const OpEntry& op) {
  expect_object(node);
  for (const auto& item : node.json.items()) {
    const bool known =
        std::any_of(op.params.begin(), op.params.end(), [&](const ParamSpec& p) { return item.key() == p.name; });
    if (!known) refuse(node.path, "unknown param " + quote(item.key()));
  }
  std::map<std::string, double> params;
  for (const ParamSpec& param : op.params) {
    if (param.optional && !node.json.contains(param.name)) continue;
    const Node value = node.child(param.name);
    if (param.integer) {
      const int64_t whole = read_int64(value);
      if (whole != static_cast<int32_t>(whole)) refuse(value.path, "beyond 32 bits");  // the ops' params are int32_t
      const bool yes_or_no = std::strcmp(param.name, kWorkspaceParam) == 0;
      if (yes_or_no && whole != 0 && whole != 1) refuse(value.path, "neither 0 nor 1");
      params[param.name] = static_cast<double>(whole);
    } else {
      params[param.name] = read_finite(value);
    }
  }
  return params;
}

template <typename Tensor>
const Tensor* find_tensor(const std::vector<Tensor>& tensors, const std::string& name) {
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

bool same_layout(const Layout& a, const Layout& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.stride == b.stride && a.offset == b.offset;
}

InPlace read_in_place(const Node& node, const Case& of) {
  expect_length(node, 2);
  const InPlace pair = {read_string(node.element(0)), read_string(node.element(1))};
  const ExpectedTensor* output = find_tensor(of.outputs, pair.output);
  const InputTensor* input = find_tensor(of.inputs, pair.input);
  if (output == nullptr) refuse(node.path, "no output " + quote(pair.output) + " in this case");
  if (input == nullptr) refuse(node.path, "no input " + quote(pair.input) + " in this case");
  if (of.is_in_out(pair.output) || of.is_in_out(pair.input)) refuse(node.path, "one of the two is input and output");
  if (!same_layout(output->layout, input->layout)) {
    refuse(node.path, "the two differ in dtype, shape, stride or offset");
  }
  return pair;
}

// If the op lists a tensor as input and as output, the case must have both as one tensor, or neither.
void check_in_out(const Node& node, const OpEntry& op, const Case& of) {
  for (const TensorSpec& spec : op.outputs) {
    if (find_spec(op.inputs, spec.name) == nullptr) continue;
    const ExpectedTensor* output = find_tensor(of.outputs, spec.name);
    const InputTensor* input = find_tensor(of.inputs, spec.name);
    if ((output == nullptr) != (input == nullptr)) {
      refuse(node.child(output == nullptr ? "outputs" : "inputs").below(spec.name), "missing");
    }
    if (output != nullptr && !same_layout(output->layout, input->layout)) {
      refuse(node.child("outputs").below(spec.name), "differs from the input in dtype, shape, stride or offset");
    }
  }
}

// Checks the arguments that the op's function cannot check itself.
void check_arguments(const OpEntry& op, const Case& of) {
  if (op.problem == nullptr) return;
  Arguments arguments;
  for (const InputTensor& input : of.inputs) arguments.add_tensor(input.name, view(input.layout, nullptr));
  for (const ExpectedTensor& output : of.outputs) arguments.add_tensor(output.name, view(output.layout, nullptr));
  const std::string problem = op.problem(arguments);
  if (!problem.empty()) throw Refusal{problem};
}

std::string read_case_name(const Node& node) {
  const std::string name = read_string(node.child("name"));
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > 200 || !plain) {
    refuse(node.below("name"), "not 1 to 200 letters, digits, _ and -: " + quote(name));
  }
  return name;
}

Case read_case(const Node& node, const std::string& name, const OpEntry& op) {
  expect_keys(node, {"name", "dtype", "params", "inputs", "outputs", "in_place", "tolerance", "torch_ulps"});
  Case result;
  result.name = name;
  result.dtype = read_dtype(node.child("dtype"));
  if (std::find(op.dtypes.begin(), op.dtypes.end(), result.dtype) == op.dtypes.end()) {
    refuse("dtype", std::string(op.name) + " has no " + dtype_name(result.dtype));
  }
  result.params = read_params(node.child("params"), op);
  result.inputs = read_tensors<InputTensor>(
      node.child("inputs"), op.inputs,
      [&](const Node& child, const TensorSpec& spec) { return read_input(child, spec, result.dtype); });
  result.outputs = read_tensors<ExpectedTensor>(
      node.child("outputs"), op.outputs,
      [&](const Node& child, const TensorSpec& spec) { return read_output(child, spec, result.dtype); });
  check_in_out(node, op, result);
  check_arguments(op, result);
  if (const auto in_place = node.optional_child("in_place")) result.in_place = read_in_place(*in_place, result);
  const Node tolerance = node.child("tolerance");
  expect_keys(tolerance, {"ulps"});
  result.tolerance_ulps = read_not_negative(tolerance.child("ulps"));
  if (const auto torch = node.optional_child("torch_ulps"); torch && !torch->json.is_null()) read_real(*torch);
  return result;
}

// `*current` is the name of the case being read, for the message.
GoldenFile read_file(const Json& json, const std::vector<OpEntry>& ops, std::string* current) {
  const Node top = {json, ""};
  expect_keys(top, {"schema", "op", "topic", "reference", "cases"});
  if (read_int64(top.child("schema")) != kSchema) refuse("schema", "not " + std::to_string(kSchema));
  GoldenFile file;
  file.op = read_string(top.child("op"));
  const OpEntry* op = find_op(ops, file.op);
  if (op == nullptr) refuse("op", "unknown op " + quote(file.op));
  file.topic = read_string(top.child("topic"));
  const auto& topics = all_topics();
  if (std::find(topics.begin(), topics.end(), file.topic) == topics.end())
    refuse("topic", "unknown topic " + quote(file.topic));
  expect_object(top.child("reference"));
  const Node cases = top.child("cases");
  expect_array(cases);
  std::set<std::string> names;
  for (size_t i = 0; i < cases.json.size(); ++i) {
    const Node entry = cases.element(i);
    expect_object(entry);
    const std::string name = read_case_name(entry);
    *current = name;
    if (!names.insert(name).second) refuse("name", "another case has it");
    file.cases.push_back(read_case({entry.json, ""}, name, *op));
    current->clear();
  }
  return file;
}

}  // namespace

uint64_t InputTensor::element(int64_t position) const {
  if (!generator) return bits[static_cast<size_t>(position)];
  if (generator->for_integers()) return generator->bits(static_cast<uint64_t>(position)) & low_bits(layout.dtype);
  return encode(layout.dtype, generator->value(static_cast<uint64_t>(position)));
}

bool Case::is_in_out(const std::string& tensor) const {
  return find_tensor(inputs, tensor) != nullptr && find_tensor(outputs, tensor) != nullptr;
}

GoldenError::GoldenError(std::string file, std::string case_name, std::string reason)
    : std::runtime_error(file + (case_name.empty() ? "" : ": case " + case_name) + ": " + reason),
      file_(std::move(file)),
      case_name_(std::move(case_name)),
      reason_(std::move(reason)) {}

const std::vector<std::string>& all_topics() {
  static const std::vector<std::string> topics = {"smoke", "exact", "adversarial", "layouts",
                                                  "sizes", "large", "indices"};
  return topics;
}

GoldenFile read_golden(std::string_view text, const std::string& file, const std::vector<OpEntry>& ops) {
  std::string current;
  try {
    GoldenFile result = read_file(parse(text), ops, &current);
    result.path = file;
    return result;
  } catch (const Refusal& refusal) {
    throw GoldenError(file, current, printable(refusal.reason, kMaxReason));
  }
}

}  // namespace hipops::parity
