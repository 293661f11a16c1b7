// The places of a tensor's elements: shape, strides, and iteration in row-major order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::parity {

using Shape = std::vector<int64_t>;

struct Layout {
  hipops_dtype dtype = HIPOPS_NONE;
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;  // in elements
  int64_t offset = 0;           // elements from a 256-byte boundary to element 0

  // `measure` derives these. Memory offsets count elements from element 0. Without elements, `last` is below `first`.
  int64_t elements = 0;
  int64_t first = 0;  // the lowest offset of an element, 0 or negative
  int64_t last = -1;  // the highest

  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t column_stride() const { return stride.empty() ? 0 : stride.back(); }
  int64_t rows() const { return columns() == 0 ? row_count_without_columns() : elements / columns(); }

  // Memory offset, in elements, of the element at a row-major position, and of a row's first element.
  int64_t offset_at(int64_t position) const;
  int64_t offset_of_row(int64_t row) const;

  // "[2,17]"; "[]" for rank 0.
  std::string index_text(int64_t position) const;

 private:
  int64_t row_count_without_columns() const;
  int64_t offset_of(int64_t position, size_t dimensions) const;
};

// A layout with more elements, or with a larger distance between elements, is a mistake.
constexpr int64_t kMaxElements = int64_t{1} << 33;
constexpr int64_t kMaxSpan = int64_t{1} << 34;

// Fills the derived fields, and `stride` if it is empty (contiguous). Returns "" or a message that names the wrong
// field.
std::string measure(Layout* layout);

// "3x64"; "scalar" for rank 0.
std::string shape_text(const std::vector<int64_t>& shape);

// The view for a call of the library. Its rank must be at most HIPOPS_MAX_RANK.
hipops_tensor view(const Layout& layout, void* element_zero);

}  // namespace hipops::parity
