// The kernels of one op's own, behind those that all row ops have: which they are, and which rows they take.
#include <algorithm>

#include "device/core/launch_contract.h"
#include "layer_norm.h"
#include "rows/row_plan.h"
#include "softmax.h"

namespace hipops {
namespace {

// In the order of the op's list.
struct OwnKernel {
  hipops_dtype dtype;
  RowMode mode;
};
#define OWN_KERNEL(name, dtype, threads, vectors, block, access, mode) {dtype, mode},
constexpr OwnKernel of_layer_norm[] = {HIPOPS_OWN_LAYER_NORM_KERNELS(OWN_KERNEL)};
constexpr OwnKernel of_softmax[] = {HIPOPS_OWN_SOFTMAX_KERNELS(OWN_KERNEL)};
#undef OWN_KERNEL
static_assert(sizeof of_layer_norm == kOwnKernels * sizeof(OwnKernel), "a name each");
static_assert(of_layer_norm[early_kernel - kRowKernels].mode == weights_early, "the list's order");
static_assert(of_softmax[tailed_kernel - kRowKernels].mode == tailed, "the list's order");

template <size_t count>
int own_kernel(const OwnKernel (&list)[count], hipops_dtype dtype, RowMode mode) {
  return kRowKernels + place_of(list, [&](const OwnKernel& k) { return k.dtype == dtype && k.mode == mode; });
}

constexpr int64_t kQueuedBytes = 60 << 10;  // of a unit's shared memory, for rows that wait there

constexpr int64_t kMostAsideBytes = 64 << 10;  // of a block's, for weights: of 512 work-items, four vectors of both

// Whether blocks that come and go have enough on their way, by Little's law: what memory brings in the time that a block
// takes from its begin to its end, by what the driver says of memory. (An H100's do, an H200's hardly would.)
bool fill_memory(int64_t bytes, double block_microseconds, const DeviceNumbers& device) {
  const double reads = static_cast<double>(device.memory_speed) / (2 * device.units);  // of a unit, a microsecond
  return reads > 0 && reads * block_microseconds <= static_cast<double>(bytes);
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

// Has blocks come and go, a row each, where they have enough on their way for memory, and there are many rounds of
// them, which make up for what each loads only once. (With the next row ahead, or in a queue, those rows take up to
// 7 % longer; of fewer, up to 15 % less. Two blocks that leave work-items idle are no faster. Where it is the other
// kernel's that idle, and it asks for weights when it wants them, a little less on their way is enough. Not on AMD,
// whose code objects lack the kernel.)
void let_pass(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, bool at_use, RowPlan* plan) {
  constexpr double kBlockMicroseconds = 3.7, kWhereOthersIdle = 3.0;
  const bool exists = device.launch_shared_bytes > 0;  // as on NVIDIA, and on the CPU
  if (!exists || v.streaming || bytes_of(v.dtype) != 2) return;
  const int64_t blocks = kPassingThreads / plan->block, threads = blocks * plan->block;
  const bool idles = blocks <= 2 && threads < kPassingThreads * 15 / 16;
  const int64_t least_rounds = blocks <= 2 ? 12 : 8, others = resident_beside_weights(v, device) / plan->block;
  const bool others_idle = at_use && others >= 2 && idles_beside_weights(v, g, others, device);
  const double block_microseconds = others_idle ? kWhereOthersIdle : kBlockMicroseconds;
  const bool pays = !idles && fill_memory(threads * v.vectors * kWideBytes, block_microseconds, device) &&
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

int full_kernel(hipops_dtype dtype) { return own_kernel(of_softmax, dtype, full); }
int queued_kernel(hipops_dtype dtype) { return own_kernel(of_layer_norm, dtype, queued); }
int passing_kernel(hipops_dtype dtype) { return own_kernel(of_layer_norm, dtype, passing); }
int aside_kernel(hipops_dtype dtype) { return own_kernel(of_layer_norm, dtype, weights_aside); }

void take_own_kernel(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, RoundsOf rounds_of,
                     RowRounds rounds, int weights, RowPlan* plan) {
  // Where blocks are alone on their unit, registers for weights are there.
  if (rounds == RowRounds::one_or_early && weights > 0 && plan->few && g.rows <= device.units)
    plan->kernel = early_kernel;
  if (rounds == RowRounds::queued || rounds == RowRounds::queued_at_use) {
    queue_rows(v, g, device, plan);
    let_pass(v, g, device, rounds == RowRounds::queued_at_use, plan);
  }
  if (rounds == RowRounds::weights_aside) keep_weights_aside(v, g, device, weights, plan);
  if (rounds_of) hold_in_eight(v, g, device, rounds_of, plan);
}

int64_t row_kernel_shared(int kernel, uint32_t block) {
  constexpr int kMostWeights = 2;
  if (kernel < kRowVariants) {
    const RowVariant& v = row_variants[kernel];
    return kept_bytes(v, block == 0 ? v.threads : static_cast<int>(block), kMostWeights);
  }
  return 0;
}

bool layer_norm_kernel_is_off_amd(int kernel) {
  return kernel >= kRowKernels && is_off_amd(of_layer_norm[kernel - kRowKernels].mode);
}
bool softmax_kernel_is_off_amd(int kernel) {
  return kernel >= kRowKernels && is_off_amd(of_softmax[kernel - kRowKernels].mode);
}

int64_t layer_norm_kernel_shared(int kernel, uint32_t block) {
  if (kernel < kRowKernels) return row_kernel_shared(kernel, block);
  const RowMode mode = of_layer_norm[kernel - kRowKernels].mode;
  return block != 0 ? 0 : mode == queued ? kQueuedBytes : mode == weights_aside ? kMostAsideBytes : 0;
}

}  // namespace hipops
