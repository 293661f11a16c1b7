#include "parity/program.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "capi/ops.h"

namespace hipops::parity {
namespace {

constexpr const char* kStdout = "-";

// What stdout was when the program began.
int first_stdout = STDOUT_FILENO;

std::string cannot_write(const std::string& path) {
  return "cannot write " + (path == kStdout ? "stdout" : path) + ": " + std::strerror(errno);
}

bool is_stdout(std::FILE* file) {
  struct stat own, of_stdout;
  return fstat(fileno(file), &own) == 0 && fstat(first_stdout, &of_stdout) == 0 && S_ISREG(own.st_mode) &&
         own.st_dev == of_stdout.st_dev && own.st_ino == of_stdout.st_ino;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (path_ == kStdout) {
    open_stdout();
    return;
  }
  is_new_ = access(path_.c_str(), F_OK) != 0;
  file_ = std::fopen(path_.c_str(), "ab");
  if (file_ == nullptr) throw std::invalid_argument(cannot_write(path_));
  if (!is_stdout(file_)) return;
  std::fclose(file_);
  throw std::invalid_argument("cannot write " + path_ + ": stdout goes there, expected a file of its own");
}

// The report alone goes there: what is printed for people would make a pipe's reader stumble.
void OutputFile::open_stdout() {
  std::fflush(stdout);
  first_stdout = dup(STDOUT_FILENO);
  const int own = dup(STDOUT_FILENO);
  file_ = own < 0 ? nullptr : fdopen(own, "wb");
  if (file_ == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw std::invalid_argument(cannot_write(path_));
}

// A file that is there only because of us, and that the run came to nothing for, goes.
OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (is_new_) unlink(path_.c_str());
}

bool OutputFile::write(const std::string& text) {
  if (file_ == nullptr) return true;
  // What is no regular file has nothing to be cut, and says so.
  bool good = path_ == kStdout || ftruncate(fileno(file_), 0) == 0 || errno == EINVAL;
  good = good && std::fwrite(text.data(), 1, text.size(), file_) == text.size();
  good = std::fclose(file_) == 0 && good;
  file_ = nullptr;
  if (!good) std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, cannot_write(path_).c_str());
  return good;
}

int after_printing(int exit_code) {
  if (std::fflush(stdout) == 0) {
    if (std::ferror(stdout) == 0) return exit_code;
    errno = EIO;  // what it was, an earlier write knew
  }
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, cannot_write(kStdout).c_str());
  return exit_code == kExitPassed ? kExitUsage : exit_code;
}

std::vector<std::string> library_ops() {
  std::vector<std::string> names;
  for (int i = 0; i < op_count; ++i) names.push_back(all_ops[i]->name);
  return names;
}

std::string shell_quote(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace hipops::parity
