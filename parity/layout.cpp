#include "parity/layout.h"

namespace hipops::parity {
namespace {

// The product of the extents other than 0, so that no sub-product that a stride needs can overflow either; -1 past the
// limit.
int64_t bounded_product(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) {
    if (extent == 0) continue;
    if (extent < 0 || extent > kMaxElements / product) return -1;
    product *= extent;
  }
  return product;
}

// Row-major strides of a shape that bounded_product accepts.
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * (shape[d] == 0 ? 1 : shape[d]);
  return stride;
}

}  // namespace

int64_t Layout::row_count_without_columns() const {
  int64_t count = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) count *= shape[d];
  return count;
}

int64_t Layout::offset_of(int64_t position, size_t dimensions) const {
  int64_t memory = 0;
  for (size_t d = dimensions; d-- > 0;) {
    memory += position % shape[d] * stride[d];
    position /= shape[d];
  }
  return memory;
}

int64_t Layout::offset_at(int64_t position) const { return offset_of(position, shape.size()); }

int64_t Layout::offset_of_row(int64_t row) const { return shape.empty() ? 0 : offset_of(row, shape.size() - 1); }

std::string Layout::index_text(int64_t position) const {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = std::to_string(position % shape[d]) + (text.empty() ? "" : ",") + text;
    position /= shape[d];
  }
  return "[" + text + "]";
}

std::string measure(Layout* layout) {
  if (layout->shape.size() > HIPOPS_MAX_RANK) return "shape: rank above " + std::to_string(HIPOPS_MAX_RANK);
  const int64_t product = bounded_product(layout->shape);
  if (product < 0) return "shape: negative, or more than 2^33 elements";
  if (layout->stride.empty()) layout->stride = contiguous_strides(layout->shape);
  if (layout->stride.size() != layout->shape.size()) return "stride: its length is not the shape's";
  layout->elements = product;
  layout->first = 0;
  layout->last = -1;
  for (const int64_t extent : layout->shape) {
    if (extent == 0) layout->elements = 0;
  }
  if (layout->elements == 0) return "";

  layout->last = 0;
  for (size_t d = 0; d < layout->shape.size(); ++d) {
    if (layout->shape[d] == 1) continue;  // any stride is valid there, and moves nothing
    int64_t reach;
    int64_t* end = layout->stride[d] < 0 ? &layout->first : &layout->last;
    if (__builtin_mul_overflow(layout->shape[d] - 1, layout->stride[d], &reach) ||
        __builtin_add_overflow(*end, reach, end)) {
      return "stride: offsets leave int64";
    }
  }
  int64_t span;
  if (__builtin_sub_overflow(layout->last, layout->first, &span) || span >= kMaxSpan) {
    return "stride: elements lie further than 2^34 apart";
  }
  return "";
}

std::string shape_text(const std::vector<int64_t>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

hipops_tensor view(const Layout& layout, void* element_zero) {
  hipops_tensor tensor = {};
  tensor.data = element_zero;
  tensor.dtype = layout.dtype;
  tensor.rank = static_cast<int32_t>(layout.shape.size());
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    tensor.shape[d] = layout.shape[d];
    tensor.stride[d] = layout.stride[d];
  }
  return tensor;
}

}  // namespace hipops::parity
