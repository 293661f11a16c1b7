#include "move/copy_layout.h"

#include <cstdlib>

#include "tensor/tensor.h"

namespace hipops {

Copy ordered_copy(const hipops_tensor& y, const hipops_tensor& x) {
  char* data[kCopyOperands];
  const Layout<kCopyOperands> layout = ordered_layout<kCopyOperands>({&y, &x}, data);
  return {data[kCopyY], data[kCopyX], dtype_bytes(x.dtype), layout};
}

void widen_run(Copy* copy) {
  int64_t bytes = copy->layout.size[0] * copy->unit;
  int64_t unit = widest_access(bits_of(copy->x) ^ bits_of(copy->y));  // x and y have equal lower bits
  int64_t head = static_cast<int64_t>((~bits_of(copy->y) + 1) % static_cast<uint64_t>(unit));
  if (head + unit > bytes) return;
  copy->unit = unit;
  copy->head = head;
  copy->layout.size[0] = (bytes - head) / unit;
  copy->tail = (bytes - head) % unit;
  copy->x += head;
  copy->y += head;
}

bool lies_apart(const Copy& copy) { return widest_access(bits_of(copy.x) ^ bits_of(copy.y)) < kWideAccess / 2; }

void widen_rows(Copy* copy) {
  Layout<kCopyOperands>& layout = copy->layout;
  uint64_t bits = bits_of(copy->x) | bits_of(copy->y) | bits_of(layout.size[0] * copy->unit);
  for (int d = 1; d < layout.rank; ++d)
    for (const auto& stride : layout.stride) bits |= bits_of(stride[d] * copy->unit);
  int64_t elements = widest_access(bits) / copy->unit;
  layout.size[0] /= elements;
  for (int d = 1; d < layout.rank; ++d)
    for (auto& stride : layout.stride) stride[d] /= elements;
  copy->unit *= elements;
  if (layout.size[0] > 1) return;
  // A row is one access.
  --layout.rank;
  for (int d = 0; d < layout.rank; ++d) {
    layout.size[d] = layout.size[d + 1];
    for (auto& stride : layout.stride) stride[d] = stride[d + 1];
  }
}

int innermost_in_x(const Layout<kCopyOperands>& layout) {
  int innermost = 0;
  for (int d = 0; d < layout.rank; ++d) {
    int64_t stride = std::abs(layout.stride[kCopyX][d]);
    if (stride != 0 && stride < std::abs(layout.stride[kCopyX][innermost])) innermost = d;
  }
  return innermost;
}

}  // namespace hipops
