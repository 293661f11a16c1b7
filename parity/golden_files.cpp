#include "parity/golden_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

namespace hipops::parity {
namespace {

namespace fs = std::filesystem;

std::string load_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw GoldenError(path.string(), "", "not a readable file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw GoldenError(path.string(), "", "cannot be opened");
  // Reads one byte more than the limit, so that read_golden refuses a longer file.
  std::string text;
  std::vector<char> chunk(size_t{1} << 20);
  while (text.size() <= kMaxGoldenBytes && stream) {
    stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) throw GoldenError(path.string(), "", "cannot be read");
  return text;
}

std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> entries;
  fs::directory_iterator it(directory, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) entries.push_back(it->path());
  if (error) throw GoldenError(directory.string(), "", "cannot be listed: " + error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

GoldenFile load_file(const fs::path& path, const std::vector<OpEntry>& ops) {
  GoldenFile file = read_golden(load_text(path), path.string(), ops);
  const std::string folder = path.parent_path().filename().string();
  if (file.op != folder) throw GoldenError(file.path, "", "op: '" + file.op + "' in the folder of '" + folder + "'");
  if (file.topic != path.stem().string())
    throw GoldenError(file.path, "", "topic: '" + file.topic + "' is not the file's name");
  return file;
}

size_t op_order(const std::vector<OpEntry>& ops, const GoldenFile& file) {
  return static_cast<size_t>(find_op(ops, file.op) - ops.data());
}

size_t topic_order(const GoldenFile& file) {
  return static_cast<size_t>(std::find(all_topics().begin(), all_topics().end(), file.topic) - all_topics().begin());
}

// --case selects a case by name, so no other case of the op may have it.
void expect_unique_names(const std::vector<GoldenFile>& files) {
  std::map<std::string, const GoldenFile*> seen;
  for (const GoldenFile& file : files) {
    for (const Case& test : file.cases) {
      const auto [earlier, fresh] = seen.emplace(file.op + "/" + test.name, &file);
      if (!fresh) throw GoldenError(file.path, test.name, "name: another case has it, in " + earlier->second->path);
    }
  }
}

std::string beside_executable() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path directory = (executable.parent_path().parent_path() / "share/hipops/golden");
  return fs::is_directory(directory, error) ? directory.string() : "";
}

}  // namespace

std::string golden_directory(const std::string& option) {
  if (!option.empty()) return option;
  const char* from_environment = std::getenv("HIPOPS_GOLDEN");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  return beside_executable();
}

std::vector<GoldenFile> load_golden(const std::string& directory, const std::string& op, const std::string& topic,
                                    const std::vector<OpEntry>& ops) {
  if (directory.empty())
    throw GoldenError("golden files", "", "none beside the executable; name their folder with --golden");
  std::vector<GoldenFile> files;
  for (const fs::path& folder : sorted_entries(directory)) {
    std::error_code error;
    const bool is_folder = fs::is_directory(folder, error);
    if (error) throw GoldenError(folder.string(), "", "cannot be read: " + error.message());
    if (!is_folder || (!op.empty() && folder.filename() != op)) continue;
    for (const fs::path& path : sorted_entries(folder)) {
      if (path.extension() != ".json" || (!topic.empty() && path.stem() != topic)) continue;
      files.push_back(load_file(path, ops));
    }
  }
  expect_unique_names(files);
  std::sort(files.begin(), files.end(), [&](const GoldenFile& a, const GoldenFile& b) {
    return std::make_pair(op_order(ops, a), topic_order(a)) < std::make_pair(op_order(ops, b), topic_order(b));
  });
  return files;
}

}  // namespace hipops::parity
