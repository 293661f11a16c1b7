// Memory for a hostile call: of exactly the bytes that its tensors name, so that the address sanitizer sees any other
// access. Where they name too many, addresses that nobody may touch.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fuzz/hostile.h"

namespace hipops::fuzz {

class Arena {
 public:
  // Sets the data of the call's tensors.
  explicit Arena(HostileCall* call);

  // False where there is no memory, and nothing may be launched.
  bool backed() const { return backed_; }

  // 256-byte aligned for tensors' elements, in memory that ends where its bytes do.
  void* workspace(int64_t bytes);

  bool changed() const;  // since it was made

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
