#include "parity/program.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "capi/ops.h"

namespace hipops::parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStdout = "-";

// A copy of the first stdout.
int first_stdout = STDOUT_FILENO;

std::string cannot_write(const std::string& path) {
  return "cannot write " + (path == kStdout ? "stdout" : path) + ": " + std::strerror(errno);
}

bool is_stdout(const struct stat& file) {
  struct stat of_stdout;
  return fstat(first_stdout, &of_stdout) == 0 && S_ISREG(file.st_mode) && file.st_dev == of_stdout.st_dev &&
         file.st_ino == of_stdout.st_ino;
}

// The file at the end of a path's links that a rename would replace or create. "" if its folder refuses a new file, or
// if another user owns the file: a rename would change the owner.
std::string replaceable(const std::string& path, const struct stat* there) {
  std::error_code error;
  const fs::path target = there ? fs::canonical(path, error) : fs::path(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!there && fs::is_symlink(fs::symlink_status(path, error))) return "";  // the link's target does not exist yet
  if (there && (!S_ISREG(there->st_mode) || there->st_uid != geteuid() || access(target.c_str(), W_OK) != 0)) return "";
  return access((folder / ".").c_str(), W_OK | X_OK) == 0 ? target.string() : "";
}

// The permissions of the file that is replaced, or of a new file of this process.
mode_t permissions(const std::string& path) {
  struct stat replaced;
  if (stat(path.c_str(), &replaced) == 0) return replaced.st_mode & 07777;
  const mode_t hidden = umask(0);
  umask(hidden);
  return 0666 & ~hidden;
}

bool put(const std::string& text, std::FILE* file) {
  const bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && good;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (path_ == kStdout) {
    open_stdout();
    return;
  }
  struct stat there;
  const bool exists = stat(path_.c_str(), &there) == 0;
  if (exists && is_stdout(there))
    throw std::invalid_argument("cannot write " + path_ + ": stdout is the same file, expected another one");
  target_ = replaceable(path_, exists ? &there : nullptr);
  if (!target_.empty()) return;
  file_ = std::fopen(path_.c_str(), "ab");
  if (file_ == nullptr) throw std::invalid_argument(cannot_write(path_));
}

// Only the report is written to stdout. Messages for people would break the reader of a pipe.
void OutputFile::open_stdout() {
  std::fflush(stdout);
  first_stdout = dup(STDOUT_FILENO);
  const int own = dup(STDOUT_FILENO);
  file_ = own < 0 ? nullptr : fdopen(own, "wb");
  if (file_ == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw std::invalid_argument(cannot_write(path_));
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

bool OutputFile::write(const std::string& text) {
  if (path_.empty()) return true;
  bool good = false;
  if (!target_.empty()) {
    good = write_aside(text);
  } else {
    // A file that is not regular cannot be truncated, and returns EINVAL.
    good = path_ == kStdout || ftruncate(fileno(file_), 0) == 0 || errno == EINVAL;
    good = put(text, file_) && good;
    file_ = nullptr;
  }
  if (!good) std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, cannot_write(path_).c_str());
  return good;
}

bool OutputFile::write_aside(const std::string& text) {
  std::string aside = (fs::path(target_).parent_path() / ".hipops.XXXXXX").string();
  const int descriptor = mkstemp(aside.data());
  if (descriptor < 0) return false;
  bool good = fchmod(descriptor, permissions(target_)) == 0;
  good = put(text, fdopen(descriptor, "wb")) && good;
  if (good && rename(aside.c_str(), target_.c_str()) == 0) return true;
  const int reason = errno;
  unlink(aside.c_str());
  // A file that is a mount point, for example in a container, cannot be replaced.
  std::FILE* file = good && reason == EBUSY ? std::fopen(target_.c_str(), "wb") : nullptr;
  if (file != nullptr) return put(text, file);
  errno = reason;
  return false;
}

int after_printing(int exit_code) {
  if (std::fflush(stdout) == 0) {
    if (std::ferror(stdout) == 0) return exit_code;
    errno = EIO;  // an earlier write failed; its errno is lost
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
