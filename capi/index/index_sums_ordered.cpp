// Sums of rows whose indices are ordered first: then each row's sources are a list.
#include <algorithm>

#include "count_as_many.h"
#include "device/core/launch_contract.h"
#include "index/index_sums_ways.h"
#include "tensor/overlap.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

OrderPlan plan_order_of(const RowSums& t) {
  return is_empty(*t.x) || is_empty(*t.y) ? OrderPlan{} : plan_order(t.y->shape[t.dim], t.index->shape[0]);
}

OrderPlan plan_spread_of(const RowSums& t) {
  const int64_t rows = t.y->shape[t.dim], indices = t.index->shape[0];
  return is_empty(*t.x) || is_empty(*t.y) ? OrderPlan{} : plan_spread(rows, indices, spread_bits(t));
}

bool is_little(const RowSums& t) {
  constexpr int64_t kBytes = 1 << 22;
  return element_count(*t.x) < kBytes / dtype_bytes(t.x->dtype);
}

// Whether so few blocks as are there for little mostly have room for the sources of each.
bool few_blocks_have_room(const RowSums& t) {
  return t.index->shape[0] <= int64_t{kJoinedBatch / 8 * 7} << kSpreadBitsOfLittle;
}

// Where rows are few and long lists are added to them, vectors of 16 bytes make too few work-items to keep memory busy:
// each has 8 sources in flight, or 32 elements.
bool is_short_of_lanes(const RowSums& t) {
  constexpr int64_t kBytes = 1 << 19, kManySources = 128;
  return element_count(*t.y) * dtype_bytes(t.y->dtype) < kBytes &&
         t.index->shape[0] / kManySources >= t.y->shape[t.dim];
}

int64_t list_slots(const RowSums& t, bool by_position) { return by_position ? t.index->shape[0] : t.y->shape[t.dim]; }

// Blocks that wait while the indices are ordered have the L2 cache load x from its begin on, `most` bytes of it: memory
// has little to do in that time. An x with gaps, which may be another's memory or none, goes without. Returns whether
// there is more of x.
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

hipops_status launch_order(const DeviceFacts& device, const OrderPlan& plan, char* workspace, bool sums_at_once,
                           IndexAddArgs* args, void* stream) {
  RowOrder& order = args->order;
  place_order(plan, args->index.size, workspace, &order);
  for (int round = 0; round < plan.rounds; ++round) {
    set_round(plan, round, &order);
    if (hipops_status status = launch_on(device, kSplit, plan.blocks, kOrderBlock, args, stream)) return status;
    const int64_t joins = int64_t{1} << order.high_bits;
    args->next_at_once = plan.rounds == 1 && sums_at_once;
    if (hipops_status status = launch_on(device, kJoin, joins, kOrderBlock, args, stream)) return status;
    args->next_at_once = 0;
  }
  if (plan.rounds == 1) return HIPOPS_SUCCESS;
  order.from = static_cast<const OrderEntry*>(order.joined);
  return launch_on(device, kBound, grid_for(args->indices, kOrderBlock), kOrderBlock, args, stream);
}

// The indices are ordered, and then each row's list is gone over.
hipops_status launch_list(const DeviceFacts& device, const RowSums& t, const OrderPlan& plan, char* workspace,
                          IndexAddArgs* args, void* stream) {
  const bool more_of_x = set_expected(*t.x, device.units * (int64_t{160} << 10), args);
  // Where there is more of x, it pays to ask even sooner, in the way of the ordering. Of sums that may turn out not to
  // be wanted (scatter_add's), nothing is hurried.
  const bool at_once = more_of_x && args->order.state == nullptr;
  if (hipops_status status = launch_order(device, plan, workspace, at_once, args, stream)) return status;
  const bool by_position = plan.by_position;
  const Layout<kIndexAddOperands> layout = layout_of(t, list, list_slots(t, by_position));
  const IndexSumMode mode = is_short_of_lanes(t) ? deep : list;
  const bool wide = mode == list && allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? kWideAccess / dtype_bytes(t.y->dtype) : 1);
  args->waves_have_one_list = wide && args->walk.dim[0].size % device.wave_size == 0;
  LaunchShape shape{static_cast<uint32_t>(grid_for(args->walk.count, kListBlock)), kListBlock};
  shape.begins_early = true;  // while the indices are ordered, half of the device is idle
  // A part each: blocks that are placed late would ask in the middle of the sums.
  args->expected_parts = std::min(args->expected_parts, shape.grid);
  return launch_shaped(device, find_kernel(t.y->dtype, wide, mode), shape, args, stream);
}

Walk<kIndexAddOperands> joined_walk(const RowSums& t, const OrderPlan& plan) {
  return walk_of(layout_of(t, joined, int64_t{1} << plan.round[0].low_bits), kWideAccess / dtype_bytes(t.y->dtype));
}

// Whether the blocks that join can add up what they joined themselves.
bool can_be_joined(const RowSums& t, const OrderPlan& plan) {
  if (plan.rounds != 1 || plan.round[0].low_bits > kJoinedDigitBits) return false;
  if (!has_kernel(t.y->dtype, true, joined)) return false;
  const Layout<kIndexAddOperands> layout = layout_of(t, joined, int64_t{1} << plan.round[0].low_bits);
  return t.index->shape[0] >> kJoinedIndexBits == 0 && allows_wide(t, layout) && joined_walk(t, plan).small;
}

// The plan by which they do: it is a launch less, and lists that need not be written and read. Without rounds where
// they had better not.
OrderPlan plan_joined(const RowSums& t) {
  OrderPlan plan{};
  if (rows_count_as_many.load(std::memory_order_relaxed)) plan = plan_order_of(t);
  else if (plan = plan_spread_of(t); !pays_to_join(t, plan.round[0].high_bits)) plan = {};
  return !is_short_of_lanes(t) && can_be_joined(t, plan) ? plan : OrderPlan{};
}

bool shares_long_lists(hipops_dtype dtype) {
#define IS_IT(T) || dtype == T
  return false HIPOPS_INDEX_ADD_SHARING(IS_IT);
#undef IS_IT
}

// They are ordered, and gone over by the blocks that know them first.
hipops_status launch_joined(const DeviceFacts& device, const RowSums& t, const OrderPlan& plan, char* workspace,
                            IndexAddArgs* args, void* stream) {
  set_expected(*t.x, device.units * (int64_t{120} << 10), args);
  RowOrder& order = args->order;
  place_order(plan, args->index.size, workspace, &order);
  set_round(plan, 0, &order);
  order.by_position = 0;  // there is no room for lists, and none is written
  if (hipops_status status = launch_on(device, kSplit, plan.blocks, kOrderBlock, args, stream)) return status;
  args->walk = joined_walk(t, plan);
  args->waves_have_one_list = args->walk.dim[0].size % device.wave_size == 0;
  // Those behind the blocks that join help with long lists.
  const auto helping = static_cast<uint32_t>(shares_long_lists(t.y->dtype) ? device.units : 0);
  LaunchShape shape{(uint32_t{1} << order.high_bits) + helping, kJoinedBlock};
  shape.begins_early = true;
  return launch_shaped(device, find_kernel(t.y->dtype, true, joined), shape, args, stream);
}

}  // namespace

int spread_bits(const RowSums& t) {
  constexpr int64_t kMostRows = int64_t{1} << (kSpreadBitsOfLittle + kJoinedDigitBits);
  return is_little(t) && t.y->shape[t.dim] <= kMostRows && few_blocks_have_room(t) ? kSpreadBitsOfLittle : kSpreadBits;
}

bool pays_to_join(const RowSums& t, int high_bits) {
  constexpr int64_t kLeastOfMore = 1 << 24, kManyIndices = 1 << 7;
  const int64_t elements = element_count(*t.x), size = dtype_bytes(t.x->dtype);
  const int more = high_bits - kSpreadBits;
  if (more <= 0) return !is_little(t) || few_blocks_have_room(t);
  const bool has_many = t.index->shape[0] >> high_bits >= kManyIndices;
  return elements >= (has_many ? kLeastOfMore : kLeastOfMore << more) / size;
}

int64_t row_order_bytes(const RowSums& t) { return plan_order_of(t).bytes; }

// Enough for either plan: which one is taken depends on the device, and on where the data is.
int64_t row_sums_bytes(const RowSums& t) { return std::max(plan_order_of(t).bytes, plan_spread_of(t).bytes); }

bool rows_are_wide(const RowSums& t) {
  return allows_wide(t, layout_of(t, list, list_slots(t, plan_order_of(t).by_position)));
}

hipops_status add_rows(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* workspace,
                       hipops_index_report* report, void* stream) {
  set_operands(t, report, args);
  char* const at = static_cast<char*>(workspace);
  if (args->order.state == nullptr)
    if (const OrderPlan plan = plan_joined(t); plan.rounds != 0)
      return launch_joined(device, t, plan, at, args, stream);
  return launch_list(device, t, plan_order_of(t), at, args, stream);
}

}  // namespace hipops
