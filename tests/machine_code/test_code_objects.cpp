// Every AMD code object has exactly the kernels of its op. They have no scratch memory, and allow the blocks of their
// launches. Their machine code has the instructions that the sources intend.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "machine_code/amd_kernels.h"
#include "catch.h"
#include "fused_add_rms_norm.h"
#include "inspect/code_object.h"
#include "inspect/machine_code.h"
#include "layer_norm.h"
#include "ops.h"
#include "rms_norm.h"
#include "runtime/bundle.h"
#include "softmax.h"

using namespace hipops;
using namespace hipops::inspect;

namespace {

constexpr uint64_t kLargestArguments = 4096;  // bytes that a launch can pass
constexpr uint64_t kLargestBlock = 1024;

std::vector<std::string> targets() {
  std::istringstream words(hip_targets);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string path_of(const std::string& target, const Op& op) {
  return std::string(HIPOPS_CODE_OBJECTS) + "/" + target + "/" + op.name + ".co";
}

CodeObject code_object(const std::string& target, const Op& op) {
  const auto bytes = read_file(path_of(target, op));
  return read_code_object(bytes.data(), bytes.size());
}

// For blocks of 1024 work-items: gfx9 before gfx90a.
bool has_few_registers(const std::string& target) {
  const std::string few[] = {"gfx900", "gfx906", "gfx908", "gfx9-generic"};
  return std::find(std::begin(few), std::end(few), target) != std::end(few);
}

bool has_wave64(const std::string& target) { return target.rfind("gfx9", 0) == 0; }

// The lists of kernels of the row ops.
struct Row {
  uint64_t block, argument_bytes;
  RowBody body;
};
const std::map<std::string, Row>& row_kernels() {
#define ROW_KERNEL(name, T, lanes, vectors, block, layout, body, resident) {#name, {block, sizeof(Args), RowBody::body}},
  static const std::map<std::string, Row> all = [] {
    std::map<std::string, Row> rows;
    {
      using Args = FusedAddRmsNormArgs;
      rows.insert({HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(ROW_KERNEL)});
    }
    {
      using Args = LayerNormArgs;
      rows.insert({HIPOPS_LAYER_NORM_KERNELS(ROW_KERNEL)});
    }
    {
      using Args = RmsNormArgs;
      rows.insert({HIPOPS_RMS_NORM_KERNELS(ROW_KERNEL)});
    }
    {
      using Args = SoftmaxArgs;
      rows.insert({HIPOPS_SOFTMAX_KERNELS(ROW_KERNEL)});
    }
    return rows;
  }();
#undef ROW_KERNEL
  return all;
}

void check_kernel(const Kernel& kernel, const std::string& target) {
  INFO(kernel.name);
  CHECK(kernel.vgprs > 0);  // the kernel is not empty
  CHECK(kernel.scratch_bytes == 0);
  CHECK(kernel.vgpr_spills == 0);
  CHECK(kernel.sgpr_spills == 0);
  CHECK_FALSE(kernel.dynamic_stack);
  CHECK(kernel.wave == (has_wave64(target) ? 64 : 32));
  CHECK(kernel.largest_block >= kernel.wave);
  CHECK(kernel.largest_block <= kLargestBlock);
  CHECK(kernel.largest_block % 64 == 0);

  // One argument, and none that the runtime would add.
  REQUIRE(kernel.arguments.size() == 1);
  CHECK(kernel.arguments[0].kind == "by_value");
  CHECK(kernel.arguments[0].offset == 0);
  CHECK(kernel.argument_bytes == kernel.arguments[0].bytes);
  CHECK(kernel.argument_bytes <= kLargestArguments);

  const auto row = row_kernels().find(kernel.name);
  if (row == row_kernels().end()) return;
  const uint64_t blocks = row->second.body == RowBody::cluster && !has_few_registers(target) ? kBlocksInOne : 1;
  CHECK(kernel.largest_block == blocks * row->second.block);
  CHECK(kernel.argument_bytes == row->second.argument_bytes);
}

std::set<std::string> names_of(const CodeObject& object) {
  std::set<std::string> names;
  for (const Kernel& kernel : object.kernels) names.insert(kernel.name);
  return names;
}

void for_each_code_object(const std::function<void(const Op&, const std::string&)>& check) {
  REQUIRE(op_count > 0);
  REQUIRE_FALSE(targets().empty());
  for (int i = 0; i < op_count; ++i) {
    for (const std::string& target : targets()) {
      INFO(all_ops[i]->name << " for " << target);
      check(*all_ops[i], target);
    }
  }
}

// ---- Machine code
#if defined(HIPOPS_OBJDUMP)

std::set<std::string> mnemonics_of(const Code& code) {
  std::set<std::string> mnemonics;
  for (const Instruction& instruction : code) mnemonics.insert(instruction.mnemonic);
  return mnemonics;
}

bool any_begins(const std::set<std::string>& words, const std::string& beginning) {
  const auto at = words.lower_bound(beginning);
  return at != words.end() && at->rfind(beginning, 0) == 0;
}

// Kernels of aligned rows load and store only 16 bytes at a time.
void check_aligned(const MachineCode& code) {
  for (const auto& [bytes, count] : code.loads) CHECK(bytes == 16);
  CHECK(code.loads.count(16) == 1);
  CHECK(code.stores.count(16) == 1);
}

void check_code(const Kernel& kernel, const std::string& target, const Code& code) {
  INFO(kernel.name);
  const std::set<std::string> mnemonics = mnemonics_of(code);
  const MachineCode figures = machine_code(code, target);
  // The compiler uses a flat access if it does not know the address space. It waits for LDS and memory.
  CHECK(figures.flat == 0);
  // Accesses to scratch. Other instructions with buffer_ control caches.
  CHECK_FALSE(any_begins(mnemonics, "scratch_"));
  for (const char* access : {"buffer_load", "buffer_store", "buffer_atomic"})
    CHECK((kernel.scratch_bytes > 0 || !any_begins(mnemonics, access)));
  // All functions are inlined.
  CHECK(figures.calls == 0);
  CHECK(any_begins(mnemonics, "s_endpgm"));

  if (row_kernels().count(kernel.name) == 0) return;
  // Lanes exchange values without LDS.
  CHECK(figures.bpermute == 0);
  CHECK(figures.swizzle == 0);
  if (kernel.name.find("_aligned_") != std::string::npos) check_aligned(figures);
}

#endif
}  // namespace

TEST_CASE("a code object is for its target and has the op's kernels, no others", "[metadata]") {
  for_each_code_object([](const Op& op, const std::string& target) {
    const CodeObject object = code_object(target, op);
    CHECK(object.target == target);
    CHECK(object.missing == std::vector<std::string>{});
    CHECK(names_of(object) == hipops_test::amd_kernels(op));
    CHECK(object.kernels.size() == names_of(object).size());
  });
}

TEST_CASE("kernels have the registers they need, and their launcher's blocks and arguments", "[metadata]") {
  for_each_code_object([](const Op& op, const std::string& target) {
    for (const Kernel& kernel : code_object(target, op).kernels) check_kernel(kernel, target);
  });
}

TEST_CASE("an op's kernels have the same arguments, on every target", "[metadata]") {
  std::map<std::string, std::set<uint64_t>> bytes;
  for_each_code_object([&](const Op& op, const std::string& target) {
    for (const Kernel& kernel : code_object(target, op).kernels) bytes[kernel.name].insert(kernel.argument_bytes);
  });
  for (const auto& [kernel, sizes] : bytes) {
    INFO(kernel);
    CHECK(sizes.size() == 1);
  }
}

TEST_CASE("the library has the bundles, and the bundles have the code objects", "[metadata]") {
  REQUIRE(image_count == op_count);
  for (int i = 0; i < op_count; ++i) {
    INFO(all_ops[i]->name);
    const auto bytes = read_file(std::string(HIPOPS_CODE_OBJECTS) + "/" + all_ops[i]->name + ".hipfb");
    REQUIRE(is_bundle(bytes.data(), bytes.size()));
    const Image& image = all_images[i];
    CHECK(std::string(image.op) == all_ops[i]->name);
    Bundle bundle;
    REQUIRE(open_bundle(image, &bundle) == HIPOPS_SUCCESS);
    REQUIRE(bundle.size == bytes.size());
    CHECK(std::equal(bytes.begin(), bytes.end(), bundle.bytes));
    std::vector<std::string> carried;
    for (const BundleEntry& entry : read_bundle(bytes.data(), bytes.size())) {
      if (entry.target.empty()) continue;
      carried.push_back(entry.target);
      INFO(all_ops[i]->name << " for " << entry.target);
      const auto alone = read_file(path_of(entry.target, *all_ops[i]));
      CHECK((entry.size == alone.size() && std::equal(alone.begin(), alone.end(), entry.bytes)));
    }
    CHECK(carried == targets());
  }
}

TEST_CASE("damaged bytes are refused", "[reader]") {
  const auto whole = read_file(path_of(targets().front(), *all_ops[0]));
  const auto read = [](const std::vector<unsigned char>& bytes) {
    return read_code_object(bytes.data(), bytes.size());
  };
  REQUIRE_NOTHROW(read(whole));
  SECTION("cut short, at any place up to the metadata's end, and at some later ones") {
    const size_t after = 4096;
    for (size_t size = 0; size < after; size += 7)
      CHECK_THROWS_AS(read({whole.begin(), whole.begin() + size}), CodeObjectError);
    for (size_t size = after; size < whole.size(); size += whole.size() / 50)
      CHECK_THROWS_AS(read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}), CodeObjectError);
  }
  SECTION("any one byte of the first ones changed: read as something, or refused, but nothing worse") {
    size_t refused = 0;
    for (size_t at = 0; at < 2048; ++at) {
      auto changed = whole;
      changed[at] ^= 0xff;
      try {
        read(changed);
      } catch (const CodeObjectError&) {
        ++refused;
      }
    }
    CHECK(refused > 100);
  }
  SECTION("something else") {
    CHECK_THROWS_AS(read({}), CodeObjectError);
    CHECK_THROWS_AS(read(std::vector<unsigned char>(100, 'x')), CodeObjectError);
    CHECK_THROWS_AS(read(read_file("/proc/self/exe")), CodeObjectError);
    CHECK_THROWS_AS(read_bundle(whole.data(), whole.size()), CodeObjectError);
    CHECK_THROWS_AS(read_file("/nowhere/x.co"), CodeObjectError);
  }
}

TEST_CASE("bundles that end too early are refused", "[reader]") {
  const auto whole = read_file(std::string(HIPOPS_CODE_OBJECTS) + "/" + all_ops[0]->name + ".hipfb");
  REQUIRE_NOTHROW(read_bundle(whole.data(), whole.size()));
  for (size_t size = 0; size < 600; ++size) CHECK_THROWS_AS(read_bundle(whole.data(), size), CodeObjectError);
  CHECK_THROWS_AS(read_bundle(whole.data(), whole.size() - 1), CodeObjectError);
}

#if defined(HIPOPS_OBJDUMP)
// One section for each op, so that ctest can run them in parallel.
TEST_CASE("machine code", "[.][disassembly]") {
  for (int i = 0; i < op_count; ++i) {
    DYNAMIC_SECTION(all_ops[i]->name) {
      for (const std::string& target : targets()) {
        INFO(target);
        const Functions code = disassemble(find_objdump(""), path_of(target, *all_ops[i]));
        for (const Kernel& kernel : code_object(target, *all_ops[i]).kernels) {
          REQUIRE(code.count(kernel.name) == 1);
          check_code(kernel, target, code.at(kernel.name));
        }
      }
    }
  }
}
#endif
