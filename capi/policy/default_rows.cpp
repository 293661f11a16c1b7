// The choice for rows on a device that no table describes, by what is known of any device.
#include <algorithm>
#include <array>

#include "rows/plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

int64_t bytes_of(const RowProblem& p) { return p.cols * dtype_bytes(p.dtype); }

// Blocks that share a row: as few as hold it, and more where rows are so few that units would have nothing to do. Where
// rows are many, of half the work-items: two blocks stand on a unit, and one loads while one waits.
int cluster_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  int cluster = 1;
  if (k.body != RowBody::cluster) return cluster;
  const int64_t vectors = vectors_of(k, p), half = int64_t{k.lanes} / 2;
  const bool halves = p.rows > device.units && device.largest_cluster * half * k.vectors >= vectors;
  const int64_t lanes = halves ? half : k.lanes;
  while (2 * cluster <= device.largest_cluster && cluster * lanes * k.vectors < vectors) cluster *= 2;
  const int most = std::min(device.largest_cluster, kPortableCluster);
  while (2 * cluster <= most && 2 * cluster * p.rows <= device.units && 2 * cluster * lanes <= vectors) cluster *= 2;
  return cluster;
}

// Rows are split that are too few for a block each, or more than caches hold until they are read again, unless they are so
// many that each would be one span. Packed rows have one work-item each, which takes long for it: a block for each unit is
// the least that hides that. Fewer are the strided kernels', as vectors at odd places are not worth their care in a short row.
bool pays(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  if (k.layout == RowLayout::packed) return p.rows >= int64_t{k.block} * device.units;
  if (k.layout == RowLayout::unaligned && p.layout == RowLayout::packed) return false;
  if (k.body != RowBody::parts) return true;
  return p.rows < kSpansOfAll && (p.rows < 2 * device.units || bytes_of(p) >= int64_t{1} << 20);
}

// Compared in this order, lowest first: body; own layout before another; of few rows, fewest vectors a lane; part of a wave
// before a block; fewest lanes; of blocks, most vectors a lane (bytes in flight), but on AMD the fewest if the most would leave
// less than four waves.
std::array<int, 5> rank_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  std::array<int, 5> rank = {int(k.body), k.layout != p.layout};
  if (k.body != RowBody::on_chip) return rank;
  if (p.rows <= 2 * device.units) rank[2] = k.vectors;
  rank[3] = k.lanes == k.block;
  const bool is_small = vectors_of(k, p) <= (4 * device.wave_size - 1) * int64_t{k.vectors};
  rank[4] = k.lanes < k.block ? k.lanes : is_small && !device.prefetches_rows ? k.vectors : -k.vectors;
  return rank;
}

}  // namespace

RowChoice choose_rows_by_default(const RowKernels& kernels, const RowProblem& p, const DeviceNumbers& device) {
  RowChoice best = {-1, 1};
  std::array<int, 5> best_rank{};
  for (int i = 0; i < kernels.count; ++i) {
    const RowKernel& k = kernels.kernel[i];
    const RowChoice choice = {i, cluster_of(k, p, device)};
    const std::array<int, 5> rank = rank_of(k, p, device);
    if ((best.kernel >= 0 && rank >= best_rank) || !pays(k, p, device) || !takes(kernels, choice, p, device)) continue;
    best = choice, best_rank = rank;
  }
  return best;
}

}  // namespace hipops
