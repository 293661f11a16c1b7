// The plan of rows for a device that no table describes.
#include <algorithm>

#include "rows/plan.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr int64_t kMostBlocks = int64_t{1} << 21;  // work-items stay under 2^32

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t bytes_of(const RowProblem& p) { return p.cols * dtype_bytes(p.dtype); }

// Blocks of `lanes` that share a row: as few as hold it, and more where rows are so few that units would have nothing to do.
int cluster_of(const RowKernel& k, int64_t lanes, int64_t vectors, int64_t rows, const DeviceNumbers& device) {
  int cluster = 1;
  if (k.body != RowBody::cluster) return cluster;
  while (2 * cluster <= device.largest_cluster && cluster * lanes * k.vectors < vectors) cluster *= 2;
  const int most = std::min(device.largest_cluster, kPortableCluster);
  while (2 * cluster <= most && 2 * cluster * rows <= device.units && 2 * cluster * lanes <= vectors) cluster *= 2;
  return cluster;
}

// Whether a kernel takes such rows: unaligned ones take aligned rows, too, and strided ones all. Rows are split that are
// too few for a block each, or more than caches hold until they are read again.
bool serves(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  if (k.dtype != p.dtype) return false;
  if (k.body == RowBody::merged || (k.layout == RowLayout::packed && p.layout != k.layout)) return false;
  if (k.layout == RowLayout::aligned && p.layout != k.layout) return false;
  const bool has_gaps = p.layout == RowLayout::strided || bytes_of(p) < kLeastUnalignedVectors * kWideAccess;
  if (k.layout == RowLayout::unaligned && has_gaps) return false;
  if (k.body != RowBody::parts) return true;
  const bool pays = p.rows < 2 * device.units || bytes_of(p) >= int64_t{1} << 20;
  return p.may_split && pays && p.cols >= 2 * elements_of_tile(k, p.dtype) + kWideAccess;
}

// The kernel with the lowest rank is best: rows on chip before others, in one block before a cluster, and by the row's own
// layout; a part of a wave before a block; of blocks those with the most vectors a lane, which has the most bytes on their
// way, if that leaves four waves, but of few rows those with the fewest.
int64_t rank_of(const RowKernel& k, const RowProblem& p, int64_t vectors, const DeviceNumbers& device) {
  const int64_t rank = (int64_t(k.body) << 12) + (k.layout == p.layout ? 0 : 1 << 11);
  if (k.body != RowBody::on_chip) return rank;
  if (k.lanes < k.block) return rank + k.lanes - 1024;
  const bool few = p.rows <= 2 * device.units || divided_up(vectors, k.vectors) < 4 * device.wave_size;
  return rank + (few ? k.vectors : -k.vectors);
}

}  // namespace

RowLaunch plan_rows_by_default(const RowKernels& kernels, const RowProblem& p, const DeviceNumbers& device) {
  int best = -1;
  int64_t best_rank = 0, best_vectors = 0, cluster = 1;
  for (int i = 0; i < kernels.count; ++i) {
    const RowKernel& k = kernels.kernel[i];
    const bool by_element = k.layout == RowLayout::strided || k.layout == RowLayout::packed;
    const int64_t vectors = k.layout == RowLayout::packed ? 1 : by_element ? p.cols : std::max<int64_t>(bytes_of(p) / kWideAccess, 1);
    // Of clusters' blocks half as large ones where rows are many: two stand on a unit, and one loads while one waits.
    const int64_t half = k.lanes / 2, most = device.largest_cluster * half * k.vectors;
    const bool halves = k.body == RowBody::cluster && device.largest_cluster > 1 && p.rows > device.units && most >= vectors;
    const int64_t lanes = halves ? half : k.body == RowBody::cluster && device.largest_cluster == 1 ? k.lanes * device.blocks_in_one : k.lanes;
    const int64_t blocks = cluster_of(k, lanes, vectors, p.rows, device);
    const bool fits = k.body > RowBody::cluster || blocks * lanes * k.vectors >= vectors;
    const int64_t rank = rank_of(k, p, vectors, device);
    if (!fits || !serves(k, p, device) || (best >= 0 && rank >= best_rank)) continue;
    best = i, best_rank = rank, best_vectors = vectors, cluster = blocks;
  }
  const RowKernel& k = kernels.kernel[best];
  RowLaunch plan = {best, static_cast<uint32_t>(k.block), static_cast<uint32_t>(cluster)};
  if (k.lanes == k.block && k.body <= RowBody::cluster)
    plan.block = static_cast<uint32_t>(divided_up(best_vectors, cluster * k.vectors * device.wave_size) * device.wave_size);
  int64_t work = divided_up(p.rows, k.block / k.lanes), rows = k.block / k.lanes;
  if (k.body == RowBody::parts) {
    const int64_t tile = elements_of_tile(k, p.dtype), tiles = (p.cols - kWideAccess) / tile;
    plan.per_block = divided_up(tiles, kMostSpans);
    plan.spans = static_cast<int32_t>(tiles / plan.per_block);
    work = p.rows > kMostBlocks ? kMostBlocks : p.rows * plan.spans;
  } else if (k.layout == RowLayout::packed) {
    const int64_t each = divided_up(p.rows, 4 * device.units * rows) * rows;  // four blocks a unit, if they have room
    plan.per_block = rows = std::min(each, staged_at_most(p.dtype) / p.cols);
    work = divided_up(p.rows, rows);
  }
  int64_t most = within_grid_limit(kMostBlocks);
  if (k.body == RowBody::cluster && device.prefetches_rows)  // no more than run at a time
    most = std::min(most, device.units * std::max<int64_t>(kResidentWorkItems / plan.block, 1));
  most = std::max<int64_t>(most / cluster, 1);
  const int64_t groups = divided_up(work, divided_up(work, most));  // with as many rows each
  plan.grid = static_cast<uint32_t>(groups * cluster);
  plan.row_step = groups * rows;
  return plan;
}

}  // namespace hipops
