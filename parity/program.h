// What the tools have in common as programs: how they end, the files that they write, the commands that they print.
// hipops-inspect has it without the rest of parity.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace hipops::parity {

constexpr int kExitPassed = 0;
constexpr int kExitMismatch = 1;
constexpr int kExitUsage = 2;
constexpr int kExitNoDevice = 77;

// A file for the result of a run; "-" is stdout, and what is printed from then on goes to stderr. A regular file is written
// aside and renamed, so that a run that is killed leaves no half of one, and no empty one.
class OutputFile {
 public:
  // Before the run, which need not be done to learn that the file cannot be written, and before anything is printed; ""
  // for none. What the file holds stays there until write(). Throws std::invalid_argument, also where stdout goes to
  // that file: both would write from its begin.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns whether all of it was written; says on stderr if it was not.
  bool write(const std::string& text);

 private:
  void open_stdout();
  bool write_aside(const std::string& text);

  const std::string path_;
  std::string target_;         // of the rename: the file that path_ leads to; "" where file_ is written
  std::FILE* file_ = nullptr;  // open from the begin: stdout, a device, a file in a folder that takes no other
};

// How a program ends that would end with `exit_code`, now that all has been printed: not with 0 where stdout did not
// take all of it.
int after_printing(int exit_code);

// The ops that have kernels, built or not.
std::vector<std::string> library_ops();

// Fit for a shell: quoted where it has to be.
std::string shell_quote(const std::string& text);

}  // namespace hipops::parity
