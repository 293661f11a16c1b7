// Collapsed layouts of tensors that a kernel walks together, for ops that support any strides.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/core/strided_contract.h"
#include "hipops/hipops.h"
#include "tensor/divisor.h"
#include "tensor/tensor.h"

namespace hipops {

// A shape, and the strides in elements of K operands. Dimension 0 is the innermost.
template <int K>
struct Layout {
  int rank = 0;
  int64_t size[kMaxRank] = {};
  int64_t stride[K][kMaxRank] = {};
};

// Adds an outer dimension. Size 1 is dropped. Dimensions that continue each other in every operand are joined.
template <int K>
void add_dimension(Layout<K>* layout, int64_t size, const int64_t (&stride)[K]) {
  if (size == 1) return;
  int last = layout->rank - 1;
  bool continues = last >= 0;
  for (int k = 0; k < K && continues; ++k) continues = stride[k] == layout->stride[k][last] * layout->size[last];
  if (continues) {
    layout->size[last] *= size;
    return;
  }
  layout->size[layout->rank] = size;
  for (int k = 0; k < K; ++k) layout->stride[k][layout->rank] = stride[k];
  ++layout->rank;
}

// The layout of tensors of one shape, with dimensions sorted by the first tensor's strides. A dimension with a
// negative stride in the first tensor is reversed in all. Sets `data` to the first elements.
template <int K>
Layout<K> ordered_layout(const hipops_tensor* const (&tensors)[K], char* (&data)[K]) {
  struct Dimension {
    int64_t size, stride[K];
  } dimension[kMaxRank];
  int rank = 0;
  for (int k = 0; k < K; ++k) data[k] = static_cast<char*>(tensors[k]->data);
  for (int d = tensors[0]->rank - 1; d >= 0; --d) {  // the last dimension mostly has the smallest stride
    Dimension next{tensors[0]->shape[d], {}};
    if (next.size == 1) continue;
    const bool backwards = tensors[0]->stride[d] < 0;
    for (int k = 0; k < K; ++k) {
      next.stride[k] = tensors[k]->stride[d];
      if (!backwards) continue;
      data[k] += next.stride[k] * (next.size - 1) * dtype_bytes(tensors[k]->dtype);
      next.stride[k] = -next.stride[k];
    }
    int at = rank++;
    for (; at > 0 && dimension[at - 1].stride[0] > next.stride[0]; --at) dimension[at] = dimension[at - 1];
    dimension[at] = next;
  }
  Layout<K> layout;
  for (int d = 0; d < rank; ++d) add_dimension(&layout, dimension[d].size, dimension[d].stride);
  if (layout.rank == 0) {
    layout.rank = 1;
    layout.size[0] = 1;
    for (int k = 0; k < K; ++k) layout.stride[k][0] = 1;
  }
  return layout;
}

// The layout without its innermost dimension.
template <int K>
Layout<K> outer_dimensions(const Layout<K>& layout) {
  Layout<K> outer;
  for (int d = 1; d < layout.rank; ++d) {
    int64_t stride[K];
    for (int k = 0; k < K; ++k) stride[k] = layout.stride[k][d];
    add_dimension(&outer, layout.size[d], stride);
  }
  return outer;
}

template <int K>
void find_divisors(Walk<K>* walk) {
  std::copy_n(walk->dim[walk->rank - 1].stride, K, walk->outermost);
  for (int d = 0; d < walk->rank; ++d) {
    walk->dim[d].divisor = divisor_of(walk->dim[d].size);
    walk->dim[d].wide_divisor = wide_divisor_of(walk->dim[d].size);
  }
}

// The walk over the layout in vectors of `vector` elements along the innermost dimension. If `vector` is more than 1,
// that dimension has stride 1 or 0 in every operand, and its size is a multiple of `vector`.
template <int K>
Walk<K> walk_of(const Layout<K>& layout, int64_t vector = 1) {
  Walk<K> walk{};
  walk.rank = layout.rank == 0 ? 1 : layout.rank;
  walk.count = 1;
  for (int d = 0; d < walk.rank; ++d) {
    int64_t step = d == 0 ? vector : 1;
    walk.dim[d].size = d < layout.rank ? layout.size[d] / step : 1;
    walk.count *= walk.dim[d].size;
    for (int k = 0; k < K; ++k) walk.dim[d].stride[k] = layout.stride[k][d] * step;
  }
  walk.fits_int32 = walk.count < (int64_t{1} << 31);
  find_divisors(&walk);
  return walk;
}

// Converts an operand's strides from elements to vectors. The strides must be multiples of `vector`.
template <int K>
void step_by_vectors(Walk<K>* walk, int operand, int64_t vector) {
  for (int d = 0; d < walk->rank; ++d) walk->dim[d].stride[operand] /= vector;
  walk->outermost[operand] /= vector;
}

// log2 of the work-items that share a row of `pieces`: 128 work-items, or fewer if fewer of them are idle then. Each
// work-item has `depth` pieces at a time.
inline int row_lane_bits(int64_t pieces, int64_t depth) {
  auto padded = [&](int bits) { return ((pieces - 1) / (depth << bits) + 1) * (depth << bits); };
  int best = 7;
  for (int bits = 6; bits >= 4; --bits)
    if (padded(bits) < padded(best)) best = bits;
  return best;
}

// Cuts the walk's rows of `accesses` accesses into pieces. Each work-item of a piece has `depth` accesses.
template <int K>
void cut_rows(int64_t accesses, int64_t depth, Walk<K>* walk, RowPieces* rows) {
  rows->pieces = (accesses + (depth << rows->lane_bits) - 1) / (depth << rows->lane_bits);
  rows->count = (walk->count * rows->pieces) << rows->lane_bits;
  walk->fits_int32 = walk->count * rows->pieces < int64_t{1} << 31;
  rows->pieces_divisor = divisor_of(rows->pieces);
  rows->wide_pieces_divisor = wide_divisor_of(rows->pieces);
}

constexpr int64_t kWideAccess = 16;  // bytes; no GPU has a wider access

inline uint64_t bits_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
inline uint64_t bits_of(int64_t bytes) { return static_cast<uint64_t>(bytes); }

// The widest access, in bytes, that divides several addresses, lengths and steps. `bits` is their bitwise or. They are
// in bytes and may be negative. The result is a power of two, at most kWideAccess.
inline int64_t widest_access(uint64_t bits) {
  bits |= bits_of(kWideAccess);
  return static_cast<int64_t>(bits & (~bits + 1));
}

}  // namespace hipops
