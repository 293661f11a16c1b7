#include "upsample_nearest2d.h"

#include "kernel_names.h"
#include "tensor/tensor.h"
#include "move/upsample.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_UPSAMPLE_NEAREST2D_KERNELS(HIPOPS_KERNEL_NAME)};

}  // namespace

Op op_upsample_nearest2d = {"upsample_nearest2d", kKernels, sizeof(kKernels) / sizeof(kKernels[0]), supports_elements};

}  // namespace hipops

hipops_status hipops_upsample_nearest2d(const hipops_tensor* y, const hipops_tensor* x, hipops_nearest rule,
                                        double scale_h, double scale_w, void* stream) {
  const hipops::Scale scales[] = {{"scale_h", scale_h}, {"scale_w", scale_w}};
  return hipops::upsample(hipops::op_upsample_nearest2d, y, x, 2, rule, scales, stream);
}
