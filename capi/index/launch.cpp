#include <algorithm>
#include <cmath>

#include "device/core/launch_contract.h"
#include "index/indices.h"
#include "index/plan.h"
#include "tensor/divisor.h"
#include "tensor/overlap.h"

namespace hipops {
namespace {

// Bytes of x for each unit that a launch has the L2 cache load while it waits for the sort.
constexpr int64_t kAheadOfJoined = int64_t{120} << 10, kAheadOfSegments = int64_t{160} << 10;

hipops_status launch_shaped(const DeviceFacts& device, int kernel, const LaunchShape& shape, IndexAddArgs* args,
                            void* stream) {
  args->grid = shape.grid;
  return launch(op_index_add, device, kernel, shape, args, sizeof *args, stream);
}

hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream) {
  return launch_shaped(device, kernel, {static_cast<uint32_t>(grid), static_cast<uint32_t>(block)}, args, stream);
}

// The launch that sums what is sorted: while that goes on, half of the device is idle.
hipops_status launch_early(const DeviceFacts& device, const SumsPlan& plan, int block, IndexAddArgs* args,
                           void* stream) {
  args->waves_have_one_list = plan.vector > 1 && args->walk.dim[0].size % device.wave_size == 0;
  LaunchShape shape{static_cast<uint32_t>(plan.grid), static_cast<uint32_t>(block)};
  shape.begins_early = true;
  return launch_shaped(device, plan.kernel, shape, args, stream);
}

// Memory has little to do while indices are sorted: x is loaded ahead from its begin on. An x with gaps, which may be
// another's memory or none, goes without. Returns whether there is more of x.
bool set_expected(const hipops_tensor& x, int64_t most, IndexAddArgs* args) {
  ByteRange range;
  if (!byte_range(x, &range) || !elements_are_distinct(x)) return false;
  const uintptr_t begin = (range.begin + 15) / 16 * 16;
  const int64_t bytes = static_cast<int64_t>(range.end - begin);
  if (bytes > element_count(x) * dtype_bytes(x.dtype)) return false;
  args->expected = reinterpret_cast<const void*>(begin);
  args->expected_parts = static_cast<uint32_t>(std::min(bytes, most) / kExpectedPart);
  return bytes > most;
}

Layout<kIndexAddOperands> layout_of(const RowSums& t, const SumsChoice& choice) {
  if (choice.way == SumsWay::few || choice.way == SumsWay::scan) return row_layout(t);
  if (choice.way == SumsWay::joined) return row_layout(t, 1, int64_t{1} << choice.sort.pass[0].low_bits);
  return row_layout(t, choice.sort.segments);
}

hipops_status launch_few(const DeviceFacts& device, const SumsPlan& plan, IndexAddArgs* args, void* stream) {
  args->scan.parts = static_cast<uint32_t>(plan.parts);
  args->scan.by_parts = divisor_of(plan.parts);
  return launch_on(device, plan.kernel, plan.grid, kFewBlock, args, stream);
}

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
  constexpr int64_t kFewest = 128, kMost = 2 * kScanBlock;  // room is for 3 * kScanBlock (device/index/index_share.h)
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewest, kMost);
}

// There are as many blocks as run at a time, or more where their segments would be long.
hipops_status launch_scan(const DeviceFacts& device, const SumsPlan& plan, IndexAddArgs* args, void* stream) {
  constexpr int64_t kMostBlocks = 1 << 22;
  const int64_t rows = std::min(args->index.size, mark_of(args->index.type)), most = within_grid_limit(kMostBlocks);
  ScanArgs& s = args->scan;
  s.lane_bits = static_cast<int16_t>(plan.lane_bits);
  s.reports = 1;
  s.expects = plan.choice.scan_blocks_a_unit == 1;
  do {
    s.rows = static_cast<uint32_t>(std::min<int64_t>(rows - s.first_row, UINT32_MAX));
    s.first_part = 0;
    do {
      // With no rows at all there is something left to do: to report the indices.
      const int64_t now = std::clamp<int64_t>(plan.parts - s.first_part, 1, most);
      const int64_t wanted = std::max(plan.choice.scan_blocks_a_unit * int64_t{device.units} / now,
                                      args->indices / indices_of_share(args->indices));
      const int64_t shares = std::max<int64_t>(std::min({wanted, args->indices, rows, most / now}), 1);
      s.parts = static_cast<uint32_t>(now);
      s.by_parts = divisor_of(now);
      s.last_share = static_cast<uint32_t>(shares - 1);
      s.hashes = static_cast<uint32_t>(UINT32_MAX / shares);
      if (hipops_status status = launch_on(device, plan.kernel, shares * now, kScanBlock, args, stream)) return status;
      s.first_part += now;
      s.reports = 0;
    } while (s.first_part < plan.parts);
    s.first_row += UINT32_MAX;
  } while (s.first_row < rows);
  return HIPOPS_SUCCESS;
}

hipops_status launch_partition(const DeviceFacts& device, const SortPlan& sort, int pass, IndexAddArgs* args,
                               void* stream) {
  set_pass(sort, pass, &args->order);
  return launch_on(device, kSplit, sort.blocks, kOrderBlock, args, stream);
}

hipops_status launch_joined(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, IndexAddArgs* args,
                            void* stream) {
  set_expected(*t.x, device.units * kAheadOfJoined, args);
  args->order.by_position = 0;  // segments stay where they are sorted
  if (hipops_status status = launch_partition(device, plan.choice.sort, 0, args, stream)) return status;
  return launch_early(device, plan, kJoinedBlock, args, stream);
}

// Sums follow a sort that is whole: that of one pass leaves segments, that of two has them found.
hipops_status launch_sorted(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, IndexAddArgs* args,
                            void* stream) {
  const SortPlan& sort = plan.choice.sort;
  RowOrder& order = args->order;
  const bool more_of_x = set_expected(*t.x, device.units * kAheadOfSegments, args);
  for (int pass = 0; pass < sort.passes; ++pass) {
    if (hipops_status status = launch_partition(device, sort, pass, args, stream)) return status;
    // Where there is more of x, it pays to ask even sooner, in the way of the sort. Of sums that may turn out not to be
    // wanted (scatter_add's), nothing is hurried.
    args->next_at_once = sort.passes == 1 && more_of_x && order.state == nullptr;
    const int64_t joins = int64_t{1} << order.high_bits;
    if (hipops_status status = launch_on(device, kJoin, joins, kOrderBlock, args, stream)) return status;
    args->next_at_once = 0;
  }
  if (sort.passes == 2) {
    order.from = static_cast<const OrderEntry*>(order.joined);
    const int64_t blocks = grid_for(args->indices, kOrderBlock);
    if (hipops_status status = launch_on(device, kBound, blocks, kOrderBlock, args, stream)) return status;
  }
  // A part each: blocks that are placed late would ask in the middle of the sums.
  args->expected_parts = std::min(args->expected_parts, static_cast<uint32_t>(plan.grid));
  return launch_early(device, plan, kListBlock, args, stream);
}

}  // namespace

hipops_status launch_sums(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, void* workspace,
                          hipops_index_report* report, IndexAddArgs* args, void* stream) {
  const SortPlan& sort = plan.choice.sort;
  args->index = index_args(*t.index, t.y->shape[t.dim], report);
  args->index_step = step_of(*t.index, 0);
  args->indices = t.index->shape[0];
  args->x = t.x->data;
  args->y = t.y->data;
  args->x_step = step_of(*t.x, t.dim);
  args->y_step = step_of(*t.y, t.dim);
  args->walk = walk_of(layout_of(t, plan.choice), plan.vector);
  if (sort.passes != 0) place_sort(sort, args->index.size, workspace, &args->order);
  switch (plan.choice.way) {
    case SumsWay::few: return launch_few(device, plan, args, stream);
    case SumsWay::scan: return launch_scan(device, plan, args, stream);
    case SumsWay::joined: return launch_joined(device, t, plan, args, stream);
    default: return launch_sorted(device, t, plan, args, stream);
  }
}

}  // namespace hipops
