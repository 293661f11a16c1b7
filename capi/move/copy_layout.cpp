#include "move/copy_layout.h"

#include <algorithm>
#include <cstdlib>

#include "tensor/tensor.h"

namespace hipops {

Copy ordered_copy(const hipops_tensor& y, const hipops_tensor& x) {
  Copy copy{static_cast<char*>(y.data), static_cast<const char*>(x.data), dtype_bytes(x.dtype), {}};
  struct Dimension {
    int64_t size, stride[kCopyOperands];
  } dimension[kMaxRank];  // sorted by stride in y
  int rank = 0;
  for (int d = x.rank - 1; d >= 0; --d) {  // the last dimension mostly has the smallest stride
    if (x.shape[d] == 1) continue;
    Dimension next{x.shape[d], {y.stride[d], x.stride[d]}};
    if (next.stride[kCopyY] < 0) {
      copy.y += next.stride[kCopyY] * (next.size - 1) * copy.unit;
      copy.x += next.stride[kCopyX] * (next.size - 1) * copy.unit;
      for (int64_t& stride : next.stride) stride = -stride;
    }
    int at = rank++;
    for (; at > 0 && dimension[at - 1].stride[kCopyY] > next.stride[kCopyY]; --at) dimension[at] = dimension[at - 1];
    dimension[at] = next;
  }
  for (int d = 0; d < rank; ++d) add_dimension(&copy.layout, dimension[d].size, dimension[d].stride);
  if (copy.layout.rank == 0) {
    copy.layout.rank = 1;
    copy.layout.size[0] = copy.layout.stride[kCopyY][0] = copy.layout.stride[kCopyX][0] = 1;
  }
  return copy;
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

int shifted_lane_bits(int64_t pieces) {
  auto padded = [&](int bits) {
    const int64_t part = int64_t{kShiftedDepth} << bits;
    return (pieces + part - 1) / part * part;
  };
  int best = 7;
  for (int bits = 6; bits >= 4; --bits)
    if (padded(bits) < padded(best)) best = bits;
  return best;
}

}  // namespace hipops
