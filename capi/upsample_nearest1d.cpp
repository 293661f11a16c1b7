#include "upsample_nearest1d.h"

#include "kernel_names.h"
#include "tensor/tensor.h"
#include "move/upsample.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_UPSAMPLE_NEAREST1D_KERNELS(HIPOPS_KERNEL_NAME)};

}  // namespace

Op op_upsample_nearest1d = {"upsample_nearest1d", kKernels, sizeof(kKernels) / sizeof(kKernels[0]), supports_elements};

}  // namespace hipops

hipops_status hipops_upsample_nearest1d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                        double scale, void* stream) {
  const hipops::Scale scales[] = {{"scale", scale}};
  return hipops::upsample(hipops::op_upsample_nearest1d, y, x, 1, rule, scales, stream);
}
