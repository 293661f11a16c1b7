// The launches of RowSums: which way they go, and their walks.
#include "row_sums.h"

#include <algorithm>
#include <cmath>

#include "device/launch_contract.h"
#include "divisor.h"
#include "index_add.h"
#include "indices.h"
#include "row_order.h"
#include "rows.h"
#include "runtime/runtime.h"
#include "strided.h"
#include "tensor.h"

namespace hipops {
namespace {

// The list begins with the kernels that order.
enum { kSplit, kJoin, kBound, kOrderKernels };

enum Mode { list, deep, scan, few, joined };
struct Variant {
  hipops_dtype dtype;
  bool wide;
  Mode mode;
};

// The names that the list uses. Unsigned integers stand for signed ones too.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr hipops_dtype u8 = HIPOPS_U8, u32 = HIPOPS_U32, u64 = HIPOPS_U64;
#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
#define ONE(...) +1
static_assert(kOrderKernels + sizeof(kVariants) / sizeof(kVariants[0]) == 0 HIPOPS_INDEX_ADD_KERNELS(ONE),
              "all kernels are one or the other");
#undef ONE

hipops_dtype added_as(hipops_dtype dtype) { return dtype == HIPOPS_I32 ? u32 : dtype == HIPOPS_I64 ? u64 : dtype; }

int find_kernel(hipops_dtype dtype, bool wide, Mode mode) {
  int i = 0;
  while (kVariants[i].dtype != added_as(dtype) || kVariants[i].wide != wide || kVariants[i].mode != mode) ++i;
  return kOrderKernels + i;
}

OrderPlan plan_order_of(const RowSums& t) {
  return is_empty(*t.x) || is_empty(*t.y) ? OrderPlan{} : plan_order(t.y->shape[t.dim], t.index->shape[0]);
}

OrderPlan plan_spread_of(const RowSums& t) {
  return is_empty(*t.x) || is_empty(*t.y) ? OrderPlan{} : plan_spread(t.y->shape[t.dim], t.index->shape[0]);
}

// ---- The walks

// 0 where there is one element at most: what the stride says there is not looked at.
int64_t step_of(const hipops_tensor& t, int d) { return t.shape[d] > 1 ? t.stride[d] : 0; }

// `slots`: how many lists there are, in all (`list`) or for a block (`joined`).
Layout<kIndexAddOperands> layout_of(const RowSums& t, Mode mode, int64_t slots) {
  Layout<kIndexAddOperands> layout;
  if (is_empty(*t.y)) return layout;
  for (int d = t.y->rank - 1; d >= 0; --d) {
    if (d != t.dim) add_dimension(&layout, t.x->shape[d], {t.y->stride[d], t.x->stride[d], 0});
    if (d == t.dim && mode == list) add_dimension(&layout, slots, {0, 0, 1});
  }
  if (mode == joined) add_dimension(&layout, slots, {0, 0, 1});
  return layout;
}

// Whether both tensors can be taken in vectors of 16 bytes along the layout's innermost dimension.
bool allows_wide(const RowSums& t, const Layout<kIndexAddOperands>& layout) {
  if (layout.rank == 0 || layout.stride[kIndexAddY][0] != 1 || layout.stride[kIndexAddX][0] != 1 ||
      layout.stride[kIndexAddRow][0] != 0)
    return false;
  uint64_t elements = static_cast<uint64_t>(layout.size[0] | step_of(*t.y, t.dim) | step_of(*t.x, t.dim));
  for (int d = 1; d < layout.rank; ++d)
    elements |= static_cast<uint64_t>(layout.stride[kIndexAddY][d] | layout.stride[kIndexAddX][d]);
  const uint64_t bytes = elements * static_cast<uint64_t>(dtype_bytes(t.y->dtype));
  return widest_access(bytes | reinterpret_cast<uintptr_t>(t.y->data) | reinterpret_cast<uintptr_t>(t.x->data)) == 16;
}

}  // namespace

bool pays_to_join(const RowSums& t) {
  constexpr int64_t kFew = 1 << 22, kLarge = 1 << 27, kManyRows = 1 << 12, kFewSources = 4;
  const int64_t rows = t.y->shape[t.dim], size = dtype_bytes(t.x->dtype), elements = element_count(*t.x);
  const int64_t most = rows < kManyRows ? kLarge : 2 * kLarge;
  return elements >= kFew / size && (elements <= most / size || t.index->shape[0] <= kFewSources * rows);
}

std::atomic<bool> few_indices_are_ordered{false};

bool pays_to_scan(const RowSums& t) {
  constexpr int64_t kMost = 1 << 13, kBytes = 1 << 24, kPairs = 1 << 17;
  const int64_t indices = t.index->shape[0];
  return indices <= kMost && element_count(*t.x) <= kBytes / dtype_bytes(t.x->dtype) &&
         indices * indices <= kPairs * std::min(t.y->shape[t.dim], kMost);
}

int64_t few_blocks(int64_t indices, int64_t parts, int wave_size) {
  constexpr int64_t kMostBlocks = 1 << 22;
  const int64_t waves = kFewBlock / wave_size;
  if (indices > kFewIndices || parts > kMostBlocks * waves) return 0;
  const int64_t blocks = (indices * parts + waves - 1) / waves;
  return blocks <= kMostBlocks ? blocks : 0;
}

namespace {

hipops_status launch_shaped(const DeviceFacts& device, int kernel, const LaunchShape& shape, IndexAddArgs* args,
                            void* stream) {
  args->grid = shape.grid;
  return launch(op_index_add, device, kernel, shape, args, sizeof *args, stream);
}
hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream) {
  return launch_shaped(device, kernel, {static_cast<uint32_t>(grid), static_cast<uint32_t>(block)}, args, stream);
}

// Where rows are few and long lists are added to them, vectors of 16 bytes make too few work-items to keep memory busy:
// each has 8 sources in flight, or 32 elements.
bool is_short_of_lanes(const RowSums& t) {
  constexpr int64_t kBytes = 1 << 19, kLongList = 128;
  return element_count(*t.y) * dtype_bytes(t.y->dtype) < kBytes &&
         t.index->shape[0] / kLongList >= t.y->shape[t.dim];
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
  const Mode mode = is_short_of_lanes(t) ? deep : list;
  const bool wide = mode == list && allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? 16 / dtype_bytes(t.y->dtype) : 1);
  args->waves_have_one_list = wide && args->walk.dim[0].size % device.wave_size == 0;
  LaunchShape shape{static_cast<uint32_t>(grid_for(args->walk.count, kListBlock)), kListBlock};
  shape.begins_early = true;  // while the indices are ordered, half of the device is idle
  // A part each: blocks that are placed late would ask in the middle of the sums.
  args->expected_parts = std::min(args->expected_parts, shape.grid);
  return launch_shaped(device, find_kernel(t.y->dtype, wide, mode), shape, args, stream);
}

Walk<kIndexAddOperands> joined_walk(const RowSums& t, const OrderPlan& plan) {
  return walk_of(layout_of(t, joined, int64_t{1} << plan.round[0].low_bits), 16 / dtype_bytes(t.y->dtype));
}

// Whether the blocks that join can add up what they joined themselves.
bool can_be_joined(const RowSums& t, const OrderPlan& plan) {
  if (plan.rounds != 1 || plan.round[0].low_bits > kJoinedDigitBits) return false;
  const Layout<kIndexAddOperands> layout = layout_of(t, joined, int64_t{1} << plan.round[0].low_bits);
  return t.index->shape[0] >> kJoinedIndexBits == 0 && allows_wide(t, layout) && joined_walk(t, plan).small;
}

// The plan by which they do: it is a launch less, and lists that need not be written and read. Without rounds where
// they had better not.
OrderPlan plan_joined(const RowSums& t) {
  OrderPlan plan{};
  if (rows_count_as_many.load(std::memory_order_relaxed)) plan = plan_order_of(t);
  else if (pays_to_join(t)) plan = plan_spread_of(t);
  return !is_short_of_lanes(t) && can_be_joined(t, plan) ? plan : OrderPlan{};
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
  LaunchShape shape{uint32_t{1} << order.high_bits, kJoinedBlock};
  shape.begins_early = true;
  return launch_shaped(device, find_kernel(t.y->dtype, true, joined), shape, args, stream);
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
  constexpr int64_t kFewest = 128, kMost = 2 * kScanBlock;  // there is room for 3 * kScanBlock (device/row_share.h)
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewest, kMost);
}

// Sets the walk over one row, and returns whether it is by vectors.
bool walk_over_row(const RowSums& t, IndexAddArgs* args) {
  const Layout<kIndexAddOperands> layout = layout_of(t, scan, 0);
  const bool wide = allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? 16 / dtype_bytes(t.y->dtype) : 1);
  return wide;
}

// Without the order: each block finds its rows' indices itself. There are as many blocks as run at a time, or more
// where their lists would be long. Where there is little to add, half as many together read the index half as often,
// and what is added finds room in the L1 caches before its turn comes.
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

// A wave for each index and part of a row, if they are few, of floats up to 32 bits.
hipops_status try_few(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream, bool* launched) {
  *launched = false;
  const bool has_kernels = is_float(t.y->dtype) && t.y->dtype != HIPOPS_F64;
  if (!has_kernels || args->indices > kFewIndices) return HIPOPS_SUCCESS;
  const int kernel = find_kernel(t.y->dtype, walk_over_row(t, args), few);
  const int64_t parts = (args->walk.count + device.wave_size - 1) / device.wave_size;
  const int64_t blocks = few_blocks(args->indices, parts, device.wave_size);
  *launched = blocks != 0 && within_grid_limit(blocks) == blocks;
  if (!*launched) return HIPOPS_SUCCESS;
  args->scan.parts = static_cast<uint32_t>(parts);
  args->scan.by_parts = divisor_of(parts);
  return launch_on(device, kernel, blocks, kFewBlock, args, stream);
}

IndexAddArgs* set_operands(const RowSums& t, hipops_index_report* report, IndexAddArgs* args) {
  args->index = index_args(*t.index, t.y->shape[t.dim], report);
  args->index_step = step_of(*t.index, 0);
  args->indices = t.index->shape[0];
  args->x = t.x->data;
  args->y = t.y->data;
  args->x_step = step_of(*t.x, t.dim);
  args->y_step = step_of(*t.y, t.dim);
  return args;
}

}  // namespace

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

hipops_status launch_row_sums(const DeviceFacts& device, const RowSums& t, void* workspace,
                              hipops_index_report* report, void* stream) {
  IndexAddArgs args{};
  set_operands(t, report, &args);
  const bool may_be_few = !few_indices_are_ordered.load(std::memory_order_relaxed) &&
                          !rows_count_as_many.load(std::memory_order_relaxed);
  if (may_be_few) {
    bool launched;
    if (hipops_status status = try_few(device, t, &args, stream, &launched); status || launched) return status;
  }
  if (!workspace || (may_be_few && pays_to_scan(t))) return launch_scan(device, t, &args, stream);
  args.order.reported = 1;
  args.order.report_step = 1;
  return add_rows(device, t, &args, workspace, report, stream);
}

}  // namespace hipops
