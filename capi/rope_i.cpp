#include "rope_i.h"

#include "kernel_names.h"
#include "move/rope_common.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_ROPE_I_KERNELS(HIPOPS_KERNEL_NAME)};

}  // namespace

Op op_rope_i = {"rope_i", kKernels, std::size(kKernels), supports_floats};

}  // namespace hipops

hipops_status hipops_rope_i(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                            const hipops_tensor* sin, const hipops_tensor* positions, void* stream) {
  return hipops::rope(hipops::op_rope_i, hipops::kNeighbours, {y, x, cos, sin, positions}, stream);
}
