// The choice of a variant for rows.
#include "rows/row_choice.h"

#include <algorithm>
#include <cstdlib>

#include "device/core/launch_contract.h"

namespace hipops {
namespace {

constexpr int64_t kHeldBytes = 48 << 10;  // of rows, that a unit holds at once

constexpr RowVariant variant(hipops_dtype dtype, int threads, int vectors, int block, RowAccess access, RowMode mode) {
  int length = access == any || access == staged ? 1 : kWideBytes / bytes_of(dtype);
  int64_t longest = int64_t{threads} * vectors * length;
  if (access == edged) longest += length - 1;  // those are never all in vectors
  return {dtype, threads, vectors, block, access, mode == streaming, mode == clustered,
          length, mode == streaming ? INT64_MAX : longest};
}

}  // namespace

#define VARIANT(name, dtype, threads, vectors, block, access, mode) \
  variant(dtype, threads, vectors, block, access, mode),
constexpr RowVariant row_variants[kRowVariants] = {HIPOPS_ROW_KERNELS(VARIANT, )};
#undef VARIANT

namespace {

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
  return stage_elements(bytes_of(v.dtype)) / cols / at_once * at_once;
}

const RowVariant* clustered_variant(hipops_dtype dtype, RowAccess access) {
  const RowVariant* clustered = nullptr;
  for (int i = variants.of[dtype][access].first; i < variants.of[dtype][access].end; ++i)
    if (row_variants[i].clustered) clustered = &row_variants[i];
  return clustered;
}

int64_t vectors_of(const RowVariant& v, int64_t cols) {
  return v.access == edged ? std::max<int64_t>(cols / v.length, 1) : (cols + v.length - 1) / v.length;
}

int64_t kept_bytes(const RowVariant& v, int threads, int weights) {
  return v.clustered ? (int64_t{threads} * v.vectors + 1) * kWideBytes * weights : 0;
}

int64_t most_work_items(const RowVariant& v, const DeviceNumbers& device) {
  return int64_t{v.threads} * (v.clustered ? device.blocks_in_one : 1);
}

namespace {

// Whether one of many rows, which one or two blocks of a clustered variant hold, is better in halves of those. Of two
// blocks, all but aligned rows with two weights are. Of one, rows that take over ten of the sixteen waves that a unit
// has for it, but for odd ones with two weights; and not, unless with one weight, for so many rounds that there are
// always others under way.
bool is_better_in_halves(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceNumbers& device,
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
int cluster_of_halves(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceNumbers& device,
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
int cluster_of(const RowVariant& v, const RowGeometry& g, int64_t vectors, const DeviceNumbers& device, int weights) {
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

}  // namespace

Fit fit_of(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, int weights) {
  if (!v.clustered && g.cols > v.longest) return {};
  if (v.streaming || shares_blocks(v)) return {v.block, 1};
  const int64_t vectors = vectors_of(v, g.cols);
  const int cluster = v.clustered ? cluster_of(v, g, vectors, device, weights) : 1;
  if (cluster == 0) return {};
  const int64_t held_by_wave = int64_t{device.wave_size} * cluster * v.vectors;
  return {static_cast<int>((vectors + held_by_wave - 1) / held_by_wave) * device.wave_size, cluster};
}

Amount amount_of(hipops_dtype dtype, const RowGeometry& g, const DeviceNumbers& device) {
  constexpr int64_t kFewBytes = 2 << 10;
  const int64_t row_bytes = g.cols * bytes_of(dtype);
  const auto rows_of = [&](int64_t unit_bytes) { return device.units * unit_bytes / row_bytes; };
  if (rows_count_as_many.load(std::memory_order_relaxed)) return Amount::many;
  if (g.rows <= std::max<int64_t>(2 * device.units, rows_of(kFewBytes))) return Amount::few;
  if (g.rows <= rows_of(kHeldBytes / 2)) return Amount::some;
  return g.rows <= rows_of(kHeldBytes) ? Amount::at_once : Amount::many;
}

// Of few rows, what counts is the instructions before the first load, not the number of loads: element by element there
// are the fewest. So are those taken that would go through shared memory, and short ones of 16 bits at odd addresses, for
// which layer_norm's two weights, where they are of 16 bits as well, would be loaded element by element anyway; and
// of f64 those that are not much longer.
RowAccess access_of_few(hipops_dtype dtype, const RowGeometry& g, RowAccess best, const DeviceNumbers& device,
                        int weights) {
  constexpr int64_t kStaged = 32, kStagedLarge = 8, kEdged = 4, kLongestEdged = 512, kLongestLarge = 2048;
  if (rows_count_as_many.load(std::memory_order_relaxed)) return best;
  if (best == staged) return g.rows <= device.units * (dtype == f64 ? kStagedLarge : kStaged) ? any : best;
  if (best == edged && dtype == f64)
    return g.cols <= kLongestLarge && amount_of(dtype, g, device) == Amount::few ? any : best;
  const bool is_short = best == edged && bytes_of(dtype) == 2 && weights == 2 && g.cols <= kLongestEdged;
  return is_short && g.rows <= device.units * kEdged ? any : best;
}

bool are_enough(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device) {
  return rows_count_as_many.load(std::memory_order_relaxed) ||
         g.rows * g.cols * bytes_of(v.dtype) >= 3 * kHeldBytes * device.units;
}

namespace {

// Of few rows, a row's own time counts: first of all, that it stays within a wave, without code for more than two
// vectors; then what waves take to meet, and how many vectors a work-item has, which takes as long as four waves and
// more. Aligned rows of 16 bits with two weights, layer_norm's, meet twice: there vectors count for less, and four waves
// of 32, one for each of a unit's schedulers, are best. Rows that may be in clusters for this alone are from over
// thirteen waves with four vectors on.
int64_t cost_for_few(const RowVariant& v, int64_t cols, const Fit& fit, RoundsOf rounds_of, int weights) {
  constexpr int kBrief = 2, kSmallestWave = 32, kFourWaves = 4 * kSmallestWave;
  constexpr int kClusterVectors = 4, kClusterWaves = 13;
  if (shares_blocks(v) && v.vectors <= kBrief) return (vectors_of(v, cols) + v.threads - 1) / v.threads;
  if (shares_blocks(v) && v.access == any) return kBrief;
  const bool meets_twice = weights == 2 && v.access == wide && bytes_of(v.dtype) == 2;
  if (meets_twice && v.block == kFourWaves && fit.threads == kFourWaves) return kBrief;
  const auto cost = [&](int vectors, int waves) { return kBrief + (meets_twice ? 8 : 9) * vectors + 2 * waves; };
  if (fit.cluster > 1 && rounds_of && rounds_of(v) == RowRounds::one_or_in_eight)
    return cost(kClusterVectors, kClusterWaves);
  return cost(v.vectors, fit.threads / kSmallestWave);
}

// Of rows that are there at once, that few lanes idle: an eighth may, and three tenths of more than half as many rows as
// the device holds, of which there are others to work on. Rows share blocks where they can, but for aligned ones that
// would take more than four vectors a work-item. So do not odd ones of 16 bits, of which few wait for their instructions
// in one wave: of blocks that are as busy those with two vectors are best, with two weights one, up to half of a block.
int64_t cost_at_once(Amount amount, const RowVariant& v, int64_t cols, int threads, int weights) {
  constexpr int kMostVectors = 4;
  const bool is_odd = amount == Amount::some && v.access == edged && bytes_of(v.dtype) == 2;
  if (shares_blocks(v)) return (v.access == wide || is_odd) && v.vectors > kMostVectors ? INT64_MAX - 1 : 0;
  const int64_t idle = amount == Amount::some ? cols / 8 : 3 * cols / 10;
  const int64_t cost = std::max(int64_t{threads} * v.vectors * v.length, cols + idle);
  const int best = weights == 2 ? 1 : 2;
  return is_odd && 2 * vectors_of(v, cols) < v.block ? cost + std::abs(v.vectors - best) : cost;
}

// Of many, the first variant that holds a row is best, but for is_better_ahead and is_better_by_two. Of those whose rows
// have a block of their own it has the most vectors a work-item, which counts for more than lanes that idle. But small
// blocks take more registers: where over an eighth of their lanes idles, large ones are better. And odd rows that leave
// lanes with four of six vectors are better in a block of their own, with four.
int64_t cost_for_many(const RowVariant& v, int64_t cols, int threads) {
  constexpr int kSmallBlock = 128, kFew = 4;
  if (v.access == edged && shares_blocks(v) && v.vectors > kFew) return vectors_of(v, cols) <= int64_t{kFew} * v.threads;
  const bool idles = int64_t{threads} * v.vectors * v.length > cols + cols / 8;
  return !shares_blocks(v) && v.block <= kSmallBlock && idles;
}

int64_t cost_of(Amount amount, const RowVariant& v, int64_t cols, const Fit& fit, RoundsOf rounds_of, int weights) {
  if (v.streaming) return INT64_MAX;
  switch (amount) {
    case Amount::few: return cost_for_few(v, cols, fit, rounds_of, weights);
    case Amount::some:
    case Amount::at_once: return cost_at_once(amount, v, cols, fit.threads, weights);
    case Amount::many: break;
  }
  return cost_for_many(v, cols, fit.threads);
}

// Whether many odd rows of 16 bits, or rows of f64, of which a unit runs two blocks that wait for their row, are better
// in the blocks of clusters, one for each: as many of them run, with half as many work-items of eight vectors, and take
// the next row ahead. softmax gains from eleven waves on, layer_norm in f64, too, and rms_norm from thirteen, and where
// its weight is kept there; in f64 it does not.
bool is_better_ahead(const RowVariant& v, const RowGeometry& g, int threads, const DeviceNumbers& device,
                     RoundsOf rounds_of, int weights) {
  constexpr int kThreads = 10 * 32, kThreadsBesideWeight = 12 * 32;
  if (v.streaming || v.vectors != 4 || device.largest_cluster == 1) return false;
  if (v.dtype != f64 && (v.access != edged || bytes_of(v.dtype) != 2)) return false;
  if (v.dtype != f64 && weights == 1) return threads > kThreadsBesideWeight && are_enough(v, g, device);
  return rounds_of && rounds_of(v) == RowRounds::one_or_ahead && threads > kThreads;
}

// Whether rows of f32 with two weights, more than the device holds at once, but not three times as many, are better in
// blocks of two vectors a work-item than by a variant of more, which a wave or a small block would be: where a tenth of
// their lanes idles at most. Weights find registers then. (An H200 takes up to 9 % longer for more of them. Not on AMD,
// whose launches bring no shared memory: a third as much would be on its way.)
bool is_better_by_two(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, int weights) {
  constexpr int64_t kTwo = 2, kWave = 32, kLeast = 4 * kWave, kMost = 8 * kWave;
  if (v.streaming || v.dtype != f32 || v.access != wide || weights != 2 || v.vectors == kTwo) return false;
  if (device.launch_shared_bytes == 0 || are_enough(v, g, device)) return false;
  const int64_t vectors = vectors_of(v, g.cols), of_wave = kTwo * device.wave_size;
  const int64_t held = (vectors + of_wave - 1) / of_wave * of_wave;
  return vectors > kLeast && vectors <= kMost && 10 * held <= 11 * vectors;
}

}  // namespace

Choice choose_variant(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceNumbers& device,
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
    if (amount == Amount::many)
      cost += is_better_ahead(v, geometry, fit.threads, device, rounds_of, weights) ||
              is_better_by_two(v, geometry, device, weights);
    if (best.kernel < 0 || cost < lowest) best = {i, fit}, lowest = cost;
  }
  return best;
}

}  // namespace hipops
