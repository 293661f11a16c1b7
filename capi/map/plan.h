// How maps are launched: the mode and the walk over the tensors of a call (kernels/device/map/contract.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "device/map/contract.h"
#include "hipops/hipops.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {

struct MapVariant {
  hipops_dtype dtype;
  MapMode mode;
};
#define HIPOPS_MAP_ENTRY(name, T, mode) {T, MapMode::mode},

// At most `grid` blocks. If the walk has rows, the work-items of the blocks are whole rows where that is possible. A step
// of the grid then moves each work-item down a number of rows.
template <int K>
uint32_t blocks_of_whole_rows(const Walk<K>& walk, uint32_t grid) {
  const int64_t row_blocks = walk.dim[0].size / std::gcd(walk.dim[0].size, int64_t{kMapBlock});
  return walk.rank == 2 && grid > row_blocks ? grid - static_cast<uint32_t>(grid % row_blocks) : grid;
}

// Returns whether each step moves a work-item by the same distance, and sets the distance. Without a second round the
// kernel does not use the distance, whose product might overflow.
template <int K>
bool find_advance(const Walk<K>& walk, int64_t step, int64_t (*advance)[K]) {
  const bool is_last = step >= walk.count;
  const bool is_constant = walk.rank == 1 || (walk.rank == 2 && step % walk.dim[0].size == 0);
  for (int k = 0; k < K; ++k) {
    if (is_last || !is_constant) (*advance)[k] = 0;
    else if (walk.rank == 1) (*advance)[k] = step * walk.dim[0].stride[k];
    else (*advance)[k] = step / walk.dim[0].size * walk.dim[1].stride[k];
  }
  return is_last || is_constant;
}

// Sets the streams of the tensors, which have one shape and dtype, and elements. Returns the mode, and sets the grid.
// The first tensors are the outputs.
template <int K, int outputs>
MapMode plan_map(PlanOptions options, const hipops_tensor* const (&tensors)[K], MapStreams<K>* streams,
                 uint32_t* grid) {
  using Limits = MapLimits;
  const int64_t bytes = dtype_bytes(tensors[0]->dtype), n = kWideAccess / bytes;
  char* data[K];
  Layout<K> layout = ordered_layout(tensors, data);
  // Interleaved tensors k and k + 1: both strides are 2, and the second begins one element after the first.
  const auto alternates = [&](int k) {
    bool is_pair = data[k + 1] - data[k] == bytes && layout.stride[k][0] == 2;
    for (int d = 0; d < layout.rank; ++d) is_pair = is_pair && layout.stride[k][d] == layout.stride[k + 1][d];
    return is_pair;
  };
  int32_t alternate = K - outputs >= 2 && alternates(K - 2) ? kAlternateInputs : 0;
  if (outputs == 2 && alternates(0)) alternate |= kAlternateOutputs;
  bool has_rows = true, has_vectors = true;
  uint64_t bits = bits_of(layout.size[0] * bytes);
  uint64_t misaligned = 0, of_outputs = 0;  // any difference of alignments: of all tensors, and between rows of outputs
  for (int k = 0; k < K; ++k) {
    const bool is_paired = k < outputs ? alternate & kAlternateOutputs : k >= K - 2 && alternate & kAlternateInputs;
    has_rows = has_rows && layout.stride[k][0] == 1;
    has_vectors = has_vectors && (is_paired || layout.stride[k][0] == 1);
    misaligned |= bits_of(data[k]) ^ bits_of(data[0]);
    if (!is_paired || k == 0 || k == K - 2) bits |= bits_of(data[k]);
    for (int d = 1; d < layout.rank; ++d) {
      bits |= bits_of(layout.stride[k][d] * bytes);
      if (k < outputs) of_outputs |= bits_of((layout.stride[k][d] - layout.stride[0][d]) * bytes);
    }
    if (k == outputs - 1) of_outputs |= misaligned;
  }
  MapStreams<K>& s = *streams;
  MapMode mode = MapMode::any;
  int64_t vector = 1;
  if (has_vectors && widest_access(bits) == kWideAccess) {
    mode = MapMode::wide;
    vector = n;
    s.alternate = alternate;
    if (alternate & kAlternateInputs) data[K - 1] = data[K - 2] + kWideAccess;
    if (alternate & kAlternateOutputs) data[1] = data[0] + kWideAccess;
  } else if (has_rows && layout.rank == 1 && widest_access(misaligned) == kWideAccess && layout.size[0] >= 2 * n) {
    mode = MapMode::wide;
    vector = n;
    s.head = static_cast<int32_t>((~bits_of(data[0]) + 1) % bits_of(kWideAccess)) / static_cast<int32_t>(bytes);
    s.tail = static_cast<int32_t>((layout.size[0] - s.head) % n);
    layout.size[0] -= s.head + s.tail;
    for (char*& at : data) at += s.head * bytes;
  } else if (has_rows && widest_access(of_outputs) == kWideAccess &&
             layout.size[0] * bytes >= Limits::kLeastShiftedRowBytes && layout.size[0] < Limits::kPastRowAccesses) {
    mode = MapMode::shifted;
  }
  std::copy(data, data + K, s.data);
  int64_t items;
  if (mode == MapMode::shifted) {
    s.rows.cols = layout.size[0];
    s.walk = walk_of(outer_dimensions(layout));
    const int64_t pieces = shifted_pieces(s.rows.cols, bytes);
    s.rows.lane_bits = row_lane_bits(pieces, kMapDepth);
    cut_rows(pieces, kMapDepth, &s.walk, &s.rows);
    items = s.rows.count;
  } else {
    s.walk = walk_of(layout, vector);
    // `any` has a fixed number of elements for each work-item. The last of them may be past the end.
    const int64_t most = mode == MapMode::wide ? (K == 2 ? Limits::kMostRounds : Limits::kMostRoundsOfMore) : kMapElements;
    const int64_t rounds = (s.walk.count - 1) / Limits::kWorkItemsARound + 1;
    items = (s.walk.count - 1) / (options.small_apart ? std::min(rounds, most) : most) + 1;
  }
  *grid = options.grid_for(items, kMapBlock);
  if (mode == MapMode::wide) *grid = blocks_of_whole_rows(s.walk, *grid);
  s.apart = int64_t{*grid} * kMapBlock;
  s.step = s.apart * (mode == MapMode::any ? kMapElements : 1);
  s.advances = find_advance(s.walk, s.step, &s.advance);
  return mode;
}

// Plans and launches. `args` contains the streams, and is `bytes` long. One of two outputs may be NULL.
template <int K, int outputs = 1, size_t length>
hipops_status launch_map(Op& op, const MapVariant (&list)[length], const hipops_tensor* const (&given)[K],
                         MapStreams<K>* streams, const void* args, size_t bytes, void* stream) {
  uint32_t grid;
  const hipops_tensor* tensors[K];
  for (int k = 0; k < K; ++k) {
    tensors[k] = given[k] ? given[k] : given[1 - k];
    if (k < outputs && given[k]) streams->present |= 1 << k;
  }
  const MapMode mode = plan_map<K, outputs>(plan_options(), tensors, streams, &grid);
  const hipops_dtype dtype = tensors[0]->dtype;
  const int kernel = place_of(list, [&](const MapVariant& v) { return v.dtype == dtype && v.mode == mode; });
  return launch(op, kernel, grid, kMapBlock, args, bytes, stream);
}

}  // namespace hipops
