// If a target has an instruction that adds to memory, kernels use it instead of a loop of compare-and-swap.
// docs/ops/scatter_add.md has the same table.
#include <iterator>
#include <sstream>

#include "catch.h"
#include "inspect/code_object.h"
#include "inspect/machine_code.h"
#include "ops.h"

using namespace hipops;
using namespace hipops::inspect;

namespace {

bool begins(const std::string& text, const std::string& beginning) { return text.rfind(beginning, 0) == 0; }

std::vector<std::string> words(const std::string& text, char between) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, between);) parts.push_back(part);
  return parts;
}

// The names of the instruction that adds to elements of a type, on each generation.
std::vector<std::string> names_of_add(const std::string& type) {
  if (type == "u32") return {"global_atomic_add", "global_atomic_add_u32"};
  if (type == "u64") return {"global_atomic_add_x2", "global_atomic_add_u64"};
  if (type == "f32" || type == "f64") return {"global_atomic_add_" + type};
  if (type == "f16" || type == "bf16") return {"global_atomic_pk_add_" + type};
  return {};  // bytes
}

bool has_add(const std::string& target, const std::string& type) {
  const bool gfx90a = target == "gfx90a";
  const bool gfx94 = begins(target, "gfx94") || target == "gfx950" || target == "gfx9-4-generic";
  const bool gfx11 = begins(target, "gfx11"), gfx12 = begins(target, "gfx12");
  if (type == "u32" || type == "u64") return true;
  if (type == "f32") return gfx90a || gfx94 || gfx11 || gfx12;
  if (type == "f64") return gfx90a || gfx94;
  if (type == "f16") return gfx90a || gfx94 || gfx12;
  if (type == "bf16") return gfx94 || gfx12;
  return false;
}

// The type of the sums, from the kernel's name: "scatter_add_f16_atomic" adds to elements of y,
// "scatter_add_f16_f32_atomic" to sums in f32. "scatter_add_uniform" and "scatter_add_claim" add to nothing.
std::string sum_type(const std::string& kernel) {
  const std::vector<std::string> parts = words(kernel.substr(std::string("scatter_add_").size()), '_');
  if (parts.size() == 1) return "";
  const std::string type = parts[1] == "f32" ? parts[1] : parts[0];
  REQUIRE((type == "u8" || !names_of_add(type).empty()));
  return type;
}

unsigned count_of(const MachineCode& code, const std::vector<std::string>& names) {
  unsigned count = 0;
  for (const std::string& name : names) {
    const auto found = code.atomics.find(name);
    if (found != code.atomics.end()) count += found->second;
  }
  return count;
}

void check_scatter_add(const std::string& kernel, const std::string& target, const MachineCode& code) {
  const std::string type = sum_type(kernel);
  if (type.empty() || has_add(target, type)) CHECK(code.compare_swap_loops == 0);
  if (kernel.find("_atomic") == std::string::npos) return;
  if (has_add(target, type)) {
    CHECK(count_of(code, names_of_add(type)) > 0);
  } else {
    CHECK(code.compare_swap_loops > 0);
  }
}

const Op& op_named(const std::string& name) {
  for (int i = 0; i < op_count; ++i) {
    if (all_ops[i]->name == name) return *all_ops[i];
  }
  FAIL("no op " << name);
  return *all_ops[0];
}

}  // namespace

TEST_CASE("no compare-and-swap loop on targets with an atomic add") {
  const std::string op = GENERATE(as<std::string>(), "scatter_add", "scatter", "index_add");
  for (const std::string& target : words(hip_targets, ' ')) {
    const std::string path = std::string(HIPOPS_CODE_OBJECTS) + "/" + target + "/" + op + ".co";
    const Functions functions = disassemble(find_objdump(""), path);
    for (int k = 0; k < op_named(op).kernel_count; ++k) {
      const std::string kernel = op_named(op).kernel_names[k];
      INFO(kernel << " for " << target);
      REQUIRE(functions.count(kernel) == 1);
      const MachineCode code = machine_code(functions.at(kernel), target);
      if (op == "scatter_add") {
        check_scatter_add(kernel, target, code);
      } else {
        CHECK(code.compare_swap_loops == 0);  // these kernels add only counts
      }
    }
  }
}
