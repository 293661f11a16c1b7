// How rows are taken by the variant that is chosen for them: blocks, rounds, shared memory; or split over blocks.
#include <algorithm>

#include "device/launch_contract.h"
#include "row_choice.h"

namespace hipops {
namespace {

constexpr int64_t kQueuedBytes = 60 << 10;  // of a unit's shared memory, for rows that wait there

constexpr int64_t kMostAsideBytes = 64 << 10;  // of a block's, for weights: of 512 work-items, four vectors of both

// Blocks that a launch may have: work-items stay under 2^32 with 1024 a block. Larger work loops over rows.
constexpr int64_t kMostBlocks = int64_t{1} << 21;

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

// Whether blocks that come and go have enough on their way, by Little's law: what memory brings in the time that a block
// takes from its begin to its end, by what the driver says of memory. (An H100's do, an H200's hardly would.)
bool fill_memory(int64_t bytes, double block_microseconds, const DeviceNumbers& device) {
  const double reads = static_cast<double>(device.memory_speed) / (2 * device.units);  // of a unit, a microsecond
  return reads > 0 && reads * block_microseconds <= static_cast<double>(bytes);
}

// How often blocks go round. Lanes that idle, where the others have one vector, take as long to begin as to work. Where
// none does, and memory has enough to do, more blocks are 1 to 2 % faster than more rounds.
RowRounds rounds_for(const RowVariant& v, int64_t cols, RoundsOf rounds_of, const DeviceNumbers& device) {
  constexpr int64_t kShortRowsBytes = 32 << 10;  // of a unit's work-items, at a vector each
  constexpr double kBlockMicroseconds = 2.5;
  const RowRounds rounds = rounds_of ? rounds_of(v) : RowRounds::one;
  const bool idles = v.access == wide && shares_blocks(v) && v.vectors == 1 && vectors_of(v, cols) < v.threads;
  if (idles) return rounds == RowRounds::one ? RowRounds::several : rounds;
  const bool one_is_enough = rounds == RowRounds::several && fill_memory(kShortRowsBytes, kBlockMicroseconds, device);
  return one_is_enough ? RowRounds::one : rounds;
}

// The blocks of so many groups that go round several times: the more often, the more of them a unit would have, until
// each work-item has taken four vectors. (More rounds, or two of three vectors, are slower.)
int64_t in_several_rounds(int64_t groups, const RowVariant& v, const DeviceNumbers& device) {
  constexpr int64_t kManyBlocks = 128, kMostVectors = 4;
  const int64_t most = std::max<int64_t>(kMostVectors / v.vectors, 1);
  const int64_t rounds = std::min(groups / (kManyBlocks * device.units) + 1, most);
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

namespace {

// Of `groups` that go over rows at odd addresses, so many that each comes to rows that lie alike, and keeps its
// weights. Where clusters share rows that would be too few.
int64_t come_to_alike(int64_t groups, const RowVariant& v, const RowGeometry& g) {
  const bool goes_round = groups * (v.block / v.threads) < g.rows;
  if (v.access != edged || v.clustered || !goes_round) return groups;
  const int64_t after = alike_after(g, v.dtype);
  return after > 0 && groups > after ? groups / after * after : groups;
}

// Work-items of a variant that go over rows, beside weights, which a unit has registers for.
int64_t resident_beside_weights(const RowVariant& v, const DeviceNumbers& device) {
  constexpr int64_t kWave = 32;
  return resident_threads(v.vectors, true) * (device.wave_size / kWave);
}

// Whether as many blocks as there are then leave over a sixteenth of these work-items idle.
bool idles_beside_weights(const RowVariant& v, const RowGeometry& g, int64_t blocks, const DeviceNumbers& device) {
  return blocks * vectors_of(v, g.cols) <= resident_beside_weights(v, device) * v.vectors * 15 / 16;
}

// Has next rows wait in shared memory, where blocks that keep them in registers would idle, and more blocks or rows
// find room so. (Other rows are 1 % slower by it, and slower again where more of them wait; those that are not whole
// sectors up to 7 %; and so few that a block has one or two of them up to 14 %.)
void queue_rows(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, RowPlan* plan) {
  constexpr int64_t kSectorBytes = 32;
  if (v.streaming || bytes_of(v.dtype) != 2 || device.launch_shared_bytes < kQueuedBytes) return;
  if (g.cols * bytes_of(v.dtype) % kSectorBytes != 0) return;
  const int64_t threads = plan->block, blocks = std::max<int64_t>(resident_beside_weights(v, device) / threads, 1);
  const int64_t queued_blocks = std::max<int64_t>(kQueuedThreads / threads, 1);
  const int64_t row_bytes = threads * v.vectors * kWideBytes;
  const bool two = 2 * queued_blocks * row_bytes <= kQueuedBytes;
  if (!idles_beside_weights(v, g, blocks, device) || (queued_blocks == blocks && !two)) return;
  constexpr int64_t kLeastRounds = 3, kLeastOfUnit = 6;
  const bool too_few = g.rows < device.units * std::max(kLeastRounds * queued_blocks, kLeastOfUnit);
  if (too_few && !rows_count_as_many.load(std::memory_order_relaxed)) return;
  plan->kernel = queued_kernel(v.dtype);
  plan->rows_ahead = two ? 2 : 1;
  plan->shared_bytes = static_cast<uint32_t>(plan->rows_ahead * row_bytes);
  plan->row_step = within_grid_limit(std::min(g.rows, device.units * queued_blocks));
  plan->grid = static_cast<uint32_t>(plan->row_step);
}

// Has blocks come and go, a row each, where they have enough on their way for memory, and there are many rounds of them,
// which make up for what each loads only once. (With the next row ahead, or in a queue, those rows take up to 7 % longer;
// of fewer, up to 15 % less. Two blocks that leave work-items idle are no faster. Not on AMD, where the kernel has no
// code.)
void let_pass(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, RowPlan* plan) {
  constexpr double kBlockMicroseconds = 3.7;
  const bool exists = device.launch_shared_bytes > 0;  // as on NVIDIA, and on the CPU
  if (!exists || v.streaming || bytes_of(v.dtype) != 2) return;
  const int64_t blocks = kPassingThreads / plan->block, threads = blocks * plan->block;
  const bool idles = blocks <= 2 && threads < kPassingThreads * 15 / 16;
  const int64_t least_rounds = blocks <= 2 ? 12 : 8;
  const bool pays = !idles && fill_memory(threads * v.vectors * kWideBytes, kBlockMicroseconds, device) &&
                    g.rows >= least_rounds * device.units * blocks;
  // Tests see these, where rows are odd in number, and else what they stand for.
  const bool is_tested = plan->rows_ahead == 0 && g.rows % 2 == 1;
  if (rows_count_as_many.load(std::memory_order_relaxed) ? !is_tested : !pays) return;
  plan->kernel = passing_kernel(v.dtype);
  plan->rows_ahead = 0;
  plan->shared_bytes = 0;
  plan->row_step = within_grid_limit(std::min(g.rows, kMostBlocks));
  plan->grid = static_cast<uint32_t>(plan->row_step);
}

// Has weights stay in shared memory, where blocks that keep them in registers would idle, more blocks find room so, and
// each comes to enough rows, that lie alike, to make up for bringing them there. (Where none idle, odd rows are up to
// 5 % slower by it, and fewer rows up to 20 %.)
void keep_weights_aside(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, int weights,
                        RowPlan* plan) {
  const int64_t threads = plan->block, blocks = std::max<int64_t>(resident_beside_weights(v, device) / threads, 1);
  const int64_t aside_blocks = aside_threads(bytes_of(v.dtype)) / threads;
  const int64_t bytes = threads * v.vectors * kWideBytes * weights;
  const int64_t step = come_to_alike(within_grid_limit(std::min(g.rows, device.units * aside_blocks)), v, g);
  if (weights == 0 || !are_enough(v, g, device) || !are_alike(step, g, v.dtype)) return;
  if (!idles_beside_weights(v, g, blocks, device) || aside_blocks <= blocks) return;
  if (bytes > device.launch_shared_bytes || aside_blocks * bytes > device.unit_shared_bytes) return;
  plan->kernel = aside_kernel(v.dtype);
  plan->shared_bytes = static_cast<uint32_t>(bytes);
  plan->row_step = step;
  plan->grid = static_cast<uint32_t>(plan->row_step);
}

// Has a cluster of eight, or of as many as there are, hold a row that its clustered variant does not: in f32 with the
// rest in shared memory, in 16 bits with a vector more a work-item. A larger cluster, of which fewer run, takes half as
// long a row: few rows stay there while that takes fewer than twice the rounds, and so few that they are split over the
// device are left to that. (Of each size one less runs than there are units for, as these stand in groups.)
void hold_in_eight(const RowVariant& chosen, const RowGeometry& g, const DeviceNumbers& device, RoundsOf rounds_of,
                   RowPlan* plan) {
  const bool eight_hold_it = !chosen.streaming && plan->cluster <= kPortableCluster;
  if (eight_hold_it || chosen.dtype == f64 || chosen.access != wide || device.launch_shared_bytes == 0) return;
  const RowVariant& v = *clustered_variant(chosen.dtype, chosen.access);
  if (rounds_of(v) != RowRounds::one_or_in_eight || g.rows == 1) return;
  int64_t cluster = 1;
  while (2 * cluster <= std::min(device.largest_cluster, kPortableCluster)) cluster *= 2;
  const int64_t threads = most_work_items(v, device), step = cluster * threads, held = step * v.vectors;
  const int64_t vectors = vectors_of(v, g.cols), beside = (vectors - held + step - 1) / step;  // a work-item
  const bool tails = chosen.dtype == f32;
  const int64_t bytes = tails ? 2 * beside * threads * kWideBytes : 0;
  if (tails ? bytes > device.launch_shared_bytes : v.vectors + beside > kFullVectors) return;
  const auto rounds = [&](int64_t blocks) {
    const int64_t at_a_time = std::max<int64_t>(device.units / blocks - 1, 1);
    return (g.rows + at_a_time - 1) / at_a_time;
  };
  if (!rows_count_as_many.load(std::memory_order_relaxed)) {
    const bool fits = 2 * cluster <= device.largest_cluster && vectors <= 2 * held;
    if (fits ? rounds(2 * cluster) < 2 * rounds(cluster) : g.rows <= device.units / kLargestCluster) return;
  }
  const int64_t of_waves = cluster * device.wave_size * kFullVectors;  // one of each block
  plan->kernel = tails ? tailed_kernel : full_kernel(chosen.dtype);
  plan->block = static_cast<uint32_t>(tails ? threads : (vectors + of_waves - 1) / of_waves * device.wave_size);
  plan->cluster = static_cast<uint32_t>(cluster);
  plan->shared_bytes = static_cast<uint32_t>(bytes);
  plan->row_step = within_grid_limit(std::min(g.rows, std::max<int64_t>(device.units / cluster, 1)));
  plan->grid = static_cast<uint32_t>(plan->row_step * cluster);
}

}  // namespace

int full_kernel(hipops_dtype dtype) { return tailed_kernel + 1 + (dtype == bf16); }
int queued_kernel(hipops_dtype dtype) { return kRowKernels + (dtype == bf16); }
int passing_kernel(hipops_dtype dtype) { return kRowKernels + 2 + (dtype == bf16); }
int aside_kernel(hipops_dtype dtype) { return kRowKernels + 4 + (dtype == f32 ? 0 : dtype == f16 ? 1 : 2); }

RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceNumbers& device,
                  RoundsOf rounds_of, int weights) {
  const int forced = forced_row_kernel.load(std::memory_order_relaxed);
  const auto [kernel, fit] = forced < 0 ? choose_variant(dtype, geometry, access, device, rounds_of, weights)
                                        : Choice{forced, fit_of(row_variants[forced], geometry, device, weights)};
  const auto [threads, cluster] = fit;
  const RowVariant& v = row_variants[kernel];
  const RowRounds rounds = rounds_for(v, geometry.cols, rounds_of, device);
  int64_t rows_per_block = v.access == staged ? stage_rows(v, geometry, device) : v.block / v.threads;
  // Groups of rows that are worked on at a time, each by a block or a cluster.
  int64_t groups = (geometry.rows + rows_per_block - 1) / rows_per_block;
  if (rounds == RowRounds::several) groups = in_several_rounds(groups, v, device);
  groups = within_grid_limit(
      std::min(groups, std::max<int64_t>(most_blocks(v, threads, device, rounds) / cluster, 1)));
  if (weights > 0) groups = come_to_alike(groups, v, geometry);
  RowPlan plan = {kernel, static_cast<uint32_t>(groups * cluster), static_cast<uint32_t>(threads),
                  groups * rows_per_block, static_cast<uint32_t>(cluster), static_cast<int32_t>(rows_per_block)};
  plan.few = amount_of(dtype, geometry, device) == Amount::few;
  const int64_t kept = kept_bytes(v, threads, weights);
  if (kept <= device.launch_shared_bytes) plan.shared_bytes = static_cast<uint32_t>(kept);
  // Where blocks are alone on their unit, registers for weights are there.
  if (rounds == RowRounds::one_or_early && forced < 0 && weights > 0 && plan.few && geometry.rows <= device.units)
    plan.kernel = early_kernel;
  if (rounds == RowRounds::queued && forced < 0) {
    queue_rows(v, geometry, device, &plan);
    let_pass(v, geometry, device, &plan);
  }
  if (rounds == RowRounds::weights_aside && forced < 0) keep_weights_aside(v, geometry, device, weights, &plan);
  if (rounds_of && forced < 0) hold_in_eight(v, geometry, device, rounds_of, &plan);
  return plan;
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

int64_t row_kernel_shared(int kernel, uint32_t block) {
  constexpr int kMostWeights = 2;
  if (kernel == early_kernel) return 0;
  if (kernel >= aside_kernel(f32)) return block == 0 ? kMostAsideBytes : 0;
  if (kernel >= passing_kernel(f16)) return 0;
  if (kernel >= kRowKernels) return block == 0 ? kQueuedBytes : 0;
  if (kernel >= kRowVariants) return 0;
  const RowVariant& v = row_variants[kernel];
  return kept_bytes(v, block == 0 ? v.threads : static_cast<int>(block), kMostWeights);
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
