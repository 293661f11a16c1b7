// How a row problem is launched.
#pragma once

#include "rows/problem.h"
#include "runtime/runtime.h"
#include "variant_list.h"

namespace hipops {

// A kernel of an op's list, which is made of those in device/rows/contract.h.
struct RowKernel {
  hipops_dtype dtype;
  int lanes, vectors, block;
  RowLayout layout;
  RowBody body;
  int on_unit;
};
struct RowKernels {
  const RowKernel* kernel;
  int count;
};
#define HIPOPS_ROW_KERNEL_ENTRY(name, T, lanes, vectors, block, layout, body, on_unit) \
  {T, lanes, vectors, block, RowLayout::layout, RowBody::body, on_unit},

// What a policy decides. Tables have a list of them, the default policy makes them.
struct RowChoice {
  int kernel;   // of the list
  int cluster;  // blocks that share a row, a power of two
};

struct RowLaunch {
  int kernel;         // of the list
  uint32_t block;     // work-items
  uint32_t cluster;   // blocks that share a row
  int32_t lanes;      // work-items of each that do
  uint32_t grid = 0;  // blocks
  int64_t row_step = 0;   // rows, or spans, that they take at a time
  int64_t per_block = 0;  // of RowStreams
  int32_t spans = 0;      // of RowStreams; where there are some, the next kernel follows in a launch of its own
};

// The most elements that are staged of a row problem, and the elements of a tile of split rows.
int64_t staged_at_most(hipops_dtype dtype);
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype);

// Vectors of a row, as the kernel counts them.
int64_t vectors_of(const RowKernel& k, const RowProblem& problem);

// Whether such a launch is right for the problem and possible on the device.
bool takes(const RowKernels& kernels, const RowChoice& choice, const RowProblem& problem, const DeviceNumbers& device);

// By what is known of any device: capi/policy/default_rows.cpp.
RowChoice choose_rows_by_default(const RowKernels& kernels, const RowProblem& problem, const DeviceNumbers& device);

// All else follows from the choice.
RowLaunch resolve(const RowKernels& kernels, const RowChoice& choice, const RowProblem& problem, const DeviceNumbers& device);

// The plan for the current device: by its policy (capi/policy/policy.h), or, where that has no choice for the problem or
// one that is not possible, by default.
hipops_status plan_rows(Op& op, const RowProblem& problem, const DeviceFacts** device, RowLaunch* plan);

// Launches the op as planned. `streams`, which is part of `args`, is told of the plan.
template <int n>
hipops_status launch_rows(Op& op, const RowProblem& problem, RowStreams<n>* streams, const void* args, size_t bytes,
                          void* stream) {
  const DeviceFacts* device;
  RowLaunch plan;
  if (hipops_status status = plan_rows(op, problem, &device, &plan)) return status;
  streams->lanes = plan.lanes;
  streams->row_step = plan.row_step;
  streams->per_block = plan.per_block;
  streams->spans = plan.spans;
  const LaunchShape shape = {plan.grid, plan.block, plan.cluster};
  if (hipops_status status = launch(op, *device, plan.kernel, shape, args, bytes, stream)) return status;
  if (plan.spans == 0) return HIPOPS_SUCCESS;
  return launch(op, *device, plan.kernel + 1, shape, args, bytes, stream);
}

// Op::most_shared. Rows bring no shared memory. The runtime counts clusters only of kernels with more than 0 here.
template <const RowKernels& rows>
int64_t most_shared(int kernel, uint32_t) { return rows.kernel[kernel].body == RowBody::cluster ? 16 : 0; }

}  // namespace hipops
