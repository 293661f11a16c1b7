// Sums of rows whose indices are looked for: by blocks that share the rows, or, where indices are few, by a wave for each.
#include <algorithm>
#include <cmath>

#include "count_as_many.h"
#include "tensor/divisor.h"
#include "index/index_sums_ways.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// The index that names nothing: its type's greatest value.
int64_t mark_of(IndexType type) {
  switch (type) {
    case kIndexU8: return UINT8_MAX;
    case kIndexI16: return INT16_MAX;
    case kIndexI32: return INT32_MAX;
    case kIndexU32: return UINT32_MAX;
    default: return INT64_MAX;
  }
}

// How many of the index a share of the rows has at most, on average: a block goes over all of the index to find them,
// and compares each with all others to put them in order.
int64_t indices_of_share(int64_t indices) {
  constexpr int64_t kFewest = 128, kMost = 2 * kScanBlock;  // there is room for 3 * kScanBlock (device/index/index_share.h)
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewest, kMost);
}

// Sets the walk over one row, and returns whether it is by vectors.
bool walk_over_row(const RowSums& t, IndexAddArgs* args) {
  const Layout<kIndexAddOperands> layout = layout_of(t, scan, 0);
  const bool wide = allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? kWideAccess / dtype_bytes(t.y->dtype) : 1);
  return wide;
}

}  // namespace

hipops_status launch_scan(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream) {
  constexpr int64_t kMostBlocks = 1 << 22, kLittle = 1 << 20;
  const bool is_little = element_count(*t.x) <= kLittle / dtype_bytes(t.x->dtype);
  const int64_t of_unit = is_little ? 1 : 2;
  const int kernel = find_kernel(t.y->dtype, walk_over_row(t, args), scan);
  const int64_t rows = std::min(args->index.size, mark_of(args->index.type)), most = within_grid_limit(kMostBlocks);
  ScanArgs& s = args->scan;
  s.lane_bits = static_cast<int16_t>(log2_up(std::clamp<int64_t>(args->walk.count, 1, device.wave_size)));
  const int64_t parts = (args->walk.count + (int64_t{1} << s.lane_bits) - 1) >> s.lane_bits;
  s.reports = 1;
  s.expects = is_little;
  do {
    s.rows = static_cast<uint32_t>(std::min<int64_t>(rows - s.first_row, UINT32_MAX));
    s.first_part = 0;
    do {
      // With no rows at all there is something left to do: to report the indices.
      const int64_t now = std::clamp<int64_t>(parts - s.first_part, 1, most);
      const int64_t wanted = std::max(of_unit * device.units / now, args->indices / indices_of_share(args->indices));
      const int64_t shares = std::max<int64_t>(std::min({wanted, args->indices, rows, most / now}), 1);
      s.parts = static_cast<uint32_t>(now);
      s.by_parts = divisor_of(now);
      s.last_share = static_cast<uint32_t>(shares - 1);
      s.hashes = static_cast<uint32_t>(UINT32_MAX / shares);
      if (hipops_status status = launch_on(device, kernel, shares * now, kScanBlock, args, stream)) return status;
      s.first_part += now;
      s.reports = 0;
    } while (s.first_part < parts);
    s.first_row += UINT32_MAX;
  } while (s.first_row < rows);
  return HIPOPS_SUCCESS;
}

hipops_status try_few(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream, bool* launched) {
  *launched = false;
  if (args->indices > kFewIndices || !has_kernel(t.y->dtype, false, few)) return HIPOPS_SUCCESS;
  const int kernel = find_kernel(t.y->dtype, walk_over_row(t, args), few);
  const int64_t parts = (args->walk.count + device.wave_size - 1) / device.wave_size;
  const int64_t blocks = few_blocks(args->indices, parts, device.wave_size);
  *launched = blocks != 0 && within_grid_limit(blocks) == blocks;
  if (!*launched) return HIPOPS_SUCCESS;
  args->scan.parts = static_cast<uint32_t>(parts);
  args->scan.by_parts = divisor_of(parts);
  return launch_on(device, kernel, blocks, kFewBlock, args, stream);
}

std::atomic<bool> few_indices_are_ordered{false};

bool pays_to_scan(const RowSums& t) {
  constexpr int64_t kFew = 1 << 13, kMost = 2 * kFew, kBytes = 1 << 24, kPairs = 1 << 17;
  const int64_t indices = t.index->shape[0], bytes = indices <= kFew ? kBytes : kBytes / 2;
  return indices <= kMost && element_count(*t.x) <= bytes / dtype_bytes(t.x->dtype) &&
         indices * indices <= kPairs * std::min(t.y->shape[t.dim], kMost);
}

int64_t few_blocks(int64_t indices, int64_t parts, int wave_size) {
  constexpr int64_t kMostBlocks = 1 << 22;
  const int64_t waves = kFewBlock / wave_size;
  if (indices > kFewIndices || parts > kMostBlocks * waves) return 0;
  const int64_t blocks = (indices * parts + waves - 1) / waves;
  return blocks <= kMostBlocks ? blocks : 0;
}

}  // namespace hipops
