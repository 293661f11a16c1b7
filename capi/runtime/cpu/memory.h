// Memory of the CPU runtime's one device, for tests and tools. With a guard, every allocation is a mapping of its own
// that begins or ends at an inaccessible page. A kernel that reads or writes one byte outside a tensor crashes there,
// without a sanitizer.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "hipops/hipops.h"

namespace hipops {
namespace cpu {

enum class Guard { kNone, kBegin, kEnd };

class Memory {
 public:
  explicit Memory(Guard guard) : guard_(guard) {}

  // Aligns to 256 bytes. With Guard::kEnd the memory ends at the guard page, so its begin has the alignment of `bytes`.
  hipops_status allocate(size_t bytes, void** pointer);
  hipops_status release(void* pointer);

 private:
  struct Mapping {
    void* base;
    size_t bytes;
  };

  hipops_status map(size_t bytes, void** pointer);
  hipops_status unmap(void* pointer);

  const Guard guard_;
  std::mutex lock_;
  std::map<void*, Mapping> mappings_;
};

}  // namespace cpu
}  // namespace hipops
