// Memory for a hostile call. It has exactly the bytes that the tensors name, so the address sanitizer sees any other
// access. For too many bytes it hands out addresses without memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fuzz/hostile.h"

namespace hipops::fuzz {

class Arena {
 public:
  // Sets the data pointers of the call's tensors.
  explicit Arena(HostileCall* call);

  // False if there is no memory. Then no kernel may run.
  bool backed() const { return backed_; }

  // Aligned to 256 bytes. The memory ends directly after `bytes` bytes.
  void* workspace(int64_t bytes);

  bool changed() const;  // since the arena was made

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  struct Region {
    std::unique_ptr<unsigned char, Free> memory;
    std::vector<unsigned char> before;
  };

  void place(HostileCall* call, size_t root);
  unsigned char* allocate(size_t bytes);
  void fill(unsigned char* memory, size_t bytes, size_t element_bytes, bool is_index);

  bool backed_ = true;
  std::vector<Region> regions_;
};

}  // namespace hipops::fuzz
