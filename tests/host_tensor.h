// Tensors for tests: views of any address, and tensors in host memory with guard bytes around and between the elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hipops/hipops.h"
#include "parity/number.h"

namespace hipops_test {

using Sizes = std::vector<int64_t>;

inline Sizes contiguous(const Sizes& shape) {
  Sizes stride(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  return stride;
}

// hipops_last_error() without its end, which lists the values of the call: "; here y is ...".
inline std::string error_without_values() {
  const std::string words = hipops_last_error();
  return words.substr(0, words.find("; here "));
}

// A view without memory of its own. Without strides it is contiguous.
inline hipops_tensor view_of(uintptr_t data, hipops_dtype dtype, const Sizes& shape, Sizes stride = {}) {
  if (stride.empty()) stride = contiguous(shape);
  hipops_tensor view{reinterpret_cast<void*>(data), dtype, static_cast<int32_t>(shape.size()), {}, {}};
  std::copy(shape.begin(), shape.end(), view.shape);
  std::copy(stride.begin(), stride.end(), view.stride);
  return view;
}

// The offset of element i from element 0, in elements. The last dimension counts fastest.
inline int64_t offset_of(const hipops_tensor& view, int64_t i) {
  int64_t offset = 0;
  for (int d = view.rank; d-- > 0;) {
    offset += i % view.shape[d] * view.stride[d];
    i /= view.shape[d];
  }
  return offset;
}

class HostTensor {
 public:
  hipops_tensor view;

  // The address of the lowest element is `shift` elements past a multiple of 64 bytes.
  HostTensor(hipops_dtype dtype, const Sizes& shape, const Sizes& stride = {}, int64_t shift = 0)
      : view(view_of(0, dtype, shape, stride)), bytes_(hipops::parity::dtype_size(dtype)) {
    int64_t below = 0, above = 0;
    for (int d = 0; d < view.rank; ++d) {
      count_ *= view.shape[d];
      int64_t span = view.stride[d] * (view.shape[d] - 1);
      (span < 0 ? below : above) += span;
    }
    size_t used = count_ == 0 ? 0 : static_cast<size_t>(above - below + 1 + shift) * bytes_;
    memory_.resize(used / sizeof(Chunk) + 3);
    view.data = memory_[1].byte + static_cast<size_t>(shift - below) * bytes_;
  }
  HostTensor(const HostTensor&) = delete;
  HostTensor(HostTensor&&) = default;
  HostTensor& operator=(HostTensor&&) = default;

  int64_t count() const { return count_; }
  double get(int64_t i) const { return hipops::parity::decode(view.dtype, bits(i)); }
  uint64_t bits(int64_t i) const { return hipops::parity::load_bits(view.dtype, at(view.data, i)); }
  void set(int64_t i, double value) { set_bits(i, hipops::parity::encode(view.dtype, value)); }
  void set_bits(int64_t i, uint64_t bits) { hipops::parity::store_bits(view.dtype, at(view.data, i), bits); }

  HostTensor& randomize(uint64_t seed, double low, double high) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < count_; ++i) set(i, low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53);
    return *this;
  }

  std::vector<unsigned char> bytes() const {
    const unsigned char* first = memory_[0].byte;
    return {first, first + memory_.size() * sizeof(Chunk)};
  }

  // True if every byte that belongs to no element has its first value.
  bool guards_are_whole() const {
    std::vector<unsigned char> left = bytes();
    size_t origin = static_cast<size_t>(static_cast<unsigned char*>(view.data) - memory_[0].byte);
    for (int64_t i = 0; i < count_; ++i)
      std::fill_n(left.begin() + static_cast<int64_t>(origin) + offset_of(view, i) * static_cast<int64_t>(bytes_),
                  bytes_, kGuard);
    return std::all_of(left.begin(), left.end(), [](unsigned char byte) { return byte == kGuard; });
  }

 private:
  static constexpr unsigned char kGuard = 0xa5;
  struct alignas(64) Chunk {
    Chunk() { std::fill_n(byte, sizeof byte, kGuard); }
    unsigned char byte[64];
  };

  unsigned char* at(void* data, int64_t i) const {
    return static_cast<unsigned char*>(data) + offset_of(view, i) * static_cast<int64_t>(bytes_);
  }

  size_t bytes_;  // of an element
  int64_t count_ = 1;
  std::vector<Chunk> memory_;
};

// A report in the tensor's memory, which ops must refuse.
inline hipops_index_report* report_in(const HostTensor& t) {
  return reinterpret_cast<hipops_index_report*>((reinterpret_cast<uintptr_t>(t.view.data) + 7) / 8 * 8);
}

// Memory for `bytes`, 256-byte aligned, between guards.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) : bytes_(bytes), memory_(static_cast<size_t>(bytes) + 3 * 256, kGuard) {
    offset_ = 256 + (256 - reinterpret_cast<uintptr_t>(memory_.data()) % 256) % 256;
  }
  void* data() { return memory_.data() + offset_; }
  int64_t bytes() const { return bytes_; }
  bool guards_are_whole() const {
    for (size_t i = 0; i < memory_.size(); ++i)
      if ((i < offset_ || i >= offset_ + static_cast<size_t>(bytes_)) && memory_[i] != kGuard) return false;
    return true;
  }

 private:
  static constexpr unsigned char kGuard = 0x5a;
  int64_t bytes_;
  std::vector<unsigned char> memory_;
  size_t offset_;
};

}  // namespace hipops_test
