#include "runtime/cpu/shared.h"

#include <cstring>
#include <new>

namespace hipops {
namespace cpu {

SharedMemory::~SharedMemory() {
  if (memory_ == nullptr) return;
  show(0, kLimit);
  std::free(memory_);
}

void SharedMemory::start_block() {
  if (used_ == 0) return;
  hide(0, used_);
  used_ = 0;
  pieces_.clear();
}

const SharedMemory::Piece* SharedMemory::find(const void* key) const {
  for (const Piece& piece : pieces_)
    if (piece.key == key) return &piece;
  return nullptr;
}

const SharedMemory::Piece* SharedMemory::add(const void* key, size_t bytes, size_t align) {
  if (memory_ == nullptr) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kLargestAlign, kLimit) != 0) throw std::bad_alloc();
    memory_ = static_cast<char*>(memory);
    hide(0, kLimit);
  }
  const size_t offset = (used_ + align - 1) & ~(align - 1);
  if (offset > kLimit || bytes > kLimit - offset) return nullptr;
  pieces_.push_back({key, offset, bytes, align});
  used_ = offset + bytes;
  show(offset, bytes);
  std::memset(memory_ + offset, 0xff, bytes);
  return &pieces_.back();
}

const SharedMemory::Piece* SharedMemory::piece_at(const void* address) const {
  size_t offset;
  for (const Piece& piece : pieces_)
    if (contains(piece, address, 1, &offset)) return &piece;
  return nullptr;
}

bool SharedMemory::contains(const Piece& piece, const void* address, size_t bytes, size_t* offset) const {
  *offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(memory_);  // wraps to a large number if `address` is before the memory
  return *offset >= piece.offset && *offset - piece.offset <= piece.bytes &&
         bytes <= piece.bytes - (*offset - piece.offset);
}

void SharedMemory::hide(size_t offset, size_t bytes) {
#if defined(HIPOPS_CPU_ASAN)
  __asan_poison_memory_region(memory_ + offset, bytes);
#endif
  (void)offset, (void)bytes;
}

void SharedMemory::show(size_t offset, size_t bytes) {
#if defined(HIPOPS_CPU_ASAN)
  __asan_unpoison_memory_region(memory_ + offset, bytes);
#endif
  (void)offset, (void)bytes;
}

}  // namespace cpu
}  // namespace hipops
