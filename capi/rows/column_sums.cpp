#include "rows/column_sums.h"

#include <algorithm>

#include "policy/limits.h"
#include "tensor/divisor.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// The work-items of a block. A block that has one row at a time has the waves that the row needs.
int64_t block_of(const RowKernel& k, const RowProblem& p, const DeviceNumbers& device) {
  if (k.lanes < k.block) return k.block;
  const int64_t waves = divided_up(vectors_of(k, p), int64_t{k.vectors} * device.wave_size);
  return std::min<int64_t>(waves * device.wave_size, k.block);
}

}  // namespace

RowChunks divide_rows(const RowKernels& kernels, const RowProblem& p) {
  using L = ColumnSumLimits;
  const DeviceNumbers any;  // the same for every device
  RowChunks chunks{};
  while (!takes(kernels, {chunks.kernel, 1}, p, any)) ++chunks.kernel;
  const RowKernel& k = kernels.kernel[chunks.kernel];
  const int64_t vectors = vectors_of(k, p);
  chunks.together = 1;
  if (k.lanes < k.block) {
    for (chunks.lanes = 2; chunks.lanes * k.vectors < vectors;) chunks.lanes *= 2;
    chunks.together = k.block / chunks.lanes;
  }
  const int64_t enough = L::kUnits * std::max(k.resident / block_of(k, p, any), L::kLeastChunksAUnit);
  const int64_t each = std::clamp(divided_up(p.rows, enough * chunks.together), L::kLeastRows, L::kMostRows);
  chunks.rows = each * chunks.together;
  chunks.count = divided_up(p.rows, chunks.rows);
  return chunks;
}

int64_t column_sums_bytes(const RowKernels& kernels, hipops_dtype dtype, int64_t rows, int64_t cols) {
  int64_t most = 0;
  for (const RowLayout layout : {RowLayout::aligned, RowLayout::strided}) {
    if (layout == RowLayout::aligned && cols * dtype_bytes(dtype) % kWideAccess != 0) continue;
    most = std::max(most, divide_rows(kernels, {dtype, layout, rows, cols, false}).count);
  }
  const int64_t bytes = dtype == HIPOPS_F64 ? 8 : 4, unit = kWideAccess / bytes;
  return most * divided_up(cols, unit) * unit * bytes;
}

LaunchShape plan_chunks(const PlanOptions& options, const RowKernels& kernels, const RowChunks& chunks, const RowProblem& p,
                        const DeviceNumbers& device) {
  const int64_t block = block_of(kernels.kernel[chunks.kernel], p, device);
  return {options.grid_for(chunks.count * block, static_cast<uint32_t>(block)), static_cast<uint32_t>(block)};
}

LaunchShape plan_merge(const PlanOptions& options, const ColumnSums& sums, const hipops_tensor& to, ReduceArgs* merge) {
  const int64_t cols = to.shape[0];
  Layout<kReduceOperands> results;
  add_dimension(&results, cols, {to.stride[0], 1});
  merge->x = sums.partial;
  merge->y = to.data;
  merge->results = walk_of(results);
  merge->output = to.dtype == HIPOPS_F16    ? kOutputF16
                  : to.dtype == HIPOPS_BF16 ? kOutputBf16
                  : to.dtype == HIPOPS_F64  ? kOutputF64
                                            : kOutputF32;
  merge->count = 1;
  merge->result_step = 1;
  merge->part_step = sums.pitch;
  merge->parts = sums.chunks;
  // Few chunks need few lanes for each sum.
  const int groups = log2_up(std::clamp<int64_t>(divided_up(sums.chunks, kReduceDepth), 1, kReduceBlock));
  const int neighbours = std::max(log2_up(kReduceBlock) - groups, ColumnSumLimits::kMergeNeighbours);
  merge->result_bits = std::min(neighbours, log2_up(cols));
  merge->units = divided_up(cols, int64_t{1} << merge->result_bits);
  merge->step = options.grid_for(merge->units * kReduceBlock, kReduceBlock);
  return {static_cast<uint32_t>(merge->step), kReduceBlock};
}

}  // namespace hipops
