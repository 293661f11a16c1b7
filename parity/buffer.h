// A tensor's memory on the device, which shows stray accesses. Guard zones are around the tensor. They, outputs and the
// gaps between strided elements hold a NaN pattern. A host image holds the value of every byte.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "parity/layout.h"
#include "runtime/runtime.h"

namespace hipops::parity {

// How an allocation ends. With guard zones, the check after a case finds stray writes. The CPU runtime can map an
// unreadable page next to each allocation (HIPOPS_CPU_GUARD). The tensor then touches that page, so a stray read faults
// too, and the layout's offset has no effect.
enum class Guard { kZones, kPageAfter, kPageBefore };

// A runtime call failed. what() is the status and the runtime's message.
class RuntimeFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws RuntimeFailure unless `status` is success; `what` names the action.
void expect_success(hipops_status status, const std::string& what);

class Buffer {
 public:
  // Allocates on the device, and fills the host image with the pattern. Element 0 is at a multiple of `alignment` bytes
  // (at most 256), also before a guard page, if no element of the layout is below it. Throws RuntimeFailure or
  // std::bad_alloc.
  Buffer(Runtime& runtime, std::string name, const Layout& layout, Guard guard, size_t alignment = 1);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Layout& layout() const { return layout_; }
  hipops_tensor tensor() const { return view(layout_, device_ + zero_); }

  // Sets the image's elements; `bits` returns the element at a row-major position.
  void set_elements(const std::function<uint64_t(int64_t)>& bits);

  // Sets every byte of the image's elements to 0xff: NaN in all float dtypes.
  void set_elements_unwritten();

  void upload();

  // Copies the device's bytes into the image. Afterwards element 0 is at element_zero().
  void download();
  const unsigned char* element_zero() const { return image_.get() + zero_; }

  // After download(): "" if all bytes outside of the elements still have the pattern, or a message about the first byte
  // that differs. Destroys the image's elements.
  std::string stray_writes();

  // A copy of the image, for a later comparison.
  std::vector<unsigned char> copy() const { return {image_.get(), image_.get() + bytes_}; }
  void upload(const std::vector<unsigned char>& copy);

  // After download(): "" if the image equals the copy, or a message about the first difference.
  std::string difference_from(const std::vector<unsigned char>& copy);

  // "" if the device's bytes equal the image, or a message about the first change.
  std::string changes();

 private:
  template <typename Visit>
  void for_each_element(Visit visit);
  void place(Guard guard, size_t alignment);
  size_t start() const;  // image index of the tensor's first byte
  size_t end() const;    // image index past the tensor's last byte
  std::string place_text(size_t byte) const;
  std::string element_text(size_t byte);

  Runtime& runtime_;
  std::string name_;
  Layout layout_;
  size_t element_bytes_;
  size_t bytes_ = 0;
  size_t zero_ = 0;  // image index of element 0
  unsigned char* device_ = nullptr;
  std::unique_ptr<unsigned char[]> image_;
};

}  // namespace hipops::parity
