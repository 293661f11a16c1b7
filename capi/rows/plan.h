// How a row problem is launched.
#pragma once

#include "rows/problem.h"
#include "runtime/runtime.h"

namespace hipops {

// A kernel of the list in device/rows/contract.h, which each op has for each of its types in turn.
struct RowKernel {
  int lanes, vectors, block;
  RowLayout layout;
  RowBody body;
};
extern const RowKernel row_kernels[kRowKernelsOfType];

struct RowLaunch {
  int kernel;         // of the list of one type
  uint32_t block;     // work-items
  uint32_t cluster;   // blocks that share a row
  uint32_t grid;      // blocks
  int64_t row_step;   // rows that they take at a time
};

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
  return launch(op, *device, first + plan.kernel, {plan.grid, plan.block, plan.cluster}, args, bytes, stream);
}

// Op::most_shared: of none, but the runtime counts clusters of kernels that may have some.
int64_t shared_of_row_kernel(int kernel, uint32_t block);

}  // namespace hipops
