#include "parity/ops.h"

#include <algorithm>

#include "runtime/runtime.h"

namespace hipops::parity {

// described_ops.inc has OP(name) for each op; parity/CMakeLists.txt writes it.
#define OP(name) OpEntry describe_##name();  // in parity/ops/
#include "described_ops.inc"
#undef OP

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> ops = {
#define OP(name) describe_##name(),
#include "described_ops.inc"
#undef OP
  };
  return ops;
}

const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name) {
  for (const OpEntry& op : ops) {
    if (name == op.name) return &op;
  }
  return nullptr;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpEntry& op : all_ops()) names.push_back(op.name);
  return names;
}

std::string not_built(const std::string& op) { return "this build has no " + op + " (HIPOPS_OPS)"; }

bool is_built(const OpEntry& op) { return find_image(op.kernels_of == nullptr ? op.name : op.kernels_of) != nullptr; }

const TensorSpec* OpEntry::find_input(const std::string& input) const {
  for (const TensorSpec& spec : inputs) {
    if (input == spec.name) return &spec;
  }
  return nullptr;
}

bool OpEntry::has_role(const std::string& input, Role role) const {
  const TensorSpec* spec = find_input(input);
  return spec != nullptr && spec->role == role;
}

namespace {

size_t data_tensors(const std::vector<TensorSpec>& specs) {
  return static_cast<size_t>(
      std::count_if(specs.begin(), specs.end(), [](const TensorSpec& spec) { return spec.role == Role::kData; }));
}

}  // namespace

size_t OpEntry::data_inputs() const { return data_tensors(inputs); }
size_t OpEntry::data_outputs() const { return data_tensors(outputs); }

Arguments usual_arguments(const OpEntry& op) {
  Arguments arguments;
  for (const ParamSpec& param : op.params) arguments.add_param(param.name, param.usual());
  return arguments;
}

}  // namespace hipops::parity
