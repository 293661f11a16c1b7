// Which kernel computes a row problem, and in which grid.
#pragma once

#include "policy/plan_options.h"
#include "rows/problem.h"
#include "runtime/runtime.h"
#include "variant_list.h"

namespace hipops {

// A kernel of an op's list. The fields are the arguments of the lists in device/rows/contract.h.
struct RowKernel {
  hipops_dtype dtype;
  int lanes, vectors, block;
  RowLayout layout;
  RowBody body;
  int resident;
};
struct RowKernels : FamilyData {
  constexpr RowKernels(const RowKernel* kernels, int number, bool halves = false)
      : FamilyData{&kFamily}, kernel(kernels), count(number), needs_halves(halves) {}
  const RowKernel* kernel;
  int count;
  bool needs_halves;  // an element costs much arithmetic: for many rows a cluster is faster only if two of its blocks fit on a unit
  static constexpr char kFamily = 0;
};
const RowKernels* row_kernels_of(const Op& op);  // null: not a row op

#define HIPOPS_ROW_KERNEL_ENTRY(name, T, lanes, vectors, block, layout, body, resident) \
  {T, lanes, vectors, block, RowLayout::layout, RowBody::body, resident},

struct RowChoice {
  int kernel;   // of the list
  int cluster;  // blocks that share a row, a power of two
};

struct RowLaunch {
  int kernel;         // of the list
  uint32_t block;     // work-items
  uint32_t cluster;   // blocks that share a row
  int32_t lanes;      // work-items of a block that share a row
  uint32_t grid = 0;  // blocks
  int64_t row_step = 0;   // of RowStreams: rows, or spans, that the grid computes in one round
  int64_t per_block = 0;  // of RowStreams
  int32_t spans = 0;      // of RowStreams; more than 0: a second launch runs the next kernel of the list
};

// The most elements that a block of packed rows stages of a tensor; the elements of a tile of split rows.
int64_t staged_at_most(hipops_dtype dtype);
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype);

// The vectors of a row, in the unit of the kernel's `vectors`: 16 bytes, or an element if its layout is strided.
int64_t vectors_of(const RowKernel& k, const RowProblem& problem);
// The work-items that share a row, if a block has several rows.
int32_t lanes_of_part(const RowKernel& k, const RowProblem& problem);

// True if the kernel computes the problem correctly and the device can run the choice.
bool takes(const RowKernels& kernels, const RowChoice& choice, const RowProblem& problem, const DeviceNumbers& device);

// The choice for a device without a table: capi/policy/default_rows.cpp.
RowChoice choose_rows_by_default(PlanOptions options, const RowKernels& kernels, const RowProblem& problem,
                                 const DeviceNumbers& device);

// The launch that follows from a choice.
RowLaunch resolve(PlanOptions options, const RowKernels& kernels, const RowChoice& choice, const RowProblem& problem,
                  const DeviceNumbers& device);

// The plan for the current device. The choice comes from the device's policy (capi/policy/policy.h). If the policy has none
// for the problem, or an impossible one, the default choice is used.
hipops_status plan_rows(PlanOptions options, Op& op, const RowProblem& problem, const DeviceFacts& device, RowLaunch* plan);

// Plans the op, writes the plan to `streams`, which is a part of `args`, and launches the op.
template <class Streams>
hipops_status launch_rows(Op& op, const RowProblem& problem, Streams* streams, const void* args, size_t bytes,
                          void* stream) {
  const DeviceFacts* device;
  RowLaunch plan;
  if (hipops_status status = device_facts(op, &device)) return status;
  if (hipops_status status = plan_rows(plan_options(*device), op, problem, *device, &plan)) return status;
  streams->lanes = plan.lanes;
  streams->row_step = plan.row_step;
  streams->per_block = plan.per_block;
  streams->spans = plan.spans;
  const LaunchShape shape = {plan.grid, plan.block, plan.cluster};
  if (hipops_status status = launch(op, *device, plan.kernel, shape, args, bytes, stream)) return status;
  if (plan.spans == 0) return HIPOPS_SUCCESS;
  return launch(op, *device, plan.kernel + 1, shape, args, bytes, stream);
}

// Op::most_shared. Row kernels need no dynamic shared memory. But the runtime counts the clusters that fit on a device
// only for kernels with more than 0 here.
template <const RowKernels& rows>
int64_t most_shared(int kernel, uint32_t) { return rows.kernel[kernel].body == RowBody::cluster ? 16 : 0; }

}  // namespace hipops
