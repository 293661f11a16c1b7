#include "runtime/cpu/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tensor/error.h"

namespace hipops {
namespace cpu {
namespace {

constexpr size_t kAlign = 256;

hipops_status out_of_memory(size_t bytes) {
  return fail(HIPOPS_INTERNAL_ERROR, "out of host memory for %zu bytes", bytes);
}

}  // namespace

hipops_status Memory::allocate(size_t bytes, void** pointer) {
  if (guard_ != Guard::kNone) return map(bytes, pointer);
  // Not aligned_alloc: it requires a rounded size, and sanitizers would then miss accesses past the end.
  if (posix_memalign(pointer, kAlign, std::max(bytes, size_t{1})) == 0) return HIPOPS_SUCCESS;
  return out_of_memory(bytes);
}

hipops_status Memory::release(void* pointer) {
  if (pointer == nullptr) return HIPOPS_SUCCESS;
  if (guard_ != Guard::kNone) return unmap(pointer);
  std::free(pointer);
  return HIPOPS_SUCCESS;
}

// Maps pages for the memory, between two guard pages.
hipops_status Memory::map(size_t bytes, void** pointer) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX / 2) return out_of_memory(bytes);
  const size_t inside = std::max((bytes + page - 1) / page, size_t{1}) * page;
  const size_t all = inside + 2 * page;
  void* base = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return out_of_memory(bytes);
  char* begin = static_cast<char*>(base) + page;
  char* result = guard_ == Guard::kBegin ? begin : begin + inside - bytes;
  bool kept = mprotect(begin, inside, PROT_READ | PROT_WRITE) == 0;
  try {
    std::lock_guard<std::mutex> hold(lock_);
    kept = kept && mappings_.emplace(result, Mapping{base, all}).second;
  } catch (const std::bad_alloc&) {
    kept = false;
  }
  if (!kept) {
    munmap(base, all);
    return out_of_memory(bytes);
  }
  *pointer = result;
  return HIPOPS_SUCCESS;
}

hipops_status Memory::unmap(void* pointer) {
  std::lock_guard<std::mutex> hold(lock_);
  const auto found = mappings_.find(pointer);
  if (found == mappings_.end()) return fail(HIPOPS_INVALID_ARGUMENT, "release of %p, which is not allocated", pointer);
  munmap(found->second.base, found->second.bytes);
  mappings_.erase(found);
  return HIPOPS_SUCCESS;
}

}  // namespace cpu
}  // namespace hipops
