#include "index/plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "device/core/launch_contract.h"
#include "index/indices.h"
#include "policy/default_sums.h"
#include "tensor/divisor.h"
#include "tensor/overlap.h"
#include "variant_list.h"

namespace hipops {
namespace {

constexpr int64_t kMostBlocks = 1 << 22;  // of a launch

struct Variant {
  hipops_dtype dtype;
  bool wide;
  SumsWay way;
};

#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, SumsWay::mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
#define ONE(...) +1
static_assert(kSortKernels + sizeof(kVariants) / sizeof(kVariants[0]) == 0 HIPOPS_INDEX_ADD_KERNELS(ONE),
              "all kernels are one or the other");
#undef ONE

// The kernel's number in the list, or -1. Not every dtype has kernels for every way, to limit the library's size.
int find_kernel(hipops_dtype dtype, bool wide, SumsWay way) {
  const auto is_it = [=](const Variant& v) { return v.dtype == added_as(dtype) && v.wide == wide && v.way == way; };
  const auto at = std::find_if(std::begin(kVariants), std::end(kVariants), is_it);
  return at == std::end(kVariants) ? -1 : kSortKernels + static_cast<int>(at - kVariants);
}

bool shares_long_segments(hipops_dtype dtype) {
#define IS_IT(T) || dtype == T
  return false HIPOPS_INDEX_ADD_SHARING(IS_IT);
#undef IS_IT
}

bool is_wide(const SumsProblem& p, SumsWay way) {
  if (way == SumsWay::deep) return false;
  return way == SumsWay::list ? p.wide_rows : p.wide_row;
}

int64_t vector_of(const SumsProblem& p, bool wide) { return wide ? kWideAccess / dtype_bytes(p.dtype) : 1; }

int64_t few_parts(const SumsProblem& p, const DeviceNumbers& device) {
  return (p.row_elements / vector_of(p, p.wide_row) + device.wave_size - 1) / device.wave_size;
}

}  // namespace

int64_t few_blocks(int64_t indices, int64_t parts, int wave_size) {
  const int64_t waves = kFewBlock / wave_size;
  if (indices > kFewIndices || parts > kMostBlocks * waves) return 0;
  const int64_t blocks = (indices * parts + waves - 1) / waves;
  return blocks <= kMostBlocks ? blocks : 0;
}

bool can_be_few(const PlanOptions& options, const SumsProblem& p, const DeviceNumbers& device) {
  if (p.indices > kFewIndices || find_kernel(p.dtype, false, SumsWay::few) < 0) return false;
  const int64_t blocks = few_blocks(p.indices, few_parts(p, device), device.wave_size);
  return blocks != 0 && options.within_most(blocks) == blocks;
}

bool can_be_joined(const SumsProblem& p, const SortPlan& sort) {
  if (sort.passes != 1 || sort.pass[0].low_bits > kJoinedDigitBits || p.indices >> kJoinedIndexBits != 0) return false;
  if (!p.wide_row || find_kernel(p.dtype, true, SumsWay::joined) < 0) return false;
  return p.row_elements / vector_of(p, true) << sort.pass[0].low_bits < int64_t{1} << 31;  // places have 32 bits
}

SumsPlan resolve(PlanOptions options, const SumsChoice& choice, const SumsProblem& p, const DeviceNumbers& device) {
  const bool wide = is_wide(p, choice.way);
  SumsPlan plan{};
  plan.choice = choice;
  plan.kernel = find_kernel(p.dtype, wide, choice.way);
  plan.vector = vector_of(p, wide);
  const int64_t vectors = p.row_elements / plan.vector;
  switch (choice.way) {
    case SumsWay::few:
      plan.parts = few_parts(p, device);
      plan.grid = few_blocks(p.indices, plan.parts, device.wave_size);
      break;
    case SumsWay::scan:
      plan.lane_bits = log2_up(std::clamp<int64_t>(vectors, 1, device.wave_size));
      plan.parts = (vectors + (int64_t{1} << plan.lane_bits) - 1) >> plan.lane_bits;
      break;
    case SumsWay::joined:  // additional blocks help with long segments
      plan.grid = (int64_t{1} << choice.sort.pass[0].high_bits) + (shares_long_segments(p.dtype) ? device.units : 0);
      break;
    case SumsWay::list:
    case SumsWay::deep:
      plan.grid = options.grid_for(vectors * choice.sort.segments, kListBlock);
      break;
  }
  return plan;
}

namespace {

using namespace sums_policy;

hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream, bool begins_early = false) {
  LaunchShape shape{static_cast<uint32_t>(grid), static_cast<uint32_t>(block)};
  shape.begins_early = begins_early;
  args->grid = shape.grid;
  return launch(op_index_add, device, kernel, shape, args, sizeof *args, stream);
}

// Memory is mostly idle while indices are sorted, so x is prefetched from its beginning. An x with gaps is not
// prefetched: the gaps may be unmapped. Returns true if x is longer than `most`.
bool set_expected(const hipops_tensor& x, int64_t most, IndexAddArgs* args) {
  ByteRange range;
  if (!byte_range(x, &range) || !elements_are_distinct(x)) return false;
  const uintptr_t begin = (range.begin + 15) / 16 * 16;
  const int64_t bytes = static_cast<int64_t>(range.end - begin);
  if (bytes > element_count(x) * dtype_bytes(x.dtype)) return false;
  args->expected = reinterpret_cast<const void*>(begin);
  args->expected_parts = static_cast<uint32_t>(std::min(bytes, most) / kPrefetchBytes);
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

// The most indices, on average, that name the rows of one block. A block reads the whole index to find them. It
// compares each with all others to sort them.
int64_t indices_of_share(int64_t indices) {
  constexpr int64_t kMost = 2 * kScanBlock;  // room is for 3 * kScanBlock (device/index/index_share.h)
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewestOfShare, kMost);
}

// The grid fills the device once, and is larger if segments would be long otherwise.
hipops_status launch_scan(const PlanOptions& options, const DeviceFacts& device, const SumsPlan& plan, IndexAddArgs* args, void* stream) {
  const int64_t rows = std::min(args->index.size, kMark[args->index.type]), most = options.within_most(kMostBlocks);
  ScanArgs& s = args->scan;
  s.lane_bits = static_cast<int16_t>(plan.lane_bits);
  s.reports = 1;
  s.expects = plan.choice.scan_blocks_a_unit == 1;
  do {
    s.rows = static_cast<uint32_t>(std::min<int64_t>(rows - s.first_row, UINT32_MAX));
    s.first_part = 0;
    do {
      // Without rows a launch still reports the indices.
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

// Sorts, then sums in a separate launch. A sort of one pass writes segments. After a sort of two passes another kernel
// finds them. The launch that sums begins early, because half of the device is idle during the sort.
hipops_status launch_sorted(const PlanOptions& options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, IndexAddArgs* args,
                            void* stream) {
  const SortPlan& sort = plan.choice.sort;
  RowOrder& order = args->order;
  const bool more_of_x = set_expected(*t.x, device.units * kAheadOfSegments, args);
  for (int pass = 0; pass < sort.passes; ++pass) {
    set_pass(sort, pass, &order);
    if (hipops_status status = launch_on(device, kSplit, sort.blocks, kOrderBlock, args, stream)) return status;
    // For a longer x it pays to prefetch even earlier, although that slows the sort. scatter_add's sums may turn out
    // not to be needed, so they do not start early.
    args->next_at_once = sort.passes == 1 && more_of_x && order.state == nullptr;
    const int64_t parts = int64_t{1} << order.high_bits;
    if (hipops_status status = launch_on(device, kJoin, parts, kOrderBlock, args, stream)) return status;
    args->next_at_once = 0;
  }
  if (sort.passes == 2) {
    order.from = static_cast<const OrderEntry*>(order.joined);
    const int64_t blocks = options.grid_for(args->indices, kOrderBlock);
    if (hipops_status status = launch_on(device, kBound, blocks, kOrderBlock, args, stream)) return status;
  }
  // Each block prefetches one part. Blocks that start late would prefetch during the sums.
  args->expected_parts = std::min(args->expected_parts, static_cast<uint32_t>(plan.grid));
  return launch_on(device, plan.kernel, plan.grid, kListBlock, args, stream, true);
}

}  // namespace

hipops_status launch_sums(PlanOptions options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, void* workspace,
                          hipops_index_report* report, IndexAddArgs* args, void* stream) {
  const SortPlan& sort = plan.choice.sort;
  if (args->reported == 0) args->reported = 1, args->report_step = 1;
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
    case SumsWay::scan: return launch_scan(options, device, plan, args, stream);
    case SumsWay::joined: return launch_joined(device, t, plan, args, stream);
    default: return launch_sorted(options, device, t, plan, args, stream);
  }
}

}  // namespace hipops
