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

hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream, bool begins_early = false) {
  LaunchShape shape{static_cast<uint32_t>(grid), static_cast<uint32_t>(block)};
  shape.begins_early = begins_early;
  args->grid = shape.grid;
  return launch(op_index_add, device, kernel, shape, args, sizeof *args, stream);
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

// The index that names nothing, by IndexType: the type's greatest value.
constexpr int64_t kMark[] = {UINT8_MAX, INT16_MAX, INT32_MAX, UINT32_MAX, INT64_MAX};
static_assert(kIndexU8 == 0 && kIndexI16 == 1 && kIndexI32 == 2 && kIndexU32 == 3 && kIndexI64 == 4, "kMark's order");

// How many of the index a share of the rows has at most, on average: a block goes over all of the index to find them,
// and compares each with all others to put them in order.
int64_t indices_of_share(int64_t indices) {
  constexpr int64_t kFewest = 128, kMost = 2 * kScanBlock;  // room is for 3 * kScanBlock (device/index/index_share.h)
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewest, kMost);
}

// There are as many blocks as run at a time, or more where their segments would be long.
hipops_status launch_scan(const DeviceFacts& device, const SumsPlan& plan, IndexAddArgs* args, void* stream) {
  constexpr int64_t kMostBlocks = 1 << 22;
  const int64_t rows = std::min(args->index.size, kMark[args->index.type]), most = within_grid_limit(kMostBlocks);
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

hipops_status launch_joined(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, IndexAddArgs* args,
                            void* stream) {
  const SortPlan& sort = plan.choice.sort;
  set_expected(*t.x, device.units * kAheadOfJoined, args);
  args->order.by_position = 0;  // segments stay where they are sorted
  set_pass(sort, 0, &args->order);
  if (hipops_status status = launch_on(device, kSplit, sort.blocks, kOrderBlock, args, stream)) return status;
  return launch_on(device, plan.kernel, plan.grid, kJoinedBlock, args, stream, true);
}

// Sums follow a sort that is whole: that of one pass leaves segments, that of two has them found. They begin early, as
// half of the device is idle while indices are sorted.
hipops_status launch_sorted(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, IndexAddArgs* args,
                            void* stream) {
  const SortPlan& sort = plan.choice.sort;
  RowOrder& order = args->order;
  const bool more_of_x = set_expected(*t.x, device.units * kAheadOfSegments, args);
  for (int pass = 0; pass < sort.passes; ++pass) {
    set_pass(sort, pass, &order);
    if (hipops_status status = launch_on(device, kSplit, sort.blocks, kOrderBlock, args, stream)) return status;
    // Where there is more of x, it pays to ask even sooner, in the way of the sort. Of sums that may turn out not to be
    // wanted (scatter_add's), nothing is hurried.
    args->next_at_once = sort.passes == 1 && more_of_x && order.state == nullptr;
    const int64_t parts = int64_t{1} << order.high_bits;
    if (hipops_status status = launch_on(device, kJoin, parts, kOrderBlock, args, stream)) return status;
    args->next_at_once = 0;
  }
  if (sort.passes == 2) {
    order.from = static_cast<const OrderEntry*>(order.joined);
    const int64_t blocks = grid_for(args->indices, kOrderBlock);
    if (hipops_status status = launch_on(device, kBound, blocks, kOrderBlock, args, stream)) return status;
  }
  // A part each: blocks that are placed late would ask in the middle of the sums.
  args->expected_parts = std::min(args->expected_parts, static_cast<uint32_t>(plan.grid));
  return launch_on(device, plan.kernel, plan.grid, kListBlock, args, stream, true);
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
  if (sort.passes != 0) {
    place_sort(sort, args->index.size, workspace, &args->order);
    args->waves_have_one_list = plan.vector > 1 && args->walk.dim[0].size % device.wave_size == 0;
  }
  switch (plan.choice.way) {
    case SumsWay::few: return launch_few(device, plan, args, stream);
    case SumsWay::scan: return launch_scan(device, plan, args, stream);
    case SumsWay::joined: return launch_joined(device, t, plan, args, stream);
    default: return launch_sorted(device, t, plan, args, stream);
  }
}

}  // namespace hipops
