// Collapsed layouts of tensors that are walked together, for the ops that take any of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/core/strided_contract.h"
#include "tensor/divisor.h"
#include "hipops/hipops.h"

namespace hipops {

// One shape, and the strides in elements by which K operands step through it; dimension 0 is the innermost.
template <int K>
struct Layout {
  int rank = 0;
  int64_t size[kMaxRank] = {};
  int64_t stride[K][kMaxRank] = {};
};

// Adds a dimension outside of those there are. Of size 1: nothing; one that continues the steps of the one before in
// every operand: merged with it.
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

template <int K>
void find_divisors(Walk<K>* walk) {
  std::copy_n(walk->dim[walk->rank - 1].stride, K, walk->outermost);
  for (int d = 0; d < walk->rank; ++d) {
    walk->dim[d].divisor = divisor_of(walk->dim[d].size);
    walk->dim[d].wide_divisor = wide_divisor_of(walk->dim[d].size);
  }
}

// The walk over the layout in vectors of `vector` elements along the innermost dimension (which has stride 1 or 0 in
// every operand, and a size that is a multiple of it, unless `vector` is 1).
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
  walk.small = walk.count < (int64_t{1} << 31);
  find_divisors(&walk);
  return walk;
}

// Counts an operand's steps in vectors, where they are multiples of those.
template <int K>
void step_by_vectors(Walk<K>* walk, int operand, int64_t vector) {
  for (int d = 0; d < walk->rank; ++d) walk->dim[d].stride[operand] /= vector;
  walk->outermost[operand] /= vector;
}

constexpr int64_t kWideAccess = 16;  // bytes: the widest there is

inline uint64_t bits_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
inline uint64_t bits_of(int64_t bytes) { return static_cast<uint64_t>(bytes); }

// The widest access in bytes, a power of two of at most kWideAccess, that fits addresses, lengths and steps (in bytes,
// of any sign) whose bits are or-ed together in `bits`.
inline int64_t widest_access(uint64_t bits) {
  bits |= bits_of(kWideAccess);
  return static_cast<int64_t>(bits & (~bits + 1));
}

// How many work-items, as a power of 2, share rows of so many pieces, of which each takes kShiftedDepth: 128, or what
// leaves fewer of them idle.
int shifted_lanes(int64_t pieces);

// Blocks for `count` work-items' worth of work in blocks of `block`: never more than 2^32 work-items; kernels loop over
// what is left.
uint32_t grid_for(int64_t count, uint32_t block);

}  // namespace hipops
