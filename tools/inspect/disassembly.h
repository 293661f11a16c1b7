// Machine code as text: what llvm-objdump prints of a code object, taken apart into instructions.
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
  std::optional<uint64_t> target;  // the address that a branch goes to

  bool is(const char* beginning) const { return mnemonic.rfind(beginning, 0) == 0; }
};

using Code = std::vector<Instruction>;       // of one function, by address
using Functions = std::map<std::string, Code>;  // by name

class DisassemblyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the output of `llvm-objdump -d --no-show-raw-insn`. Lines that are no instructions are passed over.
Functions parse_disassembly(std::istream& text);

// The disassembler to use: `wanted` if it is not empty, else HIPOPS_OBJDUMP of the environment, else the one that
// belongs to the compiler that the library was built with. Throws DisassemblyError if there is none.
std::string find_objdump(const std::string& wanted);

// Runs `objdump` on a file. Throws DisassemblyError if it cannot be run, fails, or finds no code.
Functions disassemble(const std::string& objdump, const std::string& path);

// The same for bytes, by way of a temporary file.
Functions disassemble(const std::string& objdump, const unsigned char* bytes, size_t size);

}  // namespace hipops::inspect
