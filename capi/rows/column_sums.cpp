#include "rows/column_sums.h"

#include <algorithm>
#include <cinttypes>

#include "policy/limits.h"
#include "rows/checks.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// The numbers of a chunk's sums for one tensor: the columns, and more up to a multiple of 16 bytes.
int64_t pitch_of(const RowProblem& p) {
  const int64_t unit = kWideAccess / (p.dtype == HIPOPS_F64 ? 8 : 4);
  return divided_up(p.cols, unit) * unit;
}

// The vectors that hold a row. The last one may be partly used.
int64_t vectors_for(const RowKernel& k, const RowProblem& p) {
  return k.layout == RowLayout::strided ? p.cols : divided_up(p.cols * dtype_bytes(p.dtype), kWideAccess);
}

// The work-items of a block. A block that has one row, or span, at a time has the waves that it needs.
int64_t block_of(const RowKernel& k, const RowProblem& p, int64_t spans, const DeviceNumbers& device) {
  if (k.lanes < k.block) return k.block;
  return divided_up(vectors_for(k, p), spans * k.vectors * device.wave_size) * device.wave_size;
}

// The number of blocks that share a row. Blocks of a cluster have half of the work-items, so a unit has room for two. Blocks
// of unaligned f32 rows load ahead, and have all. Other rows that a block does not hold have kBlocksAUnit blocks on a unit.
int64_t spans_of(const RowKernel& k, int64_t vectors, bool* in_cluster) {
  const int64_t most = int64_t{k.block} * k.vectors, each = k.layout == RowLayout::unaligned && k.dtype == HIPOPS_F32 ? most : most / 2;
  *in_cluster = *in_cluster && k.layout != RowLayout::strided && vectors > most / 2 && vectors <= kPortableCluster * most;
  if (!*in_cluster) return vectors <= most ? 1 : divided_up(vectors, most / ColumnSumLimits::kBlocksAUnit);
  int64_t spans = 2;
  while (spans < kPortableCluster && spans * each < vectors) spans *= 2;
  return spans;
}

}  // namespace

RowChunks divide_rows(const RowKernels& kernels, const RowProblem& p, bool has_clusters) {
  using L = ColumnSumLimits;
  const DeviceNumbers any;  // the same for every device
  RowChunks chunks{};
  chunks.kernel = -1;
  // The first kernel that holds a row. If there is none, the layout's last kernel: its tile is the largest.
  for (int i = 0; i < kernels.count; ++i) {
    const RowKernel& k = kernels.kernel[i];
    if (k.dtype != p.dtype || k.layout < p.layout) continue;
    if (chunks.kernel >= 0 && k.layout != kernels.kernel[chunks.kernel].layout) break;
    chunks.kernel = i;
    if (int64_t{k.lanes} * k.vectors >= vectors_for(k, p)) break;
  }
  const RowKernel& k = kernels.kernel[chunks.kernel];
  const int64_t vectors = vectors_for(k, p);
  chunks.together = chunks.spans = 1;
  if (k.lanes < k.block) {
    for (chunks.lanes = 1; chunks.lanes * k.vectors < vectors;) chunks.lanes *= 2;
    chunks.together = k.block / chunks.lanes;
  } else {
    chunks.in_cluster = has_clusters;
    chunks.spans = spans_of(k, vectors, &chunks.in_cluster);
  }
  // Clusters of more than two blocks leave some units unused. One cluster too many would double the time.
  const int64_t units = L::kUnits - (chunks.in_cluster && chunks.spans > 2 ? chunks.spans : 0);
  const int64_t enough = units * std::max(k.resident / block_of(k, p, chunks.spans, any), L::kLeastChunksAUnit);
  const int64_t each = std::clamp(divided_up(p.rows * chunks.spans, enough * chunks.together), L::kLeastRows, L::kMostRows);
  chunks.count = divided_up(p.rows, each * chunks.together);
  return chunks;
}

namespace {

// Bytes of the workspace: the chunks' sums, and then the parts and centers of spans.
struct WorkspaceParts {
  int64_t sums, spans;
};
WorkspaceParts workspace_of(const RowChunks& chunks, const RowProblem& p, int sums) {
  const int64_t bytes = p.dtype == HIPOPS_F64 ? 8 : 4;
  return {chunks.count * sums * pitch_of(p) * bytes, chunks.spans > 1 && !chunks.in_cluster ? p.rows * chunks.spans * kSpanBytes : 0};
}

int64_t needed_bytes(const GradientTensors& t, const RowKernels& kernels, int count) {
  const hipops_tensor& x = *t.x.tensor;
  if (is_empty(x)) return 0;
  const int last = x.rank - 1;
  const int64_t cols = x.shape[last], row_bytes = cols * dtype_bytes(x.dtype);
  const auto has_gaps = [&](const Argument& a, int d) { return cols > 1 && a.tensor && a.tensor->stride[d] != 1; };
  const bool are_strided = has_gaps(t.dx, last) || has_gaps(t.dy, last) || has_gaps(t.x, last) || has_gaps(t.weight, 0);
  int64_t most = 0;
  // The address, which is not known, decides between `aligned` and the others (row_problem).
  for (const RowLayout layout : {RowLayout::aligned, RowLayout::unaligned, RowLayout::strided}) {
    if (are_strided != (layout == RowLayout::strided)) continue;
    if (layout == RowLayout::aligned && row_bytes % kWideAccess != 0) continue;
    const RowProblem p{x.dtype, layout, element_count(x) / cols, cols, false};
    for (const bool has_clusters : {false, true}) {
      const WorkspaceParts parts = workspace_of(divide_rows(kernels, p, has_clusters), p, t.has_sums() ? count : 0);
      most = std::max(most, parts.sums + parts.spans);
    }
  }
  return most;
}

}  // namespace

void set_sums(const RowChunks& chunks, const RowProblem& p, bool has_sums, int count, void* workspace, ColumnSums* sums) {
  char* const of_spans = static_cast<char*>(workspace) + workspace_of(chunks, p, has_sums ? count : 0).sums;
  const auto spans = static_cast<uint32_t>(chunks.spans);
  *sums = {has_sums ? workspace : nullptr, pitch_of(p), chunks.count, chunks.together, spans, of_spans, SumStep::rows};
}

hipops_status check_gradients(const GradientTensors& t) {
  if (hipops_status status = check_gradients(t.dx, t.dy, t.x)) return status;
  const int last = t.x.tensor->rank - 1;
  if (t.x.tensor->shape[last] > ColumnSumLimits::kMostColumns)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is %" PRId64 ", expected at most %" PRId64, t.dx.op, last,
                t.x.tensor->shape[last], ColumnSumLimits::kMostColumns);
  for (const Argument* a : {&t.weight, &t.sums[0], &t.sums[1]}) {
    if (!a->tensor) continue;
    if (hipops_status status = a == &t.weight ? check_tensor(*a) : check_output(*a)) return status;
    if (hipops_status status = check_rank(*a, 1, 1)) return status;
    if (hipops_status status = check_same_dtype_or_f32(*a, t.x)) return status;
    if (hipops_status status = check_same_size(*a, 0, t.x, last)) return status;
  }
  if (t.sums[0].tensor && !t.weight.tensor)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: dw is a tensor, expected NULL (weight is NULL)", t.dx.op);
  for (const Argument& sum : t.sums)
    if (sum.tensor && t.weight.tensor)
      if (hipops_status status = check_same_dtype(sum, t.weight)) return status;
  for (const Argument& scalar : t.scalars) {
    if (!scalar.tensor) continue;
    if (hipops_status status = check_tensor(scalar)) return status;
    if (hipops_status status = check_row_scalar(scalar, t.x)) return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_memory(const GradientTensors& t, const RowKernels& kernels, int count, void* workspace, int64_t workspace_bytes) {
  const Argument &dw = t.sums[0], &db = t.sums[1];
  for (const Argument* a : {&t.dy, &t.x})
    if (hipops_status status = check_overlap(t.dx, *a, kInPlace)) return status;
  for (const Argument* a : {&t.weight, &t.scalars[0], &t.scalars[1]})
    if (hipops_status status = check_apart(t.dx, *a)) return status;
  for (const Argument* sum : {&dw, &db})
    for (const Argument* a : {&t.dx, &t.dy, &t.x, &t.weight, &t.scalars[0], &t.scalars[1]})
      if (hipops_status status = check_apart(*sum, *a)) return status;
  if (hipops_status status = check_apart(db, dw)) return status;
  const int64_t needed = needed_bytes(t, kernels, count);
  const char* const op = t.dx.op;
  if (needed > 0 && !workspace && workspace_bytes == 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: workspace is NULL, expected %" PRId64 " bytes for %s (hipops_%s_workspace_bytes)", op,
                needed, dw.tensor ? "dw" : db.tensor ? "db" : "long rows", op);
  if (needed == 0) return check_workspace(op, workspace, workspace_bytes, 0, {});
  const auto or_x = [&](const Argument& a) { return a.tensor ? a : t.x; };
  return check_workspace(op, workspace, workspace_bytes, needed,
                         {t.dx, or_x(dw), or_x(db), t.dy, t.x, or_x(t.weight), or_x(t.scalars[0]), or_x(t.scalars[1])});
}

hipops_status workspace_bytes_of(GradientTensors t, const RowKernels& kernels, int count, int64_t* bytes) {
  hipops_tensor copy[8];
  int number = 0;
  for (Argument* a : {&t.dx, &t.dy, &t.x, &t.weight, &t.sums[0], &t.sums[1], &t.scalars[0], &t.scalars[1]})
    a->tensor = without_data(a->tensor, &copy[number++]);
  if (hipops_status status = check_gradients(t)) return status;
  if (hipops_status status = check_bytes(t.dx.op, bytes)) return status;
  *bytes = needed_bytes(t, kernels, count);
  return HIPOPS_SUCCESS;
}

LaunchShape plan_chunks(const PlanOptions& options, const RowKernels& kernels, const RowChunks& chunks, const RowProblem& p,
                        const DeviceNumbers& device) {
  const int64_t block = block_of(kernels.kernel[chunks.kernel], p, chunks.spans, device);
  LaunchShape shape = {options.grid_for(chunks.count * block, static_cast<uint32_t>(block)), static_cast<uint32_t>(block)};
  if (device.own_shared_bytes == 0) {
    shape.shared_bytes = static_cast<uint32_t>(copied_bytes(kernels.kernel[chunks.kernel], block));
  }
  return shape;
}

LaunchShape plan_merge(const PlanOptions& options, const void* first, int number_bytes, int64_t step, int64_t chunks,
                       const hipops_tensor& to, SumMerge* merge) {
  const int64_t cols = to.shape[0], vector = kWideAccess / number_bytes;
  const ReduceOutput output = to.dtype == HIPOPS_F16    ? kOutputF16
                              : to.dtype == HIPOPS_BF16 ? kOutputBf16
                              : to.dtype == HIPOPS_F64  ? kOutputF64
                                                        : kOutputF32;
  // Few chunks need few lanes for each sum. The lanes of a group have neighbouring columns.
  const int groups = log2_up(std::clamp<int64_t>(divided_up(chunks, kReduceDepth), 1, kReduceBlock));
  const int neighbours = std::max(log2_up(kReduceBlock) - groups, ColumnSumLimits::kMergeNeighbours);
  const int bits = std::min(neighbours, log2_up(divided_up(cols, vector)));
  const int64_t units = divided_up(cols, vector << bits);
  const uint32_t grid = options.grid_for(units * kReduceBlock, kReduceBlock);
  *merge = {first, to.data, to.stride[0], step, chunks, cols, units, grid, output, bits};
  return {grid, kReduceBlock};
}

int64_t copied_bytes(const RowKernel& k, int64_t block) {
  const bool copies = k.layout == RowLayout::aligned || (k.layout == RowLayout::unaligned && k.dtype == HIPOPS_F32);
  return copies ? block * k.vectors * kWideAccess * 2 : 0;
}

bool stores_sums(const RowChunks& chunks, const GradientTensors& t, int count, int number_bytes, ColumnSums* sums) {
  const hipops_tensor *dw = t.sums[0].tensor, *last = t.sums[count - 1].tensor;
  if (chunks.count != 1 || !dw || !last || dtype_bytes(dw->dtype) != number_bytes) return false;
  for (const hipops_tensor* to : {dw, last})
    if (to->stride[0] != 1 || reinterpret_cast<uintptr_t>(to->data) % kWideAccess != 0) return false;
  sums->partial = dw->data;
  sums->pitch = (reinterpret_cast<intptr_t>(last->data) - reinterpret_cast<intptr_t>(dw->data)) / number_bytes;
  return true;
}

}  // namespace hipops
