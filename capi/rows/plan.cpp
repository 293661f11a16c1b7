#include "rows/plan.h"

namespace hipops {

#define ROW_KERNEL(name, T, lanes, vectors, block, layout, body) {lanes, vectors, block, RowLayout::layout, RowBody::body},
const RowKernel row_kernels[kRowKernelsOfType] = {HIPOPS_ROW_KERNELS_OF(ROW_KERNEL, , )};
#undef ROW_KERNEL

hipops_status plan_rows(Op& op, const RowProblem& problem, const DeviceFacts** device, RowLaunch* plan) {
  if (hipops_status status = device_facts(op, device)) return status;
  *plan = plan_rows_by_default(problem, **device);
  // A part of a device may be too small for clusters of that size: then there are smaller ones, or none.
  DeviceNumbers smaller = **device;
  while (plan->cluster > 1) {
    uint32_t most = 0;
    if (hipops_status status = most_clusters(op, **device, plan->cluster, plan->block, &most)) return status;
    if (most > 0) break;
    smaller.largest_cluster = static_cast<int>(plan->cluster) - 1;
    *plan = plan_rows_by_default(problem, smaller);
  }
  return HIPOPS_SUCCESS;
}

int64_t shared_of_row_kernel(int kernel, uint32_t) {
  return row_kernels[kernel % kRowKernelsOfType].body == RowBody::cluster ? 16 : 0;
}

}  // namespace hipops
