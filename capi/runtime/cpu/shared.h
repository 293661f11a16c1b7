// A block's shared memory. Every request with the same key gets the same piece of one arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/cpu/sanitizer.h"

namespace hipops {
namespace cpu {

class SharedMemory {
 public:
  static constexpr size_t kLimit = size_t{80} << 10;  // of a block, as on NVIDIA. AMD's compiler refuses more than 64 KiB
  static constexpr size_t kLargestAlign = 256;

  struct Piece {
    const void* key;
    size_t offset;
    size_t bytes;
    size_t align;
  };

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void start_block();
  const Piece* find(const void* key) const;  // null: no piece yet
  void* address(const Piece& piece) const { return memory_ + piece.offset; }
  // Appends a piece, filled with a NaN pattern. Null: past the limit. Throws std::bad_alloc.
  const Piece* add(const void* key, size_t bytes, size_t align);

  const Piece* piece_at(const void* address) const;  // null: the address is in no piece
  // Whether [address, address + bytes) is in the piece. `offset` is from the begin of all the memory.
  bool contains(const Piece& piece, const void* address, size_t bytes, size_t* offset) const;
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
