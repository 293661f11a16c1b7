// The plan of rows for a device that no table describes.
#include <algorithm>

#include "rows/plan.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr int64_t kMostBlocks = int64_t{1} << 21;  // work-items stay under 2^32

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Whole vectors of a row, at most; of strided rows elements.
int64_t vectors_of(const RowProblem& p) {
  return p.layout == RowLayout::strided ? p.cols : p.cols * dtype_bytes(p.dtype) / kWideAccess;
}

// Work-items of a block, at most. Of clusters half as many where rows are many and short enough: two blocks stand on a
// unit then, and one loads while the other waits for its cluster.
int64_t lanes_at_most(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  if (k.body != RowBody::cluster) return k.lanes;
  if (device.largest_cluster == 1) return k.lanes * device.blocks_in_one;
  const int64_t half = k.lanes / 2;
  return p.rows > device.units && device.largest_cluster * half * k.vectors >= vectors_of(p) ? half : k.lanes;
}

// Blocks that share a row: as few as hold it, and more where rows are so few that units would have nothing to do.
int cluster_of(int64_t lanes, const RowKernel& k, int64_t vectors, int64_t rows, const DeviceNumbers& device) {
  int cluster = 1;
  while (cluster < device.largest_cluster && cluster * lanes * k.vectors < vectors) cluster *= 2;
  while (2 * cluster <= std::min(device.largest_cluster, kPortableCluster) && 2 * cluster * rows <= device.units &&
         2 * cluster * lanes <= vectors)
    cluster *= 2;
  return cluster;
}

// Of kernels that hold a row, the one with the lowest rank is best: a part of a wave before a block, and of blocks those
// with the most vectors a lane, if that leaves four waves.
int64_t rank_of(const RowKernel& k, int64_t vectors, const DeviceNumbers& device) {
  if (k.body != RowBody::on_chip) return k.body == RowBody::cluster ? INT64_MAX - 1 : INT64_MAX;
  if (k.lanes < k.block) return k.lanes - k.block;
  const int64_t lanes = divided_up(vectors, k.vectors), least = 4 * device.wave_size;
  return lanes >= least ? k.block - k.vectors : k.block + k.vectors;
}

}  // namespace

RowLaunch plan_rows_by_default(const RowProblem& p, const DeviceNumbers& device) {
  const int64_t vectors = vectors_of(p);
  // What streams rows takes those of any alignment.
  const auto serves = [&](const RowKernel& k) {
    return k.layout == p.layout ||
           (k.body == RowBody::streamed && p.layout == RowLayout::aligned && k.layout == RowLayout::unaligned);
  };
  int best = -1, cluster = 1;
  int64_t best_rank = 0;
  for (int i = 0; i < kRowKernelsOfType; ++i) {
    const RowKernel& k = row_kernels[i];
    if (!serves(k)) continue;
    const int64_t most = lanes_at_most(k, p, device);
    const int blocks = k.body == RowBody::cluster ? cluster_of(most, k, vectors, p.rows, device) : 1;
    if (k.body != RowBody::streamed && blocks * most * k.vectors < vectors) continue;
    const int64_t rank = rank_of(k, vectors, device);
    if (best < 0 || rank < best_rank) best = i, best_rank = rank, cluster = blocks;
  }
  const RowKernel& k = row_kernels[best];
  int64_t block = k.block;
  if (k.lanes == k.block && k.body != RowBody::streamed)
    block = divided_up(vectors, int64_t{cluster} * k.vectors * device.wave_size) * device.wave_size;
  const int64_t rows_per_block = k.block / k.lanes;
  const int64_t groups = std::max<int64_t>(
      std::min(divided_up(p.rows, rows_per_block), within_grid_limit(kMostBlocks) / cluster), 1);
  return {best, static_cast<uint32_t>(block), static_cast<uint32_t>(cluster), static_cast<uint32_t>(groups * cluster),
          groups * rows_per_block};
}

}  // namespace hipops
