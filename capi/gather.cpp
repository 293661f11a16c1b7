#include "gather.h"

#include <cinttypes>

#include "tensor/error.h"
#include "index/indices.h"
#include "kernel_names.h"
#include "runtime/runtime.h"
#include "move/take.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_GATHER_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kTakeKernels, "one name for each size of units");

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                    const hipops_index_report* report) {
  Argument out{"gather", "y", y}, in{"gather", "x", x}, at{"gather", "index", index};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_index(at)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_dim("gather", dim, in)) return status;
  if (index->rank != x->rank)
    return fail(HIPOPS_INVALID_ARGUMENT, "gather: index.rank is %d, expected %d (x.rank)", index->rank, x->rank);
  for (int d = 0; d < x->rank; ++d)
    if (d != dim && index->shape[d] > x->shape[d])
      return fail(HIPOPS_INVALID_ARGUMENT,
                  "gather: index.shape[%d] is %" PRId64 ", expected at most %" PRId64 " (x.shape[%d])", d,
                  index->shape[d], x->shape[d], d);
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, at)) return status;
  if (hipops_status status = check_overlap(out, in)) return status;
  if (hipops_status status = check_overlap(out, at)) return status;
  return check_report("gather", report, {out, in, at});
}

}  // namespace

Op op_gather = {"gather", kKernels, kTakeKernels, supports_elements_by_index, most_shared_of_take};

}  // namespace hipops

hipops_status hipops_gather(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                            hipops_index_report* report, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, index, dim, report)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;

  const DeviceFacts* device = nullptr;
  if (hipops_status status = device_facts(op_gather, &device)) return status;
  const TakePlan plan = plan_take(plan_options(), *device, *y, *x, *index, index->stride, dim, report);
  return launch_take(op_gather, *device, plan, stream);
}
