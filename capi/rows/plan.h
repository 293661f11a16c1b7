// How a row problem is launched.
#pragma once

#include "rows/problem.h"
#include "runtime/runtime.h"

namespace hipops {

// A kernel of a list in device/rows/contract.h. An op has one for each of its types in turn, of f64 last.
struct RowKernel {
  int lanes, vectors, block;
  RowLayout layout;
  RowBody body;
};
struct RowKernels {
  const RowKernel* kernel;
  int count;
};
RowKernels row_kernels(hipops_dtype dtype, int inputs);

struct RowLaunch {
  int kernel;         // of the list of one type
  uint32_t block;     // work-items
  uint32_t cluster;   // blocks that share a row
  uint32_t grid = 0;  // blocks
  int64_t row_step = 0;   // rows, or spans, that they take at a time
  int64_t per_block = 0;  // of RowStreams
  int32_t spans = 0;      // of RowStreams; where there are some, the next kernel follows in a launch of its own
};

// The most elements that are staged of a row problem, and the elements of a tile of split rows.
int64_t staged_at_most(hipops_dtype dtype);
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype);

// The plan of a device that no table describes, by what is known of any: capi/policy/default_rows.cpp.
RowLaunch plan_rows_by_default(const RowProblem& problem, const DeviceNumbers& device);

// The plan for the current device.
hipops_status plan_rows(Op& op, const RowProblem& problem, const DeviceFacts** device, RowLaunch* plan);

// Launches kernel `first` + plan.kernel of the op. `streams`, which is part of `args`, is told of the plan.
template <int n>
hipops_status launch_rows(Op& op, int first, const RowProblem& problem, RowStreams<n>* streams, const void* args, size_t bytes,
                          void* stream) {
  const DeviceFacts* device;
  RowLaunch plan;
  if (hipops_status status = plan_rows(op, problem, &device, &plan)) return status;
  streams->threads = static_cast<int32_t>(plan.block);
  streams->row_step = plan.row_step;
  streams->per_block = plan.per_block;
  streams->spans = plan.spans;
  const LaunchShape shape = {plan.grid, plan.block, plan.cluster};
  if (hipops_status status = launch(op, *device, first + plan.kernel, shape, args, bytes, stream)) return status;
  if (plan.spans == 0) return HIPOPS_SUCCESS;
  return launch(op, *device, first + plan.kernel + 1, shape, args, bytes, stream);
}

// The first kernel of a type, where an op has f32, f16, bf16, f64.
int first_kernel_of(hipops_dtype dtype);

// Op::most_shared: of none, but the runtime counts clusters of kernels that may have some.
int64_t shared_of_row_kernel(int kernel, uint32_t block);

}  // namespace hipops
