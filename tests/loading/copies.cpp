// copies LIBRARY: two copies of the library in one process, loaded with RTLD_GLOBAL, do not affect each other.
#include <filesystem>
#include <string>

#include "host.h"

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  char folder[] = "/tmp/hipops-copies-XXXXXX";
  EXPECT(mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/libhipops-copy.so";
  std::filesystem::copy_file(argv[1], path);
  Library first(argv[1], RTLD_NOW | RTLD_GLOBAL), second(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  std::filesystem::remove_all(folder);
  EXPECT(first.softmax != second.softmax);

  // Each copy makes its message from its own parts.
  setenv("HIPOPS_BACKEND", "auto", 1);
  setenv("HIPOPS_HIP_LIBRARY", "none", 1);
  setenv("HIPOPS_CUDA_LIBRARY", "none", 1);
  setenv("HIPOPS_CPU_WAVE", "7", 1);
  EXPECT(second.prepare(nullptr) == HIPOPS_INVALID_ARGUMENT);
  EXPECT(std::strstr(second.last_error(), "cpu: HIPOPS_CPU_WAVE is \"7\"") != nullptr);
  EXPECT(*first.last_error() == '\0');

  setenv("HIPOPS_BACKEND", "cpu", 1);
  setenv("HIPOPS_CPU_WAVE", "64", 1);
  second.use();
  EXPECT(first.backend_in_use() == HIPOPS_BACKEND_AUTO);
  setenv("HIPOPS_CPU_WAVE", "32", 1);
  first.use();
  EXPECT(first.backend_in_use() == HIPOPS_BACKEND_CPU);
  second.use();
}
