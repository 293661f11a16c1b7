// reopen LIBRARY: loads, uses and unloads the library 5000 times. After that the process has the same memory, open
// files and threads as after 100 times.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host.h"

namespace {

constexpr int kTimes = 5000;
constexpr int kFirst = 100;
// In pages. The heap no longer grows, but 30 to 80 more of its pages may come into use for any number of loads. 256
// pages are a fifth of a kilobyte for each load.
constexpr long kNoise = 256;

struct Use {
  long pages = 0, resident = 0;
  long files = 0, threads = 0;
};

long entries(const char* folder) {
  std::filesystem::directory_iterator all(folder);
  return static_cast<long>(std::distance(begin(all), end(all)));
}

Use measure() {
  Use use;
  std::ifstream("/proc/self/statm") >> use.pages >> use.resident;
  use.files = entries("/proc/self/fd");
  use.threads = entries("/proc/self/task");
  return use;
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  Use first;
  for (int i = 0; i <= kTimes; ++i) {
    Library library(argv[1], RTLD_NOW | RTLD_LOCAL);
    library.use();
    library.close();
    if (i == kFirst) measure();  // which touches some pages itself
    if (i == kFirst) first = measure();
  }
  const Use last = measure();
  std::printf("from %d to %d times: %ld pages more, %ld of them resident, %ld files, %ld threads\n", kFirst, kTimes,
              last.pages - first.pages, last.resident - first.resident, last.files - first.files,
              last.threads - first.threads);
  EXPECT(last.resident - first.resident <= kNoise);
  EXPECT(last.pages - first.pages <= kNoise);
  EXPECT(last.files == first.files);
  EXPECT(last.threads == first.threads);
}
