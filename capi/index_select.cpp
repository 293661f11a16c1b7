#include "index_select.h"

#include <cinttypes>

#include "tensor/error.h"
#include "index/indices.h"
#include "kernel_names.h"
#include "runtime/runtime.h"
#include "move/take.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_INDEX_SELECT_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kTakeKernels, "one name for each size of units");

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                    const hipops_index_report* report) {
  Argument out{"index_select", "y", y}, in{"index_select", "x", x}, at{"index_select", "index", index};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_index(at)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_rank(at, 1, 1)) return status;
  if (hipops_status status = check_dim("index_select", dim, in)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_rank(out, in)) return status;
  for (int d = 0; d < x->rank; ++d)
    if (hipops_status status = check_same_size(out, d, d == dim ? at : in, d == dim ? 0 : d)) return status;
  if (hipops_status status = check_overlap(out, in)) return status;
  if (hipops_status status = check_overlap(out, at)) return status;
  return check_report("index_select", report, {out, in, at});
}

}  // namespace

Op op_index_select = {"index_select", kKernels, kTakeKernels, supports_elements_by_index, most_shared_of_take};

}  // namespace hipops

hipops_status hipops_index_select(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                  int32_t dim, hipops_index_report* report, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, index, dim, report)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;

  const DeviceFacts* device = nullptr;
  if (hipops_status status = device_facts(op_index_select, &device)) return status;
  int64_t index_stride[HIPOPS_MAX_RANK] = {};
  index_stride[dim] = index->stride[0];
  TakePlan plan = plan_take(plan_options(), *device, *y, *x, *index, index_stride, dim, report);
  share_index(*y, dim, &plan.args);
  return launch_take(op_index_select, *device, plan, stream);
}
