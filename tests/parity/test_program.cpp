// Files and progress messages of all tools.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "catch.h"
#include "parity/program.h"
#include "parity/terminal.h"

using namespace hipops::parity;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    char path[] = "/tmp/hipops-program-XXXXXX";
    REQUIRE(mkdtemp(path) != nullptr);
    path_ = path;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_)) all.push_back(entry.path().filename());
    return all;
  }

 private:
  fs::path path_;
};

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat file;
  REQUIRE(stat(path.c_str(), &file) == 0);
  return file.st_mode & 07777;
}

// Runs `body` with stderr in the file.
template <class Body>
void on_stderr(int descriptor, Body body) {
  const int own = dup(STDERR_FILENO);
  REQUIRE(dup2(descriptor, STDERR_FILENO) >= 0);
  body();
  dup2(own, STDERR_FILENO);
  close(own);
}

}  // namespace

TEST_CASE("a report replaces its file when it is complete, and not before", "[parity][report]") {
  const Folder folder;
  const std::string path = folder / "report";
  { OutputFile unwritten(path); }
  CHECK(folder.names().empty());
  {
    OutputFile file(path);
    CHECK(folder.names().empty());  // a killed run leaves no file
    CHECK(file.write("a long report"));
  }
  CHECK(text_of(path) == "a long report");
  { OutputFile unwritten(path); }
  CHECK(text_of(path) == "a long report");
  CHECK(OutputFile(path).write("another"));
  CHECK(text_of(path) == "another");
  CHECK(folder.names() == std::vector<std::string>{"report"});

  CHECK(OutputFile("").write("nowhere"));
  CHECK_THROWS_AS(OutputFile(path + "/under"), std::invalid_argument);
  CHECK_THROWS_AS(OutputFile(folder / "absent/report"), std::invalid_argument);
  CHECK_THROWS_AS(OutputFile(folder / ""), std::invalid_argument);
  CHECK_FALSE(OutputFile("/dev/full").write("no room"));
  CHECK(OutputFile("/dev/null").write("gone"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a reader of the old report can read all of it while the new one is written", "[parity][report]") {
  const Folder folder;
  const std::string path = folder / "report";
  std::ofstream(path) << "old";
  std::ifstream reader(path);
  CHECK(OutputFile(path).write("new"));
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
  CHECK(text_of(path) == "new");
}

TEST_CASE("a report keeps the permissions and the links of the old file", "[parity][report]") {
  const Folder folder;
  const std::string path = folder / "report", link = folder / "link";
  const mode_t before = umask(027);
  CHECK(OutputFile(path).write("new"));
  umask(before);
  CHECK(mode_of(path) == 0640);
  fs::permissions(path, fs::perms(0604));
  fs::create_symlink("report", link);
  CHECK(OutputFile(link).write("by a link"));
  CHECK(mode_of(path) == 0604);
  CHECK(fs::is_symlink(link));
  CHECK(text_of(path) == "by a link");
  const fs::path here = fs::current_path();
  fs::current_path(folder / "");
  CHECK(OutputFile("report").write("in this folder"));
  fs::current_path(here);
  CHECK(text_of(path) == "in this folder");
  CHECK(folder.names().size() == 2);
  if (geteuid() == 0) return;  // root may write everything
  fs::permissions(path, fs::perms(0444));
  CHECK_THROWS_AS(OutputFile(path), std::invalid_argument);
  fs::permissions(path, fs::perms(0644));
  fs::permissions(folder / "", fs::perms(0555));
  CHECK(OutputFile(path).write("in its place"));
  CHECK_THROWS_AS(OutputFile(folder / "new"), std::invalid_argument);
  fs::permissions(folder / "", fs::perms(0755));
  CHECK(text_of(path) == "in its place");
}

TEST_CASE("the progress of a run is a bar on a terminal, and elsewhere a line after a silent period", "[parity][progress]") {
  const Folder folder;
  const std::string path = folder / "stderr";
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  on_stderr(file, [] {
    Progress often(4, std::chrono::milliseconds(0)), seldom(4, std::chrono::hours(1));
    often.show(1, "softmax/f32");
    often.clear();
    often.show(3, "rms_norm/bf16");
    seldom.show(2, "unseen");
    seldom.clear();
    seldom.show(3, "unseen");
  });
  close(file);
  const std::string name = program_invocation_short_name;
  CHECK(text_of(path) == name + ": 1 of 4 done, now softmax/f32\n" + name + ": 3 of 4 done, now rms_norm/bf16\n");

  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(end >= 0);
  on_stderr(end, [] { Progress(4, std::chrono::hours(1)).show(1, "softmax/f32"); });
  char shown[256];
  const ssize_t bytes = read(terminal, shown, sizeof shown);
  close(end);
  close(terminal);
  REQUIRE(bytes > 0);
  CHECK(std::string(shown, static_cast<size_t>(bytes)) == "\r[#######.......................] 1/4 softmax/f32\033[K");
}
