// A tensor's memory on the device with all that lets a stray access show: guard zones around it, a NaN pattern in them,
// between strided elements and in outputs, and a host image that says what every byte was.
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

// Where an allocation ends. With guard zones a stray write is found when the case is over. Where the CPU runtime puts
// an unmapped page next to each allocation (HIPOPS_CPU_GUARD), the tensor can touch that page instead, and a stray read
// faults as well; element 0 then lies where that puts it, whatever the layout's offset.
enum class Guard { kZones, kPageAfter, kPageBefore };

// A runtime call refused: what() is the status and the runtime's message.
class RuntimeFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws RuntimeFailure unless `status` is success; `what` was being done.
void expect_success(hipops_status status, const std::string& what);

class Buffer {
 public:
  // Allocates on the device, and fills the host image with the pattern. Beside a page too, element 0 is at a multiple
  // of `alignment` bytes, at most 256, for a layout that has nothing below it. Throws RuntimeFailure or std::bad_alloc.
  Buffer(Runtime& runtime, std::string name, const Layout& layout, Guard guard, size_t alignment = 1);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Layout& layout() const { return layout_; }
  hipops_tensor tensor() const { return view(layout_, device_ + zero_); }

  // Sets the image's elements; `bits` gives them by row-major position.
  void set_elements(const std::function<uint64_t(int64_t)>& bits);

  // Sets every byte of the image's elements to 0xff: NaN in all float dtypes.
  void set_elements_unwritten();

  void upload();

  // Brings the device's bytes into the image. Element 0 is at element_zero() then.
  void download();
  const unsigned char* element_zero() const { return image_.get() + zero_; }

  // After download(): "" if all bytes but the elements' still are the pattern, or what was written. Destroys the
  // image's elements.
  std::string stray_writes();

  // The image, to come back to.
  std::vector<unsigned char> copy() const { return {image_.get(), image_.get() + bytes_}; }
  void upload(const std::vector<unsigned char>& copy);

  // After download(): "" if the image is as the copy of it was, or where it is not.
  std::string difference_from(const std::vector<unsigned char>& copy);

  // "" if the device's bytes are still the image's, or what was changed.
  std::string changes();

 private:
  template <typename Visit>
  void for_each_element(Visit visit);
  void place(Guard guard, size_t alignment);
  size_t start() const;  // image index of the tensor's first byte
  size_t end() const;    // and one past its last
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
