// The default choice for row ops, for a device without a table. It uses only numbers that every device reports.
#include <algorithm>
#include <array>

#include "policy/limits.h"
#include "rows/plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

int64_t bytes_of(const RowProblem& p) { return p.cols * dtype_bytes(p.dtype); }

// Every rule for few rows calls this, so PlanOptions::small_apart turns all of them off.
bool has_at_most(int64_t rows, const RowProblem& p, const PlanOptions& options) {
  return options.small_apart && p.rows <= rows;
}

// Whether `blocks` blocks, of the waves that a row needs, leave room for at most two waves on a unit.
bool fills_unit_in_halves(const RowKernel& k, const RowProblem& p, int blocks, const DeviceNumbers& device) {
  const int64_t wave = device.wave_size, block = divided_up(vectors_of(k, p), blocks * k.vectors * wave) * wave;
  return k.resident % block <= 2 * wave;
}

// The number of blocks that share a row: the fewest that hold it, and more if rows are so few that units would be idle.
// Whole blocks fill a unit. If not all rows' blocks run together, blocks have half of the work-items. Two of them then fit
// on a unit, and one loads while the other waits. Clusters that not every device supports must fill a unit.
int cluster_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device, const PlanOptions& options) {
  if (k.body != RowBody::cluster || device.largest_cluster == 1) return 1;
  const int64_t vectors = vectors_of(k, p), whole = k.lanes, half = whole / 2;
  const auto fewest_of = [&](int64_t lanes) {
    int blocks = 1;
    while (2 * blocks <= device.largest_cluster && blocks * lanes * k.vectors < vectors) blocks *= 2;
    return blocks;
  };
  const auto run_together = [&](int blocks) { return has_at_most(device.units / blocks, p, options); };
  const int of_half = fewest_of(half);
  const bool fits = of_half * half * k.vectors >= vectors &&
                    (of_half <= kPortableCluster || fills_unit_in_halves(k, p, of_half, device));
  const int64_t lanes = fits && !run_together(fewest_of(whole)) ? half : whole;
  int cluster = fewest_of(lanes);
  while (2 * cluster <= device.largest_cluster && run_together(2 * cluster) && 2 * cluster * lanes <= vectors)
    cluster *= 2;
  return cluster;
}

// Returns true if the kernel is worthwhile.
// - Packed: one work-item computes a row alone, which is slow. At least a block for each unit must hide that.
// - Unaligned: not for packed rows. The handling of a short row's ends costs more than vectors save.
// - Parts of waves with more than four vectors for each lane: only if the device prefetches rows.
// - Clusters, if elements cost much arithmetic and there are many rows: only if two blocks fit on a unit. If there are more
//   blocks than every device supports, none may be idle. Unaligned rows are streamed instead if each block gets several.
//   A pair of blocks that fills a unit is an exception.
// - Parts: if there are too few rows to keep all units busy, or if a row is too large to stay in caches until its
//   second read. With kMostSplitRows or more, whole rows keep units busy.
bool pays(const RowKernels& kernels, const RowChoice& choice, const RowProblem& p, const DeviceNumbers& device,
          const PlanOptions& options) {
  const RowKernel& k = kernels.kernel[choice.kernel];
  if (k.layout == RowLayout::packed) return !has_at_most(int64_t{k.block} * device.units - 1, p, options);
  if (k.layout == RowLayout::unaligned && p.layout == RowLayout::packed) return false;
  if (k.layout == RowLayout::aligned && k.lanes < k.block && k.vectors > 4) return device.prefetches_rows;
  const bool is_costly_cluster = k.body == RowBody::cluster && device.largest_cluster > 1 && kernels.needs_halves;
  if (is_costly_cluster && !has_at_most(device.units, p, options)) {
    const int64_t half = k.lanes / 2, idle = choice.cluster * half - divided_up(vectors_of(k, p), k.vectors);
    const int64_t few = RowLimits::kFewRowsAUnit * (k.resident / half) * device.units;
    if (idle < 0 || (choice.cluster > kPortableCluster && idle >= choice.cluster * device.wave_size)) return false;
    const bool is_pair = choice.cluster == 2 && fills_unit_in_halves(k, p, 2, device);
    if (k.layout == RowLayout::unaligned && !is_pair && !has_at_most(few, p, options)) return false;
  }
  if (k.body != RowBody::parts) return true;
  return has_at_most(kMostSplitRows - 1, p, options) &&
         (p.rows < RowLimits::kFewRowsAUnit * device.units || bytes_of(p) >= RowLimits::kLeastSplitRowBytes);
}

// Whether a block of an unaligned row on chip leaves no room for a second one. Nothing then loads while it reduces. If
// there are many rows, a cluster's persistent blocks are faster, because they prefetch.
bool fills_unit(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  if (!device.prefetches_rows || k.body != RowBody::on_chip || k.layout != RowLayout::unaligned) return false;
  const int64_t lanes = divided_up(vectors_of(k, p), k.vectors), wave = device.wave_size;
  const int64_t block = k.lanes == k.block ? divided_up(lanes, wave) * wave : k.block;
  return 2 * block > k.resident;
}

// The order in which kernels are preferred. The lowest rank is best, and the first difference decides:
// - Body, but a cluster before a block that fills a unit.
// - The problem's own layout before another. If there are few rows, fewest vectors a lane.
// - A part of a wave before a block.
// - For parts of waves, fewest lanes. For blocks, most vectors a lane, because more bytes are then in flight. If that
//   leaves fewer than four waves on AMD, fewest vectors a lane.
std::array<int, 5> rank_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device,
                           const PlanOptions& options) {
  std::array<int, 5> rank = {2 * int(k.body), k.layout != p.layout};
  if (k.body != RowBody::on_chip) return rank;
  if (has_at_most(RowLimits::kFewRowsAUnit * device.units, p, options)) rank[2] = k.vectors;
  else if (fills_unit(k, p, device)) rank[0] = 2 * int(RowBody::cluster) + 1;
  rank[3] = k.lanes == k.block;
  const bool is_small = vectors_of(k, p) <= (RowLimits::kLeastWaves * device.wave_size - 1) * int64_t{k.vectors};
  rank[4] = k.lanes < k.block ? lanes_of_part(k, p) : is_small && !device.prefetches_rows ? k.vectors : -k.vectors;
  return rank;
}

}  // namespace

RowChoice choose_rows_by_default(PlanOptions options, const RowKernels& kernels, const RowProblem& p,
                                 const DeviceNumbers& device) {
  RowChoice best = {-1, 1};
  std::array<int, 5> best_rank{};
  for (int i = 0; i < kernels.count; ++i) {
    const RowKernel& k = kernels.kernel[i];
    const RowChoice choice = {i, cluster_of(k, p, device, options)};
    const std::array<int, 5> rank = rank_of(k, p, device, options);
    if (best.kernel >= 0 && rank >= best_rank) continue;
    if (!pays(kernels, choice, p, device, options) || !takes(kernels, choice, p, device)) continue;
    best = choice, best_rank = rank;
  }
  return best;
}

}  // namespace hipops
