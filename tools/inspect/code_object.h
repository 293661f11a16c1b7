// Reads the metadata of an AMD code object: its target, and its kernels with their registers and memory. It needs no
// LLVM: the metadata is msgpack in an ELF note.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hipops::inspect {

struct Argument {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string kind;  // as "by_value", "global_buffer". "hidden_..." for arguments that the runtime adds
};

// One kernel. Registers are counted for a lane (VGPRs, AGPRs) or a wave (SGPRs).
struct Kernel {
  std::string name;
  std::vector<Argument> arguments;
  uint64_t argument_bytes = 0;
  uint64_t argument_align = 0;
  uint64_t largest_block = 0;  // work-items
  uint64_t wave = 0;           // lanes
  uint64_t vgprs = 0;
  std::optional<uint64_t> agprs;  // only CDNA has them
  uint64_t sgprs = 0;
  uint64_t vgpr_spills = 0;
  uint64_t sgpr_spills = 0;
  uint64_t scratch_bytes = 0;  // for a lane
  uint64_t lds_bytes = 0;      // for a block, without the bytes that a launch adds
  bool dynamic_stack = false;  // it needs an unknown amount of scratch in addition
};

struct CodeObject {
  std::string target;    // as "gfx942" or "gfx9-4-generic", with its features if it has any: "gfx90a:xnack+"
  unsigned version = 0;  // of the format: 4, 5, 6
  std::vector<Kernel> kernels;
  std::vector<std::string> missing;  // undefined symbols

  const Kernel* find(const std::string& name) const;  // null without such a kernel
};

// what() is the error in the bytes.
class CodeObjectError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads one code object, an ELF file. For wrong bytes of any kind it throws CodeObjectError.
CodeObject read_code_object(const unsigned char* bytes, size_t size);

// One entry of a clang offload bundle. The bytes belong to the bundle.
struct BundleEntry {
  std::string id;      // as "hipv4-amdgcn-amd-amdhsa--gfx942"
  std::string target;  // as "gfx942"; "" for the host's entry
  const unsigned char* bytes = nullptr;
  size_t size = 0;
};

bool is_bundle(const unsigned char* bytes, size_t size);

// Throws CodeObjectError, also for a compressed bundle.
std::vector<BundleEntry> read_bundle(const unsigned char* bytes, size_t size);

// The whole of a file. Throws CodeObjectError.
std::vector<unsigned char> read_file(const std::string& path);

}  // namespace hipops::inspect
