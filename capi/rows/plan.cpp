#include "rows/plan.h"

#include <algorithm>
#include <iterator>

#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

#define ROW_KERNEL(name, T, lanes, vectors, block, layout, body) {lanes, vectors, block, RowLayout::layout, RowBody::body},
constexpr RowKernel of_one_input[] = {HIPOPS_ROW_KERNELS_OF(ROW_KERNEL, , , 8)};
constexpr RowKernel of_two_inputs[] = {HIPOPS_ROW_KERNELS_OF(ROW_KERNEL, , , 4)};
constexpr RowKernel kernels_of_f64[] = {HIPOPS_ROW_KERNELS_OF_F64(ROW_KERNEL, )};
#undef ROW_KERNEL
constexpr int kOfType = static_cast<int>(std::size(of_one_input)), kOfF64 = static_cast<int>(std::size(kernels_of_f64));

}  // namespace

RowKernels row_kernels(hipops_dtype dtype, int inputs) {
  if (dtype == HIPOPS_F64) return {kernels_of_f64, kOfF64};
  return {inputs == 1 ? of_one_input : of_two_inputs, kOfType};
}

int first_kernel_of(hipops_dtype dtype) {
  return kOfType * (dtype == HIPOPS_F32 ? 0 : dtype == HIPOPS_F16 ? 1 : dtype == HIPOPS_BF16 ? 2 : 3);
}

int64_t staged_at_most(hipops_dtype dtype) {
  return staged_elements(dtype_bytes(dtype)) - kWideAccess / dtype_bytes(dtype);  // the first vector may be used in part
}
int64_t elements_of_tile(const RowKernel& k, hipops_dtype dtype) {
  return int64_t{k.block} * k.vectors * kWideAccess / dtype_bytes(dtype);
}

hipops_status plan_rows(Op& op, const RowProblem& problem, const DeviceFacts** device, RowLaunch* plan) {
  if (hipops_status status = device_facts(op, device)) return status;
  *plan = plan_rows_by_default(problem, **device);
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
    *plan = plan_rows_by_default(problem, smaller);
  }
  return HIPOPS_SUCCESS;
}

int64_t shared_of_row_kernel(int kernel, uint32_t) {
  const RowKernel& k = kernel < 3 * kOfType ? of_one_input[kernel % kOfType] : kernels_of_f64[kernel - 3 * kOfType];
  return k.body == RowBody::cluster ? 16 : 0;
}

}  // namespace hipops
