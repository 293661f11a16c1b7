// How ops with column sums are launched (device/rows/column_sums.h).
#pragma once

#include <algorithm>

#include "device/reduce/reduce_contract.h"
#include "rows/plan.h"
#include "tensor/tensor.h"

namespace hipops {

// The rows of a launch, without the device's part.
struct RowChunks {
  int kernel;               // of the op's list
  int64_t lanes, together;  // lanes that share a row, if a block has several; rows that a block computes at a time
  int64_t count;            // of chunks
  int64_t spans;            // of a row: 1, if a block holds it
  bool in_cluster;          // whether the blocks of a row's spans are a cluster
};

// Shapes, strides and alignment decide, and whether there are clusters.
RowChunks divide_rows(const RowKernels& kernels, const RowProblem& problem, bool has_clusters);

// The tensors of an op that computes dx and sums of columns. A tensor that the op does not have, or the caller leaves out,
// is null.
struct GradientTensors {
  Argument dx, dy, x, weight;
  Argument sums[2];         // dw, db
  Argument scalars[2];      // of rows: rstd, mean

  bool has_sums() const { return sums[0].tensor || sums[1].tensor; }
};
// The checks that use no address, and those that do. The op has `count` sums.
hipops_status check_gradients(const GradientTensors& t);
hipops_status check_memory(const GradientTensors& t, const RowKernels& kernels, int count, void* workspace, int64_t workspace_bytes);
// hipops_<op>_workspace_bytes: the most bytes that a call with these tensors needs, at any address.
hipops_status workspace_bytes_of(GradientTensors t, const RowKernels& kernels, int count, int64_t* bytes);

// The launch that adds sums of all chunks, `step` numbers apart, into a tensor of the columns. Sets `merge`.
LaunchShape plan_merge(const PlanOptions& options, const void* first, int number_bytes, int64_t step, int64_t chunks,
                       const hipops_tensor& to, SumMerge* merge);

// Shared memory for the vectors that a block of `block` work-items copies ahead.
int64_t copied_bytes(const RowKernel& kernel, int64_t block);

// True if the sums of a single chunk are the results: rows then store them in dw and db, and there is no merge. Sets `sums`.
bool stores_sums(const RowChunks& chunks, const GradientTensors& t, int count, int number_bytes, ColumnSums* sums);

// The workspace has the sums of all chunks, and then the parts and centers of all spans.
void set_sums(const RowChunks& chunks, const RowProblem& p, bool has_sums, int count, void* workspace, ColumnSums* sums);

LaunchShape plan_chunks(const PlanOptions& options, const RowKernels& kernels, const RowChunks& chunks,
                        const RowProblem& problem, const DeviceNumbers& device);

// Launches the rows, then a merge of all tensors of sums. Kernels that merge follow the rows' kernels in the op's list:
// f32, f64. needs_center: the op computes the center of a row (kCenters in device/rows/row_op.h). Sets the plan's fields of `args`.
template <class Args>
hipops_status launch_column_sums(Op& op, const RowKernels& kernels, const RowProblem& problem, const GradientTensors& t, int count,
                                 bool needs_center, void* workspace, Args* args, void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(op, &device)) return status;
  const PlanOptions options = plan_options(*device);
  RowChunks chunks = divide_rows(kernels, problem, device->largest_cluster > 1);
  if (chunks.in_cluster) {
    uint32_t most = 0;  // 0: a part of a device (MIG) may be too small
    const uint32_t block = plan_chunks(options, kernels, chunks, problem, *device).block;
    if (hipops_status status = most_clusters(op, *device, static_cast<uint32_t>(chunks.spans), block, &most)) return status;
    if (most == 0) chunks = divide_rows(kernels, problem, false);
  }
  const bool is_f64 = problem.dtype == HIPOPS_F64;
  const int bytes = is_f64 ? 8 : 4;
  set_sums(chunks, problem, t.has_sums(), count, workspace, &args->sums);
  const bool merges = t.has_sums() && !stores_sums(chunks, t, count, bytes, &args->sums);
  if (problem.rows > 0) {
    LaunchShape shape = plan_chunks(options, kernels, chunks, problem, *device);
    args->rows.lanes = static_cast<int32_t>(chunks.lanes ? chunks.lanes : shape.block);
    args->rows.row_step = shape.grid;
    shape.grid *= args->sums.spans;
    if (chunks.in_cluster) shape.cluster = args->sums.spans;
    const bool is_split = chunks.spans > 1 && !chunks.in_cluster;
    for (const SumStep step : {SumStep::centers, SumStep::parts, is_split ? SumStep::results : SumStep::rows}) {
      if (step == SumStep::centers && !(is_split && needs_center)) continue;
      if (step == SumStep::parts && !is_split) continue;
      args->sums.step = step;
      if (hipops_status status = launch(op, *device, chunks.kernel, shape, args, sizeof *args, stream)) return status;
    }
  }
  if (!merges) return HIPOPS_SUCCESS;
  const int64_t pitch = args->sums.pitch;
  uint32_t tensors = 0;
  LaunchShape shape{};
  for (int number = 0; number < count; ++number) {
    if (!t.sums[number].tensor) continue;
    const void* const first = static_cast<const char*>(workspace) + number * pitch * bytes;
    shape = plan_merge(options, first, bytes, count * pitch, chunks.count, *t.sums[number].tensor, &args->merges.of[tensors++]);
  }
  args->merges.blocks = shape.grid;
  shape.grid *= tensors;
  return launch(op, *device, kernels.count + is_f64, shape, args, sizeof *args, stream);
}

// Op::most_shared: see plan.h. Kernels that copy nothing get 16 bytes, because
// the runtime counts clusters only of kernels with such memory.
template <const RowKernels& rows>
int64_t most_shared_of_spans(int kernel, uint32_t block) {
  if (kernel >= rows.count || rows.kernel[kernel].layout == RowLayout::strided) return 0;
  const RowKernel& k = rows.kernel[kernel];
  if (block > 0 && (k.lanes < k.block || block > static_cast<uint32_t>(k.block))) return 0;
  return std::max<int64_t>(copied_bytes(k, block > 0 ? block : k.block), 16);
}

}  // namespace hipops
