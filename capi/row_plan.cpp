// The choice of a variant for rows, and its launch.
#include "rows.h"

#include <algorithm>

#include "device/launch_contract.h"
#include "divisor.h"
#include "runtime/guarded.h"

namespace hipops {
namespace {

// The names that the variant lists use, as host constants.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;

constexpr int kWideBytes = 16;  // the widest access there is

constexpr int bytes_of(hipops_dtype dtype) { return dtype == f64 ? 8 : dtype == f32 ? 4 : 2; }

constexpr RowVariant variant(hipops_dtype dtype, int threads, int vectors, int block, RowAccess access, RowMode mode) {
  int length = access == any || access == staged ? 1 : kWideBytes / bytes_of(dtype);
  int64_t longest = int64_t{threads} * vectors * length;
  if (access == edged) longest += length - 1;  // those are never all in vectors
  return {dtype, threads, vectors, block, access, mode == streaming, mode == clustered,
          length, mode == streaming ? INT64_MAX : longest};
}

constexpr int64_t kQueuedBytes = 60 << 10;  // of a unit's shared memory, for rows that wait there

constexpr int64_t kMostAsideBytes = 64 << 10;  // of a block's, for weights: of 512 work-items, four vectors of both

constexpr int64_t kHeldBytes = 48 << 10;  // of rows, that a unit holds at once

// Blocks that a launch may have: work-items stay under 2^32 with 1024 a block. Larger work loops over rows.
constexpr int64_t kMostBlocks = int64_t{1} << 21;

}  // namespace

#define VARIANT(name, dtype, threads, vectors, block, access, mode) \
  variant(dtype, threads, vectors, block, access, mode),
constexpr RowVariant row_variants[kRowVariants] = {HIPOPS_ROW_KERNELS(VARIANT, )};
#undef VARIANT

namespace {

constexpr bool shares_blocks(const RowVariant& v) { return v.threads < v.block; }

// The variants of a float dtype and an access, which are neighbours; found when compiled, as this is on every call's
// way.
struct Variants {
  int first, end;
};
struct VariantTable {
  Variants of[f64 + 1][any + 1] = {};

  constexpr VariantTable() {
    for (int i = 0; i < kRowVariants; ++i) {
      Variants& known = of[row_variants[i].dtype][row_variants[i].access];
      if (known.end == 0) known.first = i;
      known.end = i + 1;
    }
  }
};
constexpr VariantTable variants;

constexpr bool fit_cluster_blocks() {
  for (const RowVariant& v : row_variants)
    if (v.clustered && (v.threads != kClusterBlocks[1] || v.threads / 2 != kClusterBlocks[0])) return false;
  return true;
}
static_assert(fit_cluster_blocks(), "clusters that run at a time are counted for these");

}  // namespace

std::atomic<int> forced_row_kernel{-1};
std::atomic<bool> rows_count_as_many{false};

int64_t longest_staged(hipops_dtype dtype) { return row_variants[variants.of[dtype][staged].end - 1].longest; }

int64_t most_stage_rows(const RowVariant& v, int64_t cols) {
  const int64_t at_once = v.block / v.threads;
  return stage_elements(v.block, v.vectors, bytes_of(v.dtype)) / cols / at_once * at_once;
}

namespace {

// Vectors of a row.
int64_t vectors_of(const RowVariant& v, int64_t cols) {
  return v.access == edged ? std::max<int64_t>(cols / v.length, 1) : (cols + v.length - 1) / v.length;
}

// What a block keeps of the weights.
int64_t kept_bytes(const RowVariant& v, int threads, int weights) {
  return v.clustered ? (int64_t{threads} * v.vectors + 1) * kWideBytes * weights : 0;
}

// Work-items that a block of a variant may have.
int64_t most_work_items(const RowVariant& v, const DeviceFacts& device) {
  return int64_t{v.threads} * (v.clustered ? device.blocks_in_one : 1);
}

// Whether one of many rows, which one or two blocks of a clustered variant hold, is better in halves of those. Of two
// blocks, all but aligned rows with two weights are. Of one, rows that take over ten of the sixteen waves that a unit
// has for it, but for odd ones with two weights; and not, unless with one weight, for so many rounds that there are
// always others under way.
bool is_better_in_halves(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceFacts& device,
                         int weights) {
  constexpr int64_t kRounds = 16;
  const int64_t held = int64_t{v.threads} * v.vectors;
  if (vectors > held) return v.access == edged || weights < 2;
  return 8 * vectors > 5 * held && (weights < 2 || v.access == wide) &&
         (weights == 1 || g.rows <= kRounds * device.units);
}

// Blocks of a clustered variant that share one of many rows, where they need be no larger than half the variant's: two
// of those stand on a unit, and one computes while the other waits for its cluster. 0 where there are none, where few
// whole ones are better, or where a unit has not the memory for two that keep weights. (Clusters of 6 and 7 leave more
// of NVIDIA's units idle, which stand in groups of 16 or 18, than they spare.)
int cluster_of_halves(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceFacts& device,
                      int weights) {
  const int64_t held = int64_t{v.threads} * v.vectors;
  const int64_t halves = (2 * vectors + held - 1) / held;
  if (halves <= 4 && !is_better_in_halves(v, g, vectors, device, weights)) return 0;
  if (2 * kept_bytes(v, v.threads / 2, weights) > device.unit_shared_bytes) return 0;
  const int cluster = halves <= 2 ? 2 : halves <= 4 ? 4 : halves == 5 ? 5 : 8;
  return halves <= cluster && cluster <= device.largest_cluster ? cluster : 0;
}

// Blocks of a clustered variant that share a row, one of kClusterSizes; 0 where it does not fit in as many as the device
// has to a cluster. Where there are few rows, as many as find work: more of the device takes part in each.
int cluster_of(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceFacts& device, int weights) {
  const int64_t held = most_work_items(v, device) * v.vectors;
  int cluster = 1;
  while (cluster * held < vectors) {
    cluster *= 2;
    if (cluster > device.largest_cluster) return 0;
  }
  const bool many = rows_count_as_many.load(std::memory_order_relaxed) || g.rows > device.units / cluster;
  if (many) {
    if (const int of_halves = cluster_of_halves(v, g, vectors, device, weights)) return of_halves;
    return cluster == 8 && 5 * held >= vectors ? 5 : cluster;
  }
  while (2 * cluster <= std::min(device.largest_cluster, kPortableCluster) &&
         g.rows <= device.units / (2 * cluster) && 2 * cluster * int64_t{v.threads} <= vectors)
    cluster *= 2;
  return cluster;
}

// How a variant serves such rows: work-items of a block, and blocks that share a row. None where they do not fit.
struct Fit {
  int threads = 0, cluster = 1;
};

Fit fit_of(const RowVariant& v, const RowGeometry& g, const DeviceFacts& device, int weights) {
  if (!v.clustered && g.cols > v.longest) return {};
  if (v.streaming || shares_blocks(v)) return {v.block, 1};
  const int64_t vectors = vectors_of(v, g.cols);
  const int cluster = v.clustered ? cluster_of(v, g, vectors, device, weights) : 1;
  if (cluster == 0) return {};
  const int64_t held_by_wave = int64_t{device.wave_size} * cluster * v.vectors;
  return {static_cast<int>((vectors + held_by_wave - 1) / held_by_wave) * device.wave_size, cluster};
}

// How many rows there are for a device, which decides what makes a variant good.
enum class Amount {
  few,      // two for each unit, or so short that a unit is done with them at once
  some,     // half of what the device holds at a time
  at_once,  // so many that it holds all of them
  many,
};
Amount amount_of(hipops_dtype dtype, const RowGeometry& g, const DeviceFacts& device) {
  constexpr int64_t kFewBytes = 2 << 10;
  const int64_t row_bytes = g.cols * bytes_of(dtype);
  const auto rows_of = [&](int64_t unit_bytes) { return device.units * unit_bytes / row_bytes; };
  if (rows_count_as_many.load(std::memory_order_relaxed)) return Amount::many;
  if (g.rows <= std::max<int64_t>(2 * device.units, rows_of(kFewBytes))) return Amount::few;
  if (g.rows <= rows_of(kHeldBytes / 2)) return Amount::some;
  return g.rows <= rows_of(kHeldBytes) ? Amount::at_once : Amount::many;
}

// Of few rows, a row's own time counts: first of all, that it stays within a wave, without code for more than two
// vectors; then what waves take to meet, and how many vectors a work-item has, which takes as long as four waves and
// more. Aligned rows of 16 bits with two weights meet twice: there vectors count for less, and four waves, one for each of
// a unit's schedulers, are best.
int64_t cost_for_few(const RowVariant& v, int64_t cols, const Fit& fit, RoundsOf rounds_of, int weights) {
  constexpr int kBrief = 2, kSmallestWave = 32, kFourWaves = 4 * kSmallestWave;
  if (shares_blocks(v) && v.vectors <= kBrief) return (vectors_of(v, cols) + v.threads - 1) / v.threads;
  const bool meets_twice = weights == 2 && v.access == wide && bytes_of(v.dtype) == 2;
  if (meets_twice && v.block == kFourWaves && fit.threads == kFourWaves) return kBrief;
  const auto cost = [&](int vectors, int waves) { return kBrief + (meets_twice ? 8 : 9) * vectors + 2 * waves; };
  if (fit.cluster > 1 && rounds_of && rounds_of(v) == RowRounds::one_or_with_tail) return cost(4, 13);
  return cost(v.vectors, fit.threads / kSmallestWave);
}

// Of rows that are there at once, that few lanes idle: an eighth may, and three tenths of more than half as many rows as
// the device holds, of which there are others to work on. Rows share blocks where they can, but for aligned ones that
// would take more than four vectors a work-item.
int64_t cost_at_once(Amount amount, const RowVariant& v, int64_t cols, int threads) {
  constexpr int kMostVectors = 4;
  if (shares_blocks(v)) return v.access == wide && v.vectors > kMostVectors ? INT64_MAX - 1 : 0;
  return std::max(int64_t{threads} * v.vectors * v.length, cols + (amount == Amount::some ? cols / 8 : 3 * cols / 10));
}

// Of many, the first variant that holds a row is best, but for is_better_ahead. Of those whose rows have a block of
// their own it has the most vectors a work-item, which counts for more than lanes that idle. But small blocks take more
// registers: where over an eighth of their lanes idles, large ones are better.
int64_t cost_for_many(const RowVariant& v, int64_t cols, int threads) {
  constexpr int kSmallBlock = 128;
  const bool idles = int64_t{threads} * v.vectors * v.length > cols + cols / 8;
  return !shares_blocks(v) && v.block <= kSmallBlock && idles;
}

int64_t cost_of(Amount amount, const RowVariant& v, int64_t cols, const Fit& fit, RoundsOf rounds_of, int weights) {
  if (v.streaming) return INT64_MAX;
  switch (amount) {
    case Amount::few: return cost_for_few(v, cols, fit, rounds_of, weights);
    case Amount::some:
    case Amount::at_once: return cost_at_once(amount, v, cols, fit.threads);
    case Amount::many: break;
  }
  return cost_for_many(v, cols, fit.threads);
}

// So many rows that a block makes up for what it brings to shared memory first.
bool are_enough(const RowVariant& v, const RowGeometry& g, const DeviceFacts& device) {
  return rows_count_as_many.load(std::memory_order_relaxed) ||
         g.rows * g.cols * bytes_of(v.dtype) >= 3 * kHeldBytes * device.units;
}

// Whether many odd rows of 16 bits, of which a unit runs two blocks that wait for their row, are better in the blocks
// of clusters, one for each: as many of them run, with half as many work-items of eight vectors, and take the next row
// ahead. softmax gains from eleven waves on, a norm from thirteen, and where its weight is kept there.
bool is_better_ahead(const RowVariant& v, const RowGeometry& g, int threads, const DeviceFacts& device,
                     RoundsOf rounds_of, int weights) {
  constexpr int kThreads = 10 * 32, kThreadsBesideWeight = 12 * 32;
  if (v.access != edged || v.vectors != 4 || bytes_of(v.dtype) != 2 || device.largest_cluster == 1) return false;
  if (weights == 1) return threads > kThreadsBesideWeight && are_enough(v, g, device);
  return rounds_of && rounds_of(v) == RowRounds::one_or_ahead && threads > kThreads;
}

struct Choice {
  int kernel;
  Fit fit;
};

Choice choose(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceFacts& device,
              RoundsOf rounds_of, int weights) {
  const Variants& candidates = variants.of[dtype][access];
  const Amount amount = amount_of(dtype, geometry, device);
  const int64_t least = amount == Amount::few ? 1 : 0;  // there is
  Choice best = {-1, {}};
  int64_t lowest = INT64_MAX;
  for (int i = candidates.first; i < candidates.end && lowest > least; ++i) {
    const RowVariant& v = row_variants[i];
    const Fit fit = fit_of(v, geometry, device, weights);
    if (fit.threads == 0) continue;
    int64_t cost = cost_of(amount, v, geometry.cols, fit, rounds_of, weights);
    if (amount == Amount::many) cost += is_better_ahead(v, geometry, fit.threads, device, rounds_of, weights);
    if (best.kernel < 0 || cost < lowest) best = {i, fit}, lowest = cost;
  }
  return best;
}

// Blocks that go over many rows, as many as run at a time: see for_each_row_ahead; and staged and clustered ones, so
// that they load their weights once.
int64_t most_blocks(const RowVariant& v, int threads, const DeviceFacts& device, RowRounds rounds) {
  constexpr int kSmallestWave = 32, kMostWaves = 64;
  if (v.streaming) return kMostBlocks;
  const bool beside_weights = rounds >= RowRounds::ahead_beside_weights;
  const bool goes_round = v.clustered || rounds == RowRounds::ahead || beside_weights;
  int resident = v.access == staged ? kMostWaves * kSmallestWave
                 : goes_round       ? resident_threads(v.vectors, beside_weights) * (device.wave_size / kSmallestWave)
                                    : 0;
  return resident == 0 ? kMostBlocks : int64_t{device.units} * std::max(resident / threads, 1);
}

// How often blocks go round. Lanes that idle, where the others have one vector, take as long to begin as to work.
RowRounds rounds_for(const RowVariant& v, int64_t cols, RoundsOf rounds_of) {
  const RowRounds rounds = rounds_of ? rounds_of(v) : RowRounds::one;
  const bool idles = v.access == wide && shares_blocks(v) && v.vectors == 1 && vectors_of(v, cols) < v.threads;
  return rounds == RowRounds::one && idles ? RowRounds::several : rounds;
}

// The blocks of so many groups that go round several times: the more often, the more of them a unit would have, until
// each work-item has taken four vectors. (More rounds, or two of three vectors, are slower.)
int64_t in_several_rounds(int64_t groups, const RowVariant& v, const DeviceFacts& device) {
  constexpr int64_t kManyBlocks = 128, kMostVectors = 4;
  const int64_t most = std::max<int64_t>(kMostVectors / v.vectors, 1);
  const int64_t rounds = std::min(groups / (kManyBlocks * device.units) + 1, most);
  return (groups + rounds - 1) / rounds;
}

// Rows that a block of a staged variant takes at a time: as many as leave it one round, if it has room for them.
int64_t stage_rows(const RowVariant& v, const RowGeometry& g, const DeviceFacts& device) {
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

bool are_alike(int64_t row_step, const RowGeometry& g, hipops_dtype dtype) {
  const int after = alike_after(g, dtype);
  return row_step >= g.rows || (after > 0 && row_step % after == 0);
}

// Of `groups` that go over rows at odd addresses, so many that each comes to rows that lie alike, and keeps its
// weights. Where clusters share rows that would be too few.
int64_t come_to_alike(int64_t groups, const RowVariant& v, const RowGeometry& g) {
  const bool goes_round = groups * (v.block / v.threads) < g.rows;
  if (v.access != edged || v.clustered || !goes_round) return groups;
  const int64_t after = alike_after(g, v.dtype);
  return after > 0 && groups > after ? groups / after * after : groups;
}

// Work-items of a variant that go over rows, beside weights, which a unit has registers for.
int64_t resident_beside_weights(const RowVariant& v, const DeviceFacts& device) {
  constexpr int64_t kWave = 32;
  return resident_threads(v.vectors, true) * (device.wave_size / kWave);
}

// Whether as many blocks as there are then leave over a sixteenth of these work-items idle.
bool idles_beside_weights(const RowVariant& v, const RowGeometry& g, int64_t blocks, const DeviceFacts& device) {
  return blocks * vectors_of(v, g.cols) <= resident_beside_weights(v, device) * v.vectors * 15 / 16;
}

// Has next rows wait in shared memory, where blocks that keep them in registers would idle, and more blocks or rows
// find room so. (Other rows are 1 % slower by it, and slower again where more of them wait; those that are not whole
// sectors up to 7 %.)
void queue_rows(const RowVariant& v, const RowGeometry& g, const DeviceFacts& device, RowPlan* plan) {
  constexpr int64_t kSectorBytes = 32;
  if (v.streaming || bytes_of(v.dtype) != 2 || device.launch_shared_bytes < kQueuedBytes) return;
  if (g.cols * bytes_of(v.dtype) % kSectorBytes != 0) return;
  const int64_t threads = plan->block, blocks = std::max<int64_t>(resident_beside_weights(v, device) / threads, 1);
  const int64_t queued_blocks = std::max<int64_t>(kQueuedThreads / threads, 1);
  const int64_t row_bytes = threads * v.vectors * kWideBytes;
  const bool two = 2 * queued_blocks * row_bytes <= kQueuedBytes;
  if (!idles_beside_weights(v, g, blocks, device) || (queued_blocks == blocks && !two)) return;
  plan->kernel = queued_kernel(v.dtype);
  plan->rows_ahead = two ? 2 : 1;
  plan->shared_bytes = static_cast<uint32_t>(plan->rows_ahead * row_bytes);
  plan->row_step = within_grid_limit(std::min(g.rows, device.units * queued_blocks));
  plan->grid = static_cast<uint32_t>(plan->row_step);
}

// Has weights stay in shared memory, where blocks that keep them in registers would idle, more blocks find room so, and
// each comes to enough rows, that lie alike, to make up for bringing them there. (Where none idle, odd rows are up to
// 5 % slower by it, and fewer rows up to 20 %.)
void keep_weights_aside(const RowVariant& v, const RowGeometry& g, const DeviceFacts& device, int weights,
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

// Has what a cluster of eight does not hold of a row in registers wait in shared memory. A larger cluster, of which fewer
// run, takes half as long a row: few rows stay there that it takes fewer than twice as many rounds. (Of each size one
// less runs than there are units for, as these stand in groups.)
void keep_tails(hipops_dtype dtype, const RowGeometry& g, RowAccess access, const DeviceFacts& device,
                RoundsOf rounds_of, RowPlan* plan) {
  if (dtype != f32 || access != wide || rounds_of == nullptr || device.launch_shared_bytes == 0 || g.rows == 1) return;
  const RowVariant* v = nullptr;
  for (int i = variants.of[dtype][access].first; i < variants.of[dtype][access].end; ++i)
    if (row_variants[i].clustered) v = &row_variants[i];
  if (rounds_of(*v) != RowRounds::one_or_with_tail) return;
  int64_t cluster = 1;
  while (2 * cluster <= std::min(device.largest_cluster, kPortableCluster)) cluster *= 2;
  const int64_t threads = most_work_items(*v, device), held = cluster * threads * v->vectors;
  const int64_t vectors = vectors_of(*v, g.cols), step = cluster * threads;
  if (vectors <= held) return;
  const int64_t bytes = 2 * ((vectors - held + step - 1) / step) * threads * kWideBytes;
  if (bytes > device.launch_shared_bytes) return;
  const auto rounds = [&](int64_t blocks) {
    const int64_t at_a_time = std::max<int64_t>(device.units / blocks - 1, 1);
    return (g.rows + at_a_time - 1) / at_a_time;
  };
  if (!rows_count_as_many.load(std::memory_order_relaxed)) {
    const bool fits = 2 * cluster <= device.largest_cluster && vectors <= 2 * held;
    if (fits ? rounds(2 * cluster) < 2 * rounds(cluster) : g.rows <= device.units / kLargestCluster) return;
  }
  plan->kernel = tailed_kernel;
  plan->block = static_cast<uint32_t>(threads);
  plan->cluster = static_cast<uint32_t>(cluster);
  plan->shared_bytes = static_cast<uint32_t>(bytes);
  plan->row_step = within_grid_limit(std::min(g.rows, std::max<int64_t>(device.units / cluster, 1)));
  plan->grid = static_cast<uint32_t>(plan->row_step * cluster);
}

}  // namespace

int queued_kernel(hipops_dtype dtype) { return kRowKernels + (dtype == bf16); }
int aside_kernel(hipops_dtype dtype) { return kRowKernels + 2 + (dtype == f32 ? 0 : dtype == f16 ? 1 : 2); }

RowPlan plan_rows(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceFacts& device,
                  RoundsOf rounds_of, int weights) {
  const int forced = forced_row_kernel.load(std::memory_order_relaxed);
  const auto [kernel, fit] = forced < 0 ? choose(dtype, geometry, access, device, rounds_of, weights)
                                        : Choice{forced, fit_of(row_variants[forced], geometry, device, weights)};
  const auto [threads, cluster] = fit;
  const RowVariant& v = row_variants[kernel];
  const RowRounds rounds = rounds_for(v, geometry.cols, rounds_of);
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
  if (rounds == RowRounds::queued && forced < 0) queue_rows(v, geometry, device, &plan);
  if (rounds == RowRounds::weights_aside && forced < 0) keep_weights_aside(v, geometry, device, weights, &plan);
  if (forced < 0) keep_tails(dtype, geometry, access, device, rounds_of, &plan);
  return plan;
}

int64_t split_tiles(hipops_dtype dtype, int64_t cols) {
  const int64_t columns = int64_t{kSplitThreads} * kSplitVectors * kWideBytes / bytes_of(dtype);
  return (cols + columns - 1) / columns;
}

bool splits_rows(hipops_dtype dtype, const RowGeometry& geometry, const RowPlan& plan, bool in_place,
                 const DeviceFacts& device) {
  constexpr int64_t kBeyondCaches = int64_t{1} << 20;  // bytes of a row: all units' rows are more than caches hold
  if (plan.kernel >= kRowVariants) return false;
  const RowVariant& v = row_variants[plan.kernel];
  const bool can = v.streaming && (v.access == wide || v.access == edged) && dtype != f64 && !in_place;
  return can && (geometry.rows < 2 * device.units || geometry.cols * bytes_of(dtype) >= kBeyondCaches);
}

RowPlan plan_split_step(hipops_dtype dtype, const RowGeometry& geometry, SplitStep step) {
  const int of_dtype = dtype == f32 ? 0 : dtype == f16 ? 1 : 2;
  const bool all = geometry.rows > kMostBlocks / geometry.tiles;  // and more
  const int64_t work = step == merge_tiles ? geometry.rows : all ? kMostBlocks : geometry.rows * geometry.tiles;
  const int64_t blocks = within_grid_limit(std::min(work, kMostBlocks));
  return {kRowVariants + of_dtype * kSplitSteps + step, static_cast<uint32_t>(blocks), kSplitThreads, blocks};
}

int64_t row_kernel_shared(int kernel, uint32_t block) {
  constexpr int kMostWeights = 2;
  if (kernel >= aside_kernel(f32)) return block == 0 ? kMostAsideBytes : 0;
  if (kernel >= kRowKernels) return block == 0 ? kQueuedBytes : 0;
  if (kernel >= kRowVariants) return 0;
  const RowVariant& v = row_variants[kernel];
  return kept_bytes(v, block == 0 ? v.threads : static_cast<int>(block), kMostWeights);
}

RowCandidates row_candidates(const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                             RoundsOf rounds_of, int weights) {
  const RowGeometry geometry = row_geometry(y, x);
  const RowAccess access = row_access(y, x, geometry);
  RowCandidates candidates;
  candidates.chosen = plan_rows(x.dtype, geometry, access, device, rounds_of, weights).kernel;
  const bool own = candidates.chosen >= kRowKernels;
  candidates.like =
      own ? plan_rows(x.dtype, geometry, access, device, nullptr, weights).kernel : candidates.chosen;
  for (int i = 0; i < kRowVariants; ++i) {
    const RowVariant& v = row_variants[i];
    if (v.dtype == x.dtype && v.access == access && fit_of(v, geometry, device, 0).threads > 0)
      candidates.kernel[candidates.count++] = i;
  }
  return candidates;
}

namespace {

// A plan in clusters, with no more of them than run at a time: blocks that go round would wait for those before them.
// Where such don't run on the device at all, as in a part of it that is too small, it is in smaller ones, or in none.
hipops_status fit_clusters(Op& op, const RowCall& call, const RowGeometry& geometry, const DeviceFacts& device,
                           RowPlan* plan) {
  uint32_t most = 0;
  while (plan->cluster > 1) {
    if (hipops_status status = most_clusters(op, device, plan->cluster, plan->block, &most)) return status;
    if (most > 0) break;
    const hipops_status status = guarded([&] {
      DeviceFacts smaller = device;
      smaller.largest_cluster = static_cast<int>(plan->cluster) - 1;
      *plan = plan_rows(call.dtype, geometry, call.access, smaller, call.rounds_of, call.weights);
      return HIPOPS_SUCCESS;
    });
    if (status) return status;
  }
  if (plan->cluster == 1) return HIPOPS_SUCCESS;
  const uint32_t clusters = std::min(plan->grid / plan->cluster, most);
  plan->grid = clusters * plan->cluster;
  plan->row_step = clusters;
  return HIPOPS_SUCCESS;
}

hipops_status launch_split(Op& op, const RowCall& call, const DeviceFacts& device, RowGeometry* geometry,
                           const void* args, size_t bytes, void* stream) {
  // Weights that the L2 cache would not hold until the next row comes to them are used for all rows at once. Other rows
  // are faster one after the other.
  constexpr int64_t kBeyondL2 = int64_t{8} << 20;
  geometry->rows_first =
      call.access == wide && call.weights > 0 && geometry->cols * bytes_of(call.dtype) >= kBeyondL2;
  geometry->tiles = split_tiles(call.dtype, geometry->cols);
  geometry->tiles_divisor = wide_divisor_of(geometry->rows_first ? geometry->rows : geometry->tiles);
  geometry->threads = kSplitThreads;
  for (const SplitStep step : {call.access == wide ? wide_partial : edged_partial, merge_tiles,
                               call.access == wide ? wide_apply : edged_apply}) {
    const RowPlan plan = plan_split_step(call.dtype, *geometry, step);
    geometry->row_step = plan.row_step;
    if (hipops_status status = launch(op, device, plan.kernel, {plan.grid, plan.block}, args, bytes, stream))
      return status;
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

hipops_status launch_rows(Op& op, const RowCall& call, RowGeometry* geometry, const void* args, size_t bytes,
                          void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(&device)) return status;
  RowPlan plan = plan_rows(call.dtype, *geometry, call.access, *device, call.rounds_of, call.weights);
  if (plan.cluster > 1) {
    if (hipops_status status = fit_clusters(op, call, *geometry, *device, &plan)) return status;
  }
  const bool free = forced_row_kernel.load(std::memory_order_relaxed) < 0;
  if (free && splits_rows(call.dtype, *geometry, plan, call.in_place, *device))
    return launch_split(op, call, *device, geometry, args, bytes, stream);
  geometry->row_step = plan.row_step;
  geometry->threads = static_cast<int32_t>(plan.block);
  geometry->weights_kept = plan.rows_ahead == 0 && plan.shared_bytes > 0;
  geometry->rows_ahead = plan.rows_ahead;
  geometry->stage_rows = plan.rows_per_block;
  geometry->alike = are_alike(plan.row_step, *geometry, call.dtype);
  geometry->few = plan.few;
  const LaunchShape shape = {plan.grid, plan.block, plan.cluster, plan.shared_bytes};
  return launch(op, *device, plan.kernel, shape, args, bytes, stream);
}

}  // namespace hipops
