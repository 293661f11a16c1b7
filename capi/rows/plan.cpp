#include "rows/plan.h"

#include <algorithm>

#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {

int64_t staged_at_most(hipops_dtype dtype) {
  return staged_elements(dtype_bytes(dtype)) - kWideAccess / dtype_bytes(dtype);  // the first vector may be used in part
}
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype) {
  return int64_t{k.block} * k.vectors * kWideAccess / dtype_bytes(dtype);
}

hipops_status plan_rows(Op& op, const RowKernels& kernels, const RowProblem& problem, const DeviceFacts** device, RowLaunch* plan) {
  if (hipops_status status = device_facts(op, device)) return status;
  *plan = plan_rows_by_default(kernels, problem, **device);
  // A part of a device may be too small for clusters of that size: then there are smaller ones, or none.
  DeviceNumbers smaller = **device;
  while (plan->cluster > 1) {
    uint32_t most = 0;
    if (hipops_status status = most_clusters(op, **device, plan->cluster, plan->block, &most)) return status;
    if (most > 0) {
      const int64_t clusters = std::min<int64_t>(plan->grid / plan->cluster, most);
      plan->grid = static_cast<uint32_t>(clusters) * plan->cluster;
      plan->row_step = clusters;
      break;
    }
    smaller.largest_cluster = static_cast<int>(plan->cluster) - 1;
    *plan = plan_rows_by_default(kernels, problem, smaller);
  }
  return HIPOPS_SUCCESS;
}

}  // namespace hipops
