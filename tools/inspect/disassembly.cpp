#include "inspect/disassembly.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "parity/program.h"

namespace hipops::inspect {
namespace {

constexpr uint64_t kWord = 4;  // bytes. The distance of a branch is a number of words from its own end
constexpr int kNotFound = 127;  // a shell's exit status for a command that it cannot find

std::string trimmed(const std::string& text) {
  const char* blank = " \t\r";
  const size_t begin = text.find_first_not_of(blank);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// "000000000000d900 <name>:", with the address or without.
std::optional<std::string> function_name(const std::string& line) {
  const size_t begin = line.find('<');
  if (begin == std::string::npos || line.size() < begin + 3 || line.compare(line.size() - 2, 2, ">:") != 0) return {};
  if (line.find_first_not_of("0123456789abcdefABCDEF ") != begin) return {};
  return line.substr(begin + 1, line.size() - begin - 3);
}

bool is_branch(const std::string& mnemonic) {
  return mnemonic == "s_branch" || mnemonic.rfind("s_cbranch_", 0) == 0;
}

// "mnemonic operands   // 00000000D900: ..."
std::optional<Instruction> instruction(const std::string& line) {
  const size_t comment = line.find("//");
  if (comment == std::string::npos) return {};
  Instruction found;
  char* end = nullptr;
  const char* address = line.c_str() + comment + 2;
  found.address = std::strtoull(address, &end, 16);
  if (end == address || *end != ':') return {};
  const std::string text = trimmed(line.substr(0, comment));
  const size_t space = text.find_first_of(" \t");
  found.mnemonic = text.substr(0, space);
  if (found.mnemonic.empty()) return {};
  if (space != std::string::npos) found.operands = trimmed(text.substr(space));
  if (is_branch(found.mnemonic)) {
    // The operand is the distance in words, a signed number of 16 bits printed as an unsigned one.
    const long distance = std::strtol(found.operands.c_str(), &end, 0);
    if (end == found.operands.c_str()) throw DisassemblyError("a branch without a distance: " + text);
    found.target = found.address + kWord + kWord * static_cast<uint64_t>(int64_t{static_cast<int16_t>(distance)});
  }
  return found;
}

class TemporaryFile {
 public:
  TemporaryFile() : TemporaryFile(nullptr, 0) {}
  TemporaryFile(const unsigned char* bytes, size_t size) {
    path_ = (std::filesystem::temp_directory_path() / "hipops-inspect-XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw DisassemblyError("cannot make a temporary file as " + path_);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(descriptor, "wb"), std::fclose);
    if (std::fwrite(bytes, 1, size, file.get()) == size && std::fflush(file.get()) == 0) return;
    unlink(path_.c_str());
    throw DisassemblyError("cannot write " + path_);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Functions parse_disassembly(std::istream& text) {
  Functions functions;
  Code* code = nullptr;
  for (std::string line; std::getline(text, line);) {
    if (const auto name = function_name(line)) {
      code = &functions[*name];
    } else if (auto found = instruction(line); found && code != nullptr) {
      code->push_back(std::move(*found));
    }
  }
  return functions;
}

std::string find_objdump(const std::string& option) {
  if (!option.empty()) return option;
  const char* named = std::getenv("HIPOPS_OBJDUMP");
  if (named != nullptr && *named != '\0') return named;
#if defined(HIPOPS_BUILT_WITH_OBJDUMP)
  return HIPOPS_BUILT_WITH_OBJDUMP;
#else
  throw DisassemblyError(
      "no disassembler: the build found no llvm-objdump beside its compiler; name one by --objdump or HIPOPS_OBJDUMP");
#endif
}

Functions disassemble(const std::string& objdump, const std::string& path) {
  // The disassembler writes to a file. With a pipe, the two processes would wake each other for every line, for half of
  // the time.
  const TemporaryFile output;
  const int status = std::system((parity::shell_quote(objdump) + " -d --no-show-raw-insn " + parity::shell_quote(path) +
                                  " > " + parity::shell_quote(output.path()))
                                     .c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    throw DisassemblyError("cannot run " + objdump + ": name an llvm-objdump by --objdump or HIPOPS_OBJDUMP");
  if (status != 0) throw DisassemblyError(objdump + " failed on " + path);
  std::ifstream text(output.path());
  Functions functions = parse_disassembly(text);
  if (functions.empty()) throw DisassemblyError(objdump + " shows no machine code in " + path);
  return functions;
}

Functions disassemble(const std::string& objdump, const unsigned char* bytes, size_t size) {
  return disassemble(objdump, TemporaryFile(bytes, size).path());
}

}  // namespace hipops::inspect
