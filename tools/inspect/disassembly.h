// Parses the output of llvm-objdump for a code object into instructions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hipops::inspect {

struct Instruction {
  uint64_t address = 0;
  std::string mnemonic;
  std::string operands;
  std::optional<uint64_t> target;  // the address that a branch jumps to

  bool is(const char* beginning) const { return mnemonic.rfind(beginning, 0) == 0; }
};

using Code = std::vector<Instruction>;       // of one function, by address
using Functions = std::map<std::string, Code>;  // by name

class DisassemblyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the output of `llvm-objdump -d --no-show-raw-insn`. Other lines than instructions are ignored.
Functions parse_disassembly(std::istream& text);

// The disassembler to use: `option` if it is not empty, otherwise HIPOPS_OBJDUMP of the environment, otherwise the
// disassembler of the compiler that built the library. Throws DisassemblyError if there is none.
std::string find_objdump(const std::string& option);

// Runs `objdump` on a file. Throws DisassemblyError if it cannot be run, fails, or finds no code.
Functions disassemble(const std::string& objdump, const std::string& path);

// The same for bytes, with a temporary file.
Functions disassemble(const std::string& objdump, const unsigned char* bytes, size_t size);

}  // namespace hipops::inspect
