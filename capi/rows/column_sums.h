// How ops with column sums are launched (device/rows/column_sums.h).
#pragma once

#include "device/reduce/reduce_contract.h"
#include "rows/plan.h"

namespace hipops {

// The rows of a launch, without the device's part.
struct RowChunks {
  int kernel;               // of the op's list
  int64_t lanes, together;  // lanes that share a row, if a block has several; rows that a block computes at a time
  int64_t rows, count;      // of a chunk; chunks
};

// Shapes, strides and alignment alone decide.
RowChunks divide_rows(const RowKernels& kernels, const RowProblem& problem);

// The most bytes that the sums of all chunks need, at any strides and addresses.
int64_t column_sums_bytes(const RowKernels& kernels, hipops_dtype dtype, int64_t rows, int64_t cols);

// The launch that adds the sums of all chunks into a tensor of the columns. Sets `merge`.
LaunchShape plan_merge(const PlanOptions& options, const ColumnSums& sums, const hipops_tensor& to, ReduceArgs* merge);

LaunchShape plan_chunks(const PlanOptions& options, const RowKernels& kernels, const RowChunks& chunks,
                        const RowProblem& problem, const DeviceNumbers& device);

// Launches the rows, then the merge if there is a tensor of sums. Kernels that merge follow the rows' kernels in the
// op's list: f32, f64. Sets the plan's fields of `args`.
template <class Args>
hipops_status launch_column_sums(Op& op, const RowKernels& kernels, const RowProblem& problem, const hipops_tensor* to,
                                 void* workspace, Args* args, void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(op, &device)) return status;
  const PlanOptions options = plan_options(*device);
  const RowChunks chunks = divide_rows(kernels, problem);
  const bool is_f64 = problem.dtype == HIPOPS_F64;
  const int64_t unit = kWideAccess / (is_f64 ? 8 : 4);
  args->sums = {to ? workspace : nullptr, (problem.cols + unit - 1) / unit * unit, chunks.count, chunks.together};
  if (problem.rows > 0) {
    const LaunchShape shape = plan_chunks(options, kernels, chunks, problem, *device);
    args->rows.lanes = static_cast<int32_t>(chunks.lanes ? chunks.lanes : shape.block);
    args->rows.row_step = shape.grid;
    args->rows.per_block = chunks.rows;
    if (hipops_status status = launch(op, *device, chunks.kernel, shape, args, sizeof *args, stream)) return status;
  }
  if (!to) return HIPOPS_SUCCESS;
  const LaunchShape shape = plan_merge(options, args->sums, *to, &args->merge);
  return launch(op, *device, kernels.count + is_f64, shape, args, sizeof *args, stream);
}

}  // namespace hipops
