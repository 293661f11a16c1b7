// How rows are taken by the variant that is chosen for them: blocks, rounds, shared memory; or split over blocks.
#include <algorithm>

#include "device/core/launch_contract.h"
#include "rows/row_plan.h"

namespace hipops {
namespace {

// Blocks that go over many rows, as many as run at a time: see for_each_row_ahead; and staged and clustered ones, so
// that they load their weights once.
int64_t most_blocks(const RowVariant& v, int threads, const DeviceNumbers& device, RowRounds rounds) {
  constexpr int kSmallestWave = 32, kMostWaves = 64;
  if (v.streaming) return kMostBlocks;
  const bool beside_weights = rounds >= RowRounds::ahead_beside_weights;
  const bool goes_round = v.clustered || rounds == RowRounds::ahead || beside_weights;
  int resident = v.access == staged ? kMostWaves * kSmallestWave
                 : goes_round       ? resident_threads(v.vectors, beside_weights) * (device.wave_size / kSmallestWave)
                                    : 0;
  return resident == 0 ? kMostBlocks : int64_t{device.units} * std::max(resident / threads, 1);
}

// Whether lanes idle, where the others have one vector.
bool idles(const RowVariant& v, int64_t cols) {
  return v.access == wide && shares_blocks(v) && v.vectors == 1 && vectors_of(v, cols) < v.threads;
}

// How often blocks go round. Lanes that idle take as long to begin as others to work.
RowRounds rounds_for(const RowVariant& v, int64_t cols, RoundsOf rounds_of) {
  const RowRounds rounds = rounds_of ? rounds_of(v) : RowRounds::one;
  return idles(v, cols) && rounds == RowRounds::one ? RowRounds::several : rounds;
}

// The blocks of so many groups that go round several times: the more often, the more of them a unit would have, until
// each work-item has taken six vectors, or four, where lanes idle. (More rounds, or several of three vectors, take
// longer.)
int64_t in_several_rounds(int64_t groups, const RowVariant& v, int64_t cols, const DeviceNumbers& device) {
  constexpr int64_t kManyBlocks = 20, kMostVectors = 6, kMostWhereIdle = 4;
  const int64_t most = v.vectors > kMostVectorsAround ? 1 : idles(v, cols) ? kMostWhereIdle : kMostVectors / v.vectors;
  const int64_t rounds = std::clamp<int64_t>(groups / (kManyBlocks * device.units), 1, most);
  return (groups + rounds - 1) / rounds;
}

// Rows that a block of a staged variant takes at a time: as many as leave it one round, if it has room for them.
int64_t stage_rows(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device) {
  const int64_t at_once = v.block / v.threads, blocks = most_blocks(v, v.block, device, RowRounds::one);
  const int64_t one_round = (g.rows + blocks * at_once - 1) / (blocks * at_once) * at_once;
  return std::min(one_round, most_stage_rows(v, g.cols));
}

// Rows after which all rows of x lie alike to multiples of 16 bytes, 1 where they all do; 0 where none tells.
int alike_after(const RowGeometry& g, hipops_dtype dtype) {
  int64_t strides = kWideBytes;
  for (int d = 0; d < g.outer_rank; ++d) strides |= g.outer[d].x_stride * bytes_of(dtype);
  const int after = static_cast<int>(kWideBytes / (strides & -strides));
  return g.outer_rank == 1 || after == 1 ? after : 0;
}

}  // namespace

bool are_alike(int64_t row_step, const RowGeometry& g, hipops_dtype dtype) {
  const int after = alike_after(g, dtype);
  return row_step >= g.rows || (after > 0 && row_step % after == 0);
}

int64_t come_to_alike(int64_t groups, const RowVariant& v, const RowGeometry& g) {
  const bool goes_round = groups * (v.block / v.threads) < g.rows;
  if (v.access != edged || v.clustered || !goes_round) return groups;
  const int64_t after = alike_after(g, v.dtype);
  return after > 0 && groups > after ? groups / after * after : groups;
}

RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceNumbers& device,
                  RoundsOf rounds_of, int weights) {
  const int forced = forced_row_kernel.load(std::memory_order_relaxed);
  const auto [kernel, fit] = forced < 0 ? choose_variant(dtype, geometry, access, device, rounds_of, weights)
                                        : Choice{forced, fit_of(row_variants[forced], geometry, device, weights)};
  const auto [threads, cluster] = fit;
  const RowVariant& v = row_variants[kernel];
  const RowRounds rounds = rounds_for(v, geometry.cols, rounds_of);
  int64_t rows_per_block = v.access == staged ? stage_rows(v, geometry, device) : v.block / v.threads;
  // Groups of rows that are worked on at a time, each by a block or a cluster.
  int64_t groups = (geometry.rows + rows_per_block - 1) / rows_per_block;
  if (rounds == RowRounds::several) groups = in_several_rounds(groups, v, geometry.cols, device);
  groups = within_grid_limit(
      std::min(groups, std::max<int64_t>(most_blocks(v, threads, device, rounds) / cluster, 1)));
  if (weights > 0) groups = come_to_alike(groups, v, geometry);
  RowPlan plan = {kernel, static_cast<uint32_t>(groups * cluster), static_cast<uint32_t>(threads),
                  groups * rows_per_block, static_cast<uint32_t>(cluster), static_cast<int32_t>(rows_per_block)};
  plan.few = amount_of(dtype, geometry, device) == Amount::few;
  const int64_t kept = kept_bytes(v, threads, weights);
  if (kept > 0 && kept <= device.launch_shared_bytes) {
    plan.weights_kept = true;
    plan.shared_bytes = static_cast<uint32_t>(kept);
  }
  if (forced < 0) take_own_kernel(v, geometry, device, rounds_of, rounds, weights, &plan);
  return plan;
}

// A late block begins, and loads its weights, while nothing else of its own is under way. So the fewer blocks a unit has,
// and the more a block waits for before it works (those of a cluster for each other, odd rows for their weights, a queue
// for two rows), the fewer of the rows are late, and the more rounds there have to be. Of aligned rows that share blocks
// the last round is late, but where lanes idle. Measured on an H100 and an H200 (docs/notebook/late_rows.md).
int64_t late_rows(const RowPlan& plan, const RowGeometry& g, const RowCall& call, const DeviceNumbers& device) {
  const RowVariant* const v = plan.kernel < kRowVariants ? &row_variants[plan.kernel] : nullptr;  // or the op's own
  if ((v && v->streaming) || plan.row_step >= g.rows) return 0;
  const auto within_limits = [&](int64_t rounds) {
    const int64_t late = g.rows - rounds * plan.row_step;
    const int64_t late_groups = (late + plan.rows_per_block - 1) / plan.rows_per_block;
    const int64_t blocks = plan.grid + late_groups * plan.cluster;
    return rounds > 0 && blocks <= kMostBlocks && within_grid_limit(blocks) == blocks ? late : 0;
  };
  if (plan.rows_per_block > 1) {
    const bool may_be_late = v && v->access == wide && v->vectors <= kMostVectorsAround && !idles(*v, g.cols);
    return may_be_late ? within_limits((g.rows - 1) / plan.row_step) : 0;
  }
  const bool weighs = call.weights > 0, odd = call.access == edged && weighs, in_clusters = plan.cluster > 1;
  const int64_t blocks = (plan.grid + device.units - 1) / device.units;  // of a unit
  constexpr uint32_t kLargestAlone = 2;  // cluster of blocks that are alone on their units
  if (blocks == 1 && plan.cluster > kLargestAlone) return 0;
  const int64_t least_rounds = odd || plan.rows_ahead > 1 ? 30
                               : in_clusters              ? (weighs ? 14 : 8)
                               : blocks == 1              ? 20
                                                          : 6;
  const int64_t of_32 = in_clusters              ? (weighs ? 1 : 2)
                        : odd || blocks == 1     ? 1
                        : blocks == 2 && weighs  ? 2
                                                 : 3;
  const bool is_tested = rows_count_as_many.load(std::memory_order_relaxed);
  if (!is_tested && g.rows < plan.row_step * least_rounds) return 0;
  return within_limits((g.rows - g.rows * of_32 / 32 - is_tested) / plan.row_step);
}

int64_t split_tiles(hipops_dtype dtype, int64_t cols) {
  const int64_t columns = int64_t{kSplitThreads} * kSplitVectors * kWideBytes / bytes_of(dtype);
  return (cols + columns - 1) / columns;
}

bool splits_rows(hipops_dtype dtype, const RowGeometry& geometry, const RowPlan& plan, bool in_place,
                 const DeviceNumbers& device) {
  constexpr int64_t kBeyondCaches = int64_t{1} << 20;  // bytes of a row: all units' rows are more than caches hold
  if (plan.kernel >= kRowVariants) return false;
  const RowVariant& v = row_variants[plan.kernel];
  const bool can = v.streaming && (v.access == wide || v.access == edged) && !in_place;
  return can && (geometry.rows < 2 * device.units || geometry.cols * bytes_of(dtype) >= kBeyondCaches);
}

RowPlan plan_split_step(hipops_dtype dtype, const RowGeometry& geometry, SplitStep step) {
  const int of_dtype = dtype == f32 ? 0 : dtype == f16 ? 1 : dtype == bf16 ? 2 : 3;
  const bool all = geometry.rows > kMostBlocks / geometry.tiles;  // and more
  const int64_t work = step == merge_tiles ? geometry.rows : all ? kMostBlocks : geometry.rows * geometry.tiles;
  const int64_t blocks = within_grid_limit(std::min(work, kMostBlocks));
  return {kRowVariants + of_dtype * kSplitSteps + step, static_cast<uint32_t>(blocks), kSplitThreads, blocks};
}

RowCandidates row_candidates(const DeviceNumbers& device, const hipops_tensor& y, const hipops_tensor& x,
                             RoundsOf rounds_of, int weights) {
  const RowGeometry geometry = row_geometry(y, x);
  const RowAccess best = row_access(y, x, geometry);
  const RowAccess access = access_of_few(x.dtype, geometry, best, device, weights);
  RowCandidates candidates;
  candidates.chosen = plan_rows(x.dtype, geometry, access, device, rounds_of, weights).kernel;
  const bool own = candidates.chosen >= kRowKernels;
  candidates.like =
      own ? plan_rows(x.dtype, geometry, access, device, nullptr, weights).kernel : candidates.chosen;
  for (int i = 0; i < kRowVariants; ++i) {
    const RowVariant& v = row_variants[i];
    if (v.dtype == x.dtype && (v.access == access || v.access == best) && fit_of(v, geometry, device, 0).threads > 0)
      candidates.kernel[candidates.count++] = i;
  }
  return candidates;
}

}  // namespace hipops
