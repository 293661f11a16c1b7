#include "scatter.h"

#include "tensor/divisor.h"
#include "index/indices.h"
#include "kernel_names.h"
#include "runtime/runtime.h"
#include "move/scatter_plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_SCATTER_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

// The order of the list: the three modes for each size of a vector; then the two kernels that move no elements.
enum Mode { any, line, winner, kModes };
enum { kSizes = 5, clear = kSizes * kModes, claim };
static_assert(claim + 1 == kKernelCount, "the modes of each size, clear, and claim");

int kernel_of(Mode mode, int64_t bytes) {
  return log2_up(bytes) * kModes + mode;
}

// The workspace holds 32 bits for each reachable element: the winning source's position along dim, plus 1. If dim is
// too long for 32 bits, there is no workspace, and the line kernel is used.
int64_t winner_bytes(const ScatterTensors& t, uint32_t flags) {
  if ((flags & HIPOPS_DETERMINISTIC) == 0 || t.x->shape[t.dim] >= int64_t{UINT32_MAX}) return 0;
  int64_t bytes = reach_bytes(t);
  return bytes == INT64_MAX ? 0 : bytes;
}

}  // namespace

Op op_scatter = {"scatter", kKernels, kKernelCount, supports_elements_by_index};

ScatterPlan plan_scatter(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace) {
  const int64_t vector = scatter_vector(t), bytes = vector * dtype_bytes(t.x->dtype);
  ScatterPlan plan{options};
  if ((flags & HIPOPS_DETERMINISTIC) == 0) {
    plan.add(kernel_of(any, bytes), walk_sources(t, ScatterInto::kY, vector));
  } else if (with_workspace && winner_bytes(t, flags) != 0) {
    const ScatterGeometry reach = walk_reach(t, true, vector);
    ScatterGeometry winners{};
    winners.walk.count = (reach.walk.count + 3) / 4;  // 16 bytes each
    plan.add(clear, winners);
    plan.add(claim, walk_sources(t, ScatterInto::kWorkspace, vector));
    plan.add(kernel_of(winner, bytes), reach);
  } else {
    plan.add(kernel_of(line, bytes), walk_lines(t, ScatterInto::kY, vector), 1);
  }
  return plan;
}

}  // namespace hipops

hipops_status hipops_scatter(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                             uint32_t flags, void* workspace, int64_t workspace_bytes, hipops_index_report* report,
                             void* stream) {
  using namespace hipops;
  const ScatterTensors t{"scatter", y, x, index, dim};
  if (hipops_status status = check_scatter(t, flags)) return status;
  const int64_t needed = winner_bytes(t, flags);
  if (hipops_status status = check_scatter_memory(t, workspace, workspace_bytes, needed, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_scatter, &device)) return status;
  ScatterArgs args{};
  args.index = index_args(*index, y->shape[dim], report);
  args.x = x->data;
  args.y = y->data;
  args.winners = static_cast<uint32_t*>(workspace);
  const ScatterPlan plan = plan_scatter(plan_options(), t, flags, workspace != nullptr);
  for (int i = 0; i < plan.count; ++i) {
    args.geometry = plan.launch[i].geometry;
    const LaunchShape shape = {plan.launch[i].grid, kScatterBlock};
    if (hipops_status status = launch(op_scatter, *device, plan.launch[i].kernel, shape, &args, sizeof args, stream))
      return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status hipops_scatter_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                             int32_t dim, uint32_t flags, int64_t* bytes) {
  using namespace hipops;
  const ScatterWithoutData shapes({"scatter", y, x, index, dim});
  if (hipops_status status = check_scatter(shapes.tensors(), flags)) return status;
  if (hipops_status status = check_bytes("scatter", bytes)) return status;
  *bytes = winner_bytes(shapes.tensors(), flags);
  return HIPOPS_SUCCESS;
}
