// The reports of defects, after which the executor aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/core/cpu.h"

namespace hipops {
namespace cpu {

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...);

// For example "kernels/softmax.hip:81".
std::string place(Site site);
// Compares text: a header that is compiled into two files may have two copies of its name.
bool same_name(const char* a, const char* b);
inline bool same_place(Site a, Site b) { return a.line == b.line && (a.file == b.file || same_name(a.file, b.file)); }

// Lists the states of a block's work-items, in the order of the first work-item of each entry. For example
//   0-31,40: wait at the barrier at kernels/softmax.hip:81
//   32-39: have ended
class Doings {
 public:
  void add(uint32_t lane, const std::string& doing);
  std::string lines() const;

 private:
  struct Range {
    uint32_t first, last;
  };
  std::vector<std::pair<std::string, std::vector<Range>>> doings_;
};

// Prints to stderr and aborts. If several threads call it, only the first prints.
[[noreturn]] void fatal(const std::string& report);

}  // namespace cpu
}  // namespace hipops
