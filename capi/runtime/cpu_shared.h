// A block's shared memory: the n-th request of every work-item gets the same piece of one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/cpu_sanitizer.h"

namespace hipops {
namespace cpu {

class SharedMemory {
 public:
  static constexpr size_t kLimit = size_t{64} << 10;  // what every GPU that we build for has per block
  static constexpr size_t kLargestAlign = 256;

  struct Piece {
    size_t offset;
    size_t bytes;
    size_t align;
  };

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void start_block();
  size_t pieces() const { return pieces_.size(); }
  const Piece& piece(size_t index) const { return pieces_[index]; }
  void* address(size_t index) const { return memory_ + pieces_[index].offset; }
  // Appends a piece, filled with a NaN pattern. False where that passes the limit; throws std::bad_alloc.
  bool add(size_t bytes, size_t align);

  // Whether [address, address + bytes) lies in the pieces handed out, and where.
  bool contains(const void* address, size_t bytes, size_t* offset) const;
  size_t used() const { return used_; }

 private:
  void hide(size_t offset, size_t bytes);
  void show(size_t offset, size_t bytes);

  char* memory_ = nullptr;
  size_t used_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace cpu
}  // namespace hipops
