#include "fuzz/arena.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "parity/number.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(address), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(address), static_cast<void>(bytes))
#endif

namespace hipops::fuzz {
namespace {

constexpr int64_t kAlignment = 16, kWorkspaceAlignment = 256;

int64_t element_bytes(const HostileTensor& tensor) {
  int32_t dtype;
  std::memcpy(&dtype, &tensor.tensor.dtype, sizeof dtype);
  const bool known = dtype >= HIPOPS_F32 && dtype <= HIPOPS_F8_E5M2FNUZ;
  return known ? static_cast<int64_t>(parity::dtype_size(tensor.tensor.dtype)) : 8;
}

// A tensor whose alias is an alias itself gets its own memory.
size_t root_of(const HostileCall& call, size_t tensor) {
  const int alias = call.tensors[tensor].alias;
  if (alias < 0 || static_cast<size_t>(alias) >= call.tensors.size()) return tensor;
  return call.tensors[static_cast<size_t>(alias)].alias < 0 ? static_cast<size_t>(alias) : tensor;
}

}  // namespace

Arena::Arena(HostileCall* call) {
  int64_t low, high;
  for (const HostileTensor& tensor : call->tensors) backed_ = backed_ && call->bounds(tensor, &low, &high);
  for (size_t i = 0; i < call->tensors.size(); ++i) {
    if (root_of(*call, i) == i) place(call, i);
  }
  for (HostileTensor& tensor : call->tensors) {
    if (tensor.null_data) tensor.tensor.data = nullptr;
  }
}

// Allocates for a tensor and for its aliases.
void Arena::place(HostileCall* call, size_t root) {
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < call->tensors.size() && backed_; ++i) {
    if (root_of(*call, i) != root) continue;
    const HostileTensor& tensor = call->tensors[i];
    int64_t first, last;
    call->bounds(tensor, &first, &last);
    const int64_t at = (i == root ? 0 : tensor.distance) + tensor.misalignment;
    low = std::min(low, at + first);
    high = std::max(high, at + last);
  }
  const HostileTensor& first = call->tensors[root];
  const int64_t pad = ((first.offset * element_bytes(first) + low) % kAlignment + kAlignment) % kAlignment;
  auto* zero = reinterpret_cast<unsigned char*>((uintptr_t{1} << 61) + (uintptr_t{1} << 58) * root);
  if (backed_) {
    unsigned char* memory = allocate(static_cast<size_t>(pad + high - low));
    fill(memory, static_cast<size_t>(pad + high - low), static_cast<size_t>(element_bytes(first)),
         call->op->has_role(first.name, parity::Role::kIndex));
    ASAN_POISON_MEMORY_REGION(memory, static_cast<size_t>(pad / 8 * 8));
    zero = memory + pad - low;
  }
  for (size_t i = 0; i < call->tensors.size(); ++i) {
    HostileTensor& tensor = call->tensors[i];
    if (root_of(*call, i) == root)
      tensor.tensor.data = zero + (i == root ? 0 : tensor.distance) + tensor.misalignment;
  }
}

unsigned char* Arena::allocate(size_t bytes) {
  auto* memory = static_cast<unsigned char*>(std::malloc(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  regions_.push_back({std::unique_ptr<unsigned char, Free>(memory), {}});
  return memory;
}

// Indices are small, and most are valid. Other bytes are arbitrary.
void Arena::fill(unsigned char* memory, size_t bytes, size_t element_bytes, bool is_index) {
  uint32_t word = 12345;
  for (size_t at = 0; at < bytes; ++at) {
    word = word * 1664525 + 1013904223;
    memory[at] = static_cast<unsigned char>(word >> 24);
    if (is_index && word % 64 != 0) memory[at] = at % element_bytes == 0 ? memory[at] % 8 : 0;
  }
  regions_.back().before.assign(memory, memory + bytes);
}

void* Arena::workspace(int64_t bytes) {
  if (!backed_) return reinterpret_cast<void*>(uintptr_t{1} << 60);
  const auto size = static_cast<size_t>(bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, kWorkspaceAlignment, std::max<size_t>(size, 1)) != 0) throw std::bad_alloc();
  regions_.push_back({std::unique_ptr<unsigned char, Free>(static_cast<unsigned char*>(memory)), {}});
  std::memset(memory, 0xff, size);
  regions_.back().before.assign(size, 0xff);
  return memory;
}

bool Arena::changed() const {
  for (const Region& region : regions_) {
    ASAN_UNPOISON_MEMORY_REGION(region.memory.get(), region.before.size());
    if (!region.before.empty() && std::memcmp(region.memory.get(), region.before.data(), region.before.size()) != 0)
      return true;
  }
  return false;
}

}  // namespace hipops::fuzz
