#include "rope_thd.h"

#include "kernel_names.h"
#include "rope_common.h"
#include "runtime/runtime.h"
#include "tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_ROPE_THD_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kRopeVariants, "one name for each variant");

}  // namespace

Op op_rope_thd = {"rope_thd", kKernels, kRopeVariants, rope_supports};

}  // namespace hipops

hipops_status hipops_rope_thd(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                              const hipops_tensor* sin, const hipops_tensor* positions, void* stream) {
  using namespace hipops;
  RopeTensors tensors{y, x, cos, sin, positions};
  if (hipops_status status = check_rope("rope_thd", kTokensThenHeads, tensors)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;
  int kernel = choose_rope(kTokensThenHeads, tensors);
  RopePlan plan = plan_rope(kernel, kTokensThenHeads, tensors);
  if (plan.args.count == 0) return HIPOPS_SUCCESS;  // nothing is rotated, in place
  return launch(op_rope_thd, kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, stream);
}
