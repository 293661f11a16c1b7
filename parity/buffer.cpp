#include "parity/buffer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "parity/number.h"

namespace hipops::parity {
namespace {

constexpr size_t kGuardBytes = 256;
constexpr size_t kAlignment = 256;
constexpr size_t kChunkBytes = size_t{16} << 20;

size_t round_up(size_t value) { return (value + kAlignment - 1) / kAlignment * kAlignment; }

// NaN in each float dtype, so that a stray read shows in the result. Odd bytes are 0x7f or 0xff; even bytes are at
// least 0xf1, for the long exponent of f64. No run of a few bytes repeats within a period, so a block moved by mistake
// shows too.
constexpr size_t kPatternPeriod = 2 * 14 * 17;

constexpr std::array<unsigned char, kPatternPeriod> make_pattern() {
  std::array<unsigned char, kPatternPeriod> pattern = {};
  for (size_t pair = 0; pair < kPatternPeriod / 2; ++pair) {
    pattern[2 * pair] = static_cast<unsigned char>(0xf1 + pair * 9 % 14);
    pattern[2 * pair + 1] = pair * 5 % 17 < 8 ? 0xff : 0x7f;
  }
  return pattern;
}

constexpr std::array<unsigned char, kPatternPeriod> kPattern = make_pattern();

void fill_with_pattern(unsigned char* image, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPatternPeriod) {
    std::memcpy(image + at, kPattern.data(), std::min(kPatternPeriod, bytes - at));
  }
}

// The first place at which two byte ranges differ, and the number of bytes that differ.
struct Difference {
  size_t first = 0;
  size_t count = 0;

  void look(const unsigned char* a, const unsigned char* b, size_t bytes, size_t index) {
    if (std::memcmp(a, b, bytes) == 0) return;
    for (size_t i = 0; i < bytes; ++i) {
      if (a[i] != b[i] && count++ == 0) first = index + i;
    }
  }
  std::string more() const { return count > 1 ? " (" + std::to_string(count) + " bytes in all)" : ""; }
};

}  // namespace

void expect_success(hipops_status status, const std::string& what) {
  if (status == HIPOPS_SUCCESS) return;
  throw RuntimeFailure(what + ": " + hipops_status_string(status) + ": " + hipops_last_error());
}

Buffer::Buffer(Runtime& runtime, std::string name, const Layout& layout, Guard guard, size_t alignment)
    : runtime_(runtime), name_(std::move(name)), layout_(layout), element_bytes_(dtype_size(layout.dtype)) {
  place(guard, alignment);
  fill_with_pattern(image_.get(), bytes_);
}

Buffer::~Buffer() {
  if (device_ != nullptr) runtime_.release(device_);
}

// Allocates, and chooses the tensor's place in the allocation.
void Buffer::place(Guard guard, size_t alignment) {
  const size_t before = static_cast<size_t>(-layout_.first) * element_bytes_;   // bytes before element 0
  const size_t after = static_cast<size_t>(layout_.last + 1) * element_bytes_;  // bytes from element 0 to the end
  const size_t offset = static_cast<size_t>(layout_.offset) * element_bytes_;
  if (guard == Guard::kZones) {
    bytes_ = kGuardBytes + before + kAlignment + offset + after + kGuardBytes;
  } else {
    // A multiple of every alignment that the runtime may return, so that both ends can touch a page.
    bytes_ = round_up(before + after + kGuardBytes);
  }
  image_.reset(new unsigned char[bytes_]);  // first: if it throws, nothing needs a release yet
  void* pointer = nullptr;
  expect_success(runtime_.allocate(bytes_, &pointer), "allocating " + std::to_string(bytes_) + " bytes for " + name_);
  device_ = static_cast<unsigned char*>(pointer);
  const size_t address = reinterpret_cast<uintptr_t>(pointer);
  if (guard == Guard::kZones) zero_ = round_up(address + kGuardBytes + before) - address + offset;
  if (guard == Guard::kPageAfter) zero_ = (bytes_ - after) / alignment * alignment;
  if (guard == Guard::kPageBefore) zero_ = before;
}

size_t Buffer::start() const { return zero_ - static_cast<size_t>(-layout_.first) * element_bytes_; }

size_t Buffer::end() const { return zero_ + static_cast<size_t>(layout_.last + 1) * element_bytes_; }

// visit(row-major position, address in the image), in order.
template <typename Visit>
void Buffer::for_each_element(Visit visit) {
  const int64_t columns = layout_.elements == 0 ? 0 : layout_.columns();
  const int64_t rows = layout_.elements == 0 ? 0 : layout_.rows();
  const ptrdiff_t step = layout_.column_stride() * static_cast<ptrdiff_t>(element_bytes_);
  for (int64_t row = 0; row < rows; ++row) {
    unsigned char* first = image_.get() + zero_ + layout_.offset_of_row(row) * static_cast<ptrdiff_t>(element_bytes_);
    for (int64_t column = 0; column < columns; ++column) visit(row * columns + column, first + column * step);
  }
}

void Buffer::set_elements(const std::function<uint64_t(int64_t)>& bits) {
  for_each_element([&](int64_t position, unsigned char* at) { store_bits(layout_.dtype, at, bits(position)); });
}

void Buffer::set_elements_unwritten() {
  for_each_element([&](int64_t, unsigned char* at) { std::memset(at, 0xff, element_bytes_); });
}

void Buffer::upload() {
  expect_success(runtime_.copy_to_device(device_, image_.get(), bytes_), "copying " + name_ + " to the device");
}

void Buffer::download() {
  expect_success(runtime_.copy_to_host(image_.get(), device_, bytes_), "copying " + name_ + " back");
}

std::string Buffer::stray_writes() {
  for_each_element([&](int64_t, unsigned char* at) {
    for (size_t i = 0; i < element_bytes_; ++i)
      at[i] = kPattern[static_cast<size_t>(at + i - image_.get()) % kPatternPeriod];
  });
  Difference difference;
  for (size_t at = 0; at < bytes_; at += kPatternPeriod) {
    difference.look(image_.get() + at, kPattern.data(), std::min(kPatternPeriod, bytes_ - at), at);
  }
  return difference.count == 0 ? ""
                               : "wrote outside " + name_ + ": " + place_text(difference.first) + difference.more();
}

void Buffer::upload(const std::vector<unsigned char>& copy) {
  std::memcpy(image_.get(), copy.data(), bytes_);
  upload();
}

std::string Buffer::difference_from(const std::vector<unsigned char>& copy) {
  Difference difference;
  difference.look(image_.get(), copy.data(), bytes_, 0);
  if (difference.count == 0) return "";
  const std::string element = element_text(difference.first);
  return (element.empty() ? name_ + ": " + place_text(difference.first) : element) + difference.more();
}

std::string Buffer::changes() {
  std::vector<unsigned char> chunk(std::min(kChunkBytes, bytes_));
  Difference difference;
  for (size_t at = 0; at < bytes_; at += chunk.size()) {
    const size_t bytes = std::min(chunk.size(), bytes_ - at);
    expect_success(runtime_.copy_to_host(chunk.data(), device_ + at, bytes), "copying " + name_ + " back");
    difference.look(chunk.data(), image_.get() + at, bytes, at);
  }
  if (difference.count == 0) return "";
  const std::string element = element_text(difference.first);
  if (element.empty()) return "wrote outside " + name_ + ": " + place_text(difference.first) + difference.more();
  return "changed its input: " + element + difference.more();
}

// Describes the place of a byte that belongs to no element.
std::string Buffer::place_text(size_t byte) const {
  if (byte < start()) return "byte " + std::to_string(start() - byte) + " before its start";
  if (byte >= end()) return "byte " + std::to_string(byte - end() + 1) + " past its end";
  return "between its elements, " + std::to_string(byte - start()) + " bytes from its start";
}

// "x[2,3] (position 11)" for a byte of an element, "" for any other byte.
std::string Buffer::element_text(size_t byte) {
  const unsigned char* target = image_.get() + byte;
  int64_t found = -1;
  for_each_element([&](int64_t position, const unsigned char* at) {
    if (found < 0 && target >= at && target < at + element_bytes_) found = position;
  });
  if (found < 0) return "";
  return name_ + layout_.index_text(found) + " (position " + std::to_string(found) + ")";
}

}  // namespace hipops::parity
