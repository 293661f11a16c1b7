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

enum Mode { few, scan, line, joined, sum };

struct Variant {
  hipops_dtype dtype;
  bool wide;
  Mode mode;
};

#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
#define ONE(...) +1
static_assert(kSortKernels + sizeof(kVariants) / sizeof(kVariants[0]) == 0 HIPOPS_INDEX_ADD_KERNELS(ONE),
              "each kernel sorts or sums");
#undef ONE

// The kernel's number in the list, or -1. Not every dtype has kernels for every mode, to limit the library's size.
int find_kernel(hipops_dtype dtype, bool wide, Mode mode) {
  const auto is_it = [=](const Variant& v) { return v.dtype == added_as(dtype) && v.wide == wide && v.mode == mode; };
  const auto at = std::find_if(std::begin(kVariants), std::end(kVariants), is_it);
  return at == std::end(kVariants) ? -1 : kSortKernels + static_cast<int>(at - kVariants);
}

int64_t vector_of(const SumsProblem& p, bool wide) { return wide ? kWideAccess / dtype_bytes(p.dtype) : 1; }

int64_t few_parts(const SumsProblem& p, const DeviceNumbers& device) {
  return (p.row_elements / vector_of(p, p.wide_row) + device.wave_size - 1) / device.wave_size;
}

// The number of blocks that divide a row's vectors: `wanted`, unless a wave would have less than one vector for each
// lane, or a block more vectors than 31 bits count. No block is without vectors.
int64_t row_parts(int64_t vectors, int64_t wanted, const DeviceNumbers& device) {
  const int64_t waves = (vectors + device.wave_size - 1) / device.wave_size;
  const int64_t fewest = (vectors + kMostPartVectors - 1) / kMostPartVectors;
  const int64_t parts = std::max({std::min(wanted, waves), fewest, int64_t{1}});
  const int64_t part = (vectors + parts - 1) / parts;
  return (vectors + part - 1) / part;
}

// The number of blocks with a wave for each index and each part of a row; 0 if that is too many for a launch.
int64_t few_blocks(int64_t indices, int64_t parts, int wave_size) {
  const int64_t waves = kFewBlock / wave_size;
  if (indices > kFewIndices || parts > kMostBlocks * waves) return 0;
  const int64_t blocks = (indices * parts + waves - 1) / waves;
  return blocks <= kMostBlocks ? blocks : 0;
}

}  // namespace

bool can_be_few(const PlanOptions& options, const SumsProblem& p, const DeviceNumbers& device) {
  if (p.indices > kFewIndices || find_kernel(p.dtype, false, few) < 0) return false;
  const int64_t blocks = few_blocks(p.indices, few_parts(p, device), device.wave_size);
  return blocks != 0 && options.within_most(blocks) == blocks;
}

SumsPlan resolve(const SumsChoice& choice, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device) {
  using namespace sums_policy;
  SumsPlan plan{};
  plan.choice = choice;
  plan.vector = vector_of(p, p.wide_row);
  const int64_t vectors = p.row_elements / plan.vector;
  switch (choice.way) {
    case SumsWay::few:
      plan.kernel = find_kernel(p.dtype, p.wide_row, few);
      plan.few.parts = few_parts(p, device);
      plan.few.grid = few_blocks(p.indices, plan.few.parts, device.wave_size);
      break;
    case SumsWay::scan:
      plan.kernel = find_kernel(p.dtype, p.wide_row, scan);
      plan.scan.lane_bits = log2_up(std::clamp<int64_t>(vectors, 1, kScanLanes));
      plan.scan.parts = (vectors + (int64_t{1} << plan.scan.lane_bits) - 1) >> plan.scan.lane_bits;
      break;
    case SumsWay::line: break;
    case SumsWay::sorted: {
      auto& s = plan.sorted;
      s.sort = sort;
      plan.kernel = find_kernel(p.dtype, p.wide_row, sum);
      s.join = sort.joins ? find_kernel(p.dtype, true, joined) : -1;
      // There are kPortionsAUnit portions a compute unit, unless that makes a portion smaller or larger than it can be.
      const int64_t wanted = device.units * kPortionsAUnit;
      s.portion = std::clamp<int64_t>((sort.slices + wanted - 1) / wanted * kChunk, kChunk, kMostPortion);
      s.portions = (p.indices + s.portion - 1) / s.portion;
      // If entries are few, several blocks divide their rows.
      s.joined_parts = row_parts(vectors, device.units * kJoinedBlocksAUnit >> sort.high_bits, device);
      s.sum_parts = row_parts(vectors, sort.joins ? 1 : device.units * kSumBlocksAUnit / s.portions, device);
      break;
    }
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
// prefetched: the gaps may be unmapped.
void set_prefetched(const hipops_tensor& x, int64_t most, IndexAddArgs* args) {
  ByteRange range;
  if (!byte_range(x, &range) || !elements_are_distinct(x)) return;
  const uintptr_t begin = (range.begin + 15) / 16 * 16;
  const int64_t bytes = static_cast<int64_t>(range.end - begin);
  if (bytes > element_count(x) * dtype_bytes(x.dtype)) return;
  args->prefetched = reinterpret_cast<const void*>(begin);
  args->prefetched_pieces = static_cast<uint32_t>(std::min(bytes, most) / kPrefetchBytes);
}

hipops_status launch_few(const DeviceFacts& device, const SumsPlan& plan, IndexAddArgs* args, void* stream) {
  args->scan.parts = static_cast<uint32_t>(plan.few.parts);
  args->scan.by_parts = divisor_of(plan.few.parts);
  return launch_on(device, plan.kernel, plan.few.grid, kFewBlock, args, stream);
}

// The most indices, on average, that name the rows of one bucket. A block reads the whole index to list them. It
// compares each with all others to sort them.
int64_t indices_of_bucket(SumsWay way, int64_t indices) {
  constexpr int64_t kMost = kScanRoom / 3 * 2;  // so that most lists have room
  if (way == SumsWay::line) return kMost;       // a lane adds a row: more indices occupy more lanes
  return std::clamp(static_cast<int64_t>(2 * std::sqrt(static_cast<double>(indices))), kFewestOfBucket, kMost);
}

// The grid fills the device once, and is larger if lists would be long otherwise.
hipops_status launch_scan(const PlanOptions& options, const DeviceFacts& device, const SumsPlan& plan,
                          IndexAddArgs* args, void* stream) {
  const int64_t rows = std::min(args->index.size, mark_of(args->index.type)), most = options.within_most(kMostBlocks);
  ScanArgs& s = args->scan;
  s.lane_bits = static_cast<int16_t>(plan.scan.lane_bits);
  const bool by_lines = plan.choice.way == SumsWay::line;
  s.prefetches = plan.choice.scan_blocks_a_unit == 1;
  do {
    s.rows = static_cast<uint32_t>(std::min<int64_t>(rows - s.first_row, UINT32_MAX));
    s.first_part = 0;
    do {
      // Without rows a launch still reports the indices.
      const int64_t now = std::clamp<int64_t>(plan.scan.parts - s.first_part, 1, most);
      const int64_t wanted = std::max(plan.choice.scan_blocks_a_unit * int64_t{device.units} / now,
                                      args->indices / indices_of_bucket(plan.choice.way, args->indices));
      const int64_t buckets = std::max<int64_t>(std::min({wanted, args->indices, rows, most / now}), 1);
      s.parts = static_cast<uint32_t>(now);
      s.by_parts = divisor_of(now);
      s.last_bucket = static_cast<uint32_t>(buckets - 1);
      s.hashes = static_cast<uint32_t>(UINT32_MAX / buckets);
      s.reports = s.first_row != 0 ? 0 : by_lines ? s.parts : s.first_part == 0;
      const int64_t limit = plan.scan.most_blocks, grid = limit != 0 ? std::min(limit, buckets * now) : buckets * now;
      if (hipops_status status = launch_on(device, plan.kernel, grid, kScanBlock, args, stream)) return status;
      s.first_part += now;
    } while (s.first_part < plan.scan.parts);
    s.first_row += UINT32_MAX;
  } while (s.first_row < rows);
  return HIPOPS_SUCCESS;
}

// Divides the vectors of a row into parts of one size. The last part can have fewer vectors.
void set_parts(int64_t parts, IndexAddArgs* args) {
  const int64_t vectors = args->walk.count, part = (vectors + parts - 1) / parts;
  args->segments.row_parts = static_cast<uint32_t>(parts);
  args->segments.part_vectors = static_cast<uint32_t>(part);
  args->segments.by_part_vectors = divisor_of(part);
}

// The launches: `split` and `joined`, or `count`, `offsets` and `partition` for each pass, and then `sum`. After
// `joined`, `sum` mostly has nothing to do, but the host cannot know it. Launches that sum begin early, so that their
// blocks are placed in time, and the first of them prefetches x, because memory is mostly idle during the sort.
hipops_status launch_sorted(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, void* workspace,
                            IndexAddArgs* args, void* stream) {
  const auto& s = plan.sorted;
  const SortPlan& sort = s.sort;
  place_sort(sort, workspace, args);
  args->segments.portion = static_cast<uint32_t>(s.portion);
  set_parts(s.sum_parts, args);  // for `sum`, and for the sort's first launch, which clears the counters of `sum`
  if (sort.element_bytes == 0) set_prefetched(*t.x, device.units * kAheadOfSums, args);
  const auto launch_sort = [&](int kernel, int64_t blocks) {
    return launch_on(device, kernel, blocks, kSortBlock, args, stream);
  };
  if (sort.joins) {
    if (hipops_status status = launch_sort(kSplit, sort.blocks)) return status;
    set_parts(s.joined_parts, args);
    const int64_t blocks = s.joined_parts << sort.high_bits;
    if (hipops_status status = launch_on(device, s.join, blocks, kJoinedBlock, args, stream, true)) return status;
    args->prefetched_pieces = 0;  // `joined` has prefetched them
    set_parts(s.sum_parts, args);
  }
  for (int pass = 0; !sort.joins && pass < sort.passes; ++pass) {
    set_pass(sort, workspace, pass, args);
    if (hipops_status status = launch_sort(kCount, sort.blocks)) return status;
    if (hipops_status status = launch_sort(kOffsets, int64_t{1} << args->pass.bits)) return status;
    if (hipops_status status = launch_sort(pass == 0 ? kPartitionIndex : kPartition, sort.blocks)) return status;
  }
  return launch_on(device, plan.kernel, s.portions * s.sum_parts, kSumBlock, args, stream, true);
}

void set_tensors(const RowSums& t, int64_t index_step, hipops_index_report* report, IndexAddArgs* args) {
  args->index = index_args(*t.index, t.y->shape[t.dim], report);
  args->index_step = index_step;
  args->indices = t.x->shape[t.dim];
  args->x = t.x->data;
  args->y = t.y->data;
  args->x_step = step_of(*t.x, t.dim);
  args->y_step = step_of(*t.y, t.dim);
}

}  // namespace

hipops_status launch_sums(PlanOptions options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan,
                          void* workspace, hipops_index_report* report, IndexAddArgs* args, void* stream) {
  if (args->reported == 0) args->reported = 1, args->report_step = 1;
  set_tensors(t, step_of(*t.index, 0), report, args);
  args->walk = walk_of(row_layout(t), plan.vector);
  switch (plan.choice.way) {
    case SumsWay::few: return launch_few(device, plan, args, stream);
    case SumsWay::scan: return launch_scan(options, device, plan, args, stream);
    default: return launch_sorted(device, t, plan, workspace, args, stream);
  }
}

hipops_status launch_line_sums(const PlanOptions& options, const DeviceFacts& device, const RowSums& t,
                               int64_t most_blocks, const uint32_t* rows_differ, hipops_index_report* report,
                               void* stream) {
  IndexAddArgs args{};
  Layout<kIndexAddOperands> lines;
  int64_t place_step = 1;
  for (int d = t.x->rank - 1; d >= 0; --d) {
    if (d == t.dim) args.report_step = place_step;
    else add_dimension(&lines, t.x->shape[d], {t.y->stride[d], t.x->stride[d], t.index->stride[d], place_step});
    place_step *= t.x->shape[d];
  }
  args.reported = 1;
  set_tensors(t, step_of(*t.index, t.dim), report, &args);
  args.walk = walk_of(lines);
  SumsPlan plan{};
  plan.choice = {SumsWay::line, 2};
  plan.kernel = find_kernel(t.y->dtype, false, line);
  plan.scan.parts = args.walk.count;
  plan.scan.most_blocks = most_blocks;
  args.scan.rows_differ = rows_differ;
  return launch_scan(options, device, plan, &args, stream);
}

}  // namespace hipops
