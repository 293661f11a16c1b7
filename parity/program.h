// For all tools: exit codes, files that they write, commands that they print. hipops-inspect is linked with this file,
// and without the rest of parity.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace hipops::parity {

constexpr int kExitPassed = 0;
constexpr int kExitMismatch = 1;
constexpr int kExitUsage = 2;
constexpr int kExitNoDevice = 77;

// A file for the result of a run. "-" is stdout; all other prints then move to stderr. A regular file is written under
// another name and renamed, so a killed run leaves no partial file.
class OutputFile {
 public:
  // Make it before the run and before the first print, so that an unwritable file wastes no run. "" means no file. The
  // old contents stay until write(). Throws std::invalid_argument, also if stdout is the same file.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns whether all of it was written, or prints a message to stderr.
  bool write(const std::string& text);

 private:
  void open_stdout();
  bool write_aside(const std::string& text);

  const std::string path_;
  std::string target_;         // the file that is replaced; "" if file_ is written directly
  std::FILE* file_ = nullptr;  // stdout, a device, or a file in a folder that refuses a new file
};

// The exit code after all prints: `exit_code`, but not 0 if a write to stdout failed.
int after_printing(int exit_code);

// The ops that have kernels, built or not.
std::vector<std::string> library_ops();

// The text as a word of a shell, quoted if necessary.
std::string shell_quote(const std::string& text);

}  // namespace hipops::parity
