#include "rope.h"

#include "kernel_names.h"
#include "move/rope_common.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_ROPE_KERNELS(HIPOPS_KERNEL_NAME)};

}  // namespace

Op op_rope = {"rope", kKernels, std::size(kKernels), supports_floats};

}  // namespace hipops

hipops_status hipops_rope(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                          const hipops_tensor* sin, const hipops_tensor* positions, void* stream) {
  return hipops::rope(hipops::op_rope, hipops::kHeadsThenTokens, {y, x, cos, sin, positions}, stream);
}
