// Each kernels/<op>.hip builds alone with a distribution's hipcc, by the command in its first comment. An old compiler
// knows both targets, one for each wave size. Optimization is reduced. For the second target, and for row ops except
// softmax, the compiler stops before the optimizer, which needs minutes for many kernels.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "machine_code/amd_kernels.h"
#include "catch.h"
#include "run.h"
#include "inspect/code_object.h"
#include "ops.h"

using namespace hipops;
using namespace hipops::inspect;
using namespace hipops_test;

namespace {

const char *const kBuilt = "gfx90a", *const kParsed = "gfx1030";

std::ifstream source_of(const std::string& op) { return std::ifstream(std::string(HIPOPS_SOURCE) + "/kernels/" + op + ".hip"); }

bool is_only_parsed(const std::string& op) {
  std::ifstream file = source_of(op);
  for (std::string line; op != "softmax" && std::getline(file, line);) {
    if (line.rfind("#include \"device/rows/", 0) == 0) return true;
  }
  return false;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  return text.replace(at, what.size(), by);
}

// The command of the comment: "// Alone: hipcc ... -o <op>.co".
std::string documented_command(const std::string& op) {
  const std::string mark = "// Alone: ";
  std::ifstream file = source_of(op);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(mark, 0) == 0) return line.substr(mark.size());
  }
  FAIL("kernels/" << op << ".hip does not say how to build it alone");
  return {};
}

std::string command_for(const std::string& op, const std::string& target, const char* options,
                        const std::string& output) {
  std::string command = documented_command(op);
  command = replaced(command, "hipcc ", "'" HIPOPS_HIPCC "' ");
  command = replaced(command, "--offload-arch=gfx942", "--offload-arch=" + target);
  command = replaced(command, " -O3 ", options);
  return replaced(command, " -o " + op + ".co", " -o '" + output + "'");
}

Run run(const std::string& command) { return run_command("cd '" HIPOPS_SOURCE "' && { " + command + "; }"); }

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "hipops-single-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

CodeObject only_entry(const std::string& path, const std::string& target) {
  const auto bytes = read_file(path);
  if (!is_bundle(bytes.data(), bytes.size())) return read_code_object(bytes.data(), bytes.size());
  for (const BundleEntry& entry : read_bundle(bytes.data(), bytes.size())) {
    if (entry.target == target) return read_code_object(entry.bytes, entry.size);
  }
  FAIL(path << " has nothing for " << target);
  return {};
}

// "define ... amdgpu_kernel void @name(...".
std::set<std::string> kernels_in_text(const std::string& path) {
  const std::string mark = " amdgpu_kernel void @";
  std::set<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(mark);
    if (line.rfind("define ", 0) != 0 || at == std::string::npos) continue;
    const size_t begin = at + mark.size();
    names.insert(line.substr(begin, line.find('(', begin) - begin));
  }
  return names;
}

std::set<std::string> names_of(const CodeObject& object) {
  std::set<std::string> names;
  for (const Kernel& kernel : object.kernels) names.insert(kernel.name);
  return names;
}

// An old compiler may spill registers. The test prints this, but does not fail.
void mention_scratch(const CodeObject& object, const std::string& target) {
  for (const Kernel& kernel : object.kernels) {
    if (kernel.scratch_bytes > 0 || kernel.sgpr_spills > 0)
      std::printf("%s for %s: %llu bytes of scratch, %llu VGPRs and %llu SGPRs spilt\n", kernel.name.c_str(),
                  target.c_str(), static_cast<unsigned long long>(kernel.scratch_bytes),
                  static_cast<unsigned long long>(kernel.vgpr_spills),
                  static_cast<unsigned long long>(kernel.sgpr_spills));
  }
}

void check_compiles(const std::string& command) {
  INFO(command);
  const Run outcome = run(command);
  INFO(outcome.words);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.words.find("warning:") == std::string::npos);
}

void check_op(const Op& op) {
  const Folder folder;
  const std::string output = folder.path / (std::string(op.name) + ".co");
  const std::set<std::string> names = hipops_test::amd_kernels(op);
  const auto check_parses = [&](const char* target) {
    check_compiles(command_for(op.name, target, " -emit-llvm -S -O0 -Xclang -disable-llvm-passes ", output));
    CHECK(kernels_in_text(output) == names);
  };
  check_parses(kParsed);
  if (is_only_parsed(op.name)) return check_parses(kBuilt);
  check_compiles(command_for(op.name, kBuilt, " -O1 ", output));
  const CodeObject object = only_entry(output, kBuilt);
  CHECK(names_of(object) == names);
  CHECK(object.missing == std::vector<std::string>{});
  for (const Kernel& kernel : object.kernels) {
    INFO(kernel.name);
    CHECK_FALSE(kernel.dynamic_stack);
  }
  mention_scratch(object, kBuilt);
}

}  // namespace

// One section for each op, so that ctest can run them in parallel.
TEST_CASE("a kernel file builds alone") {
  REQUIRE(op_count > 0);
  for (int i = 0; i < op_count; ++i) {
    DYNAMIC_SECTION(all_ops[i]->name) { check_op(*all_ops[i]); }
  }
}
