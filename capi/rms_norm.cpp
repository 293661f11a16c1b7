#include "rms_norm.h"

#include "kernel_names.h"
#include "rows/rows.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_RMS_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kRowKernels, "one name for each variant");

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight, double eps) {
  if (hipops_status status = check_rows("rms_norm", y, x)) return status;
  if (hipops_status status = check_weights("rms_norm", "weight", weight, *x, *y)) return status;
  return check_eps("rms_norm", eps, *x);
}

}  // namespace

RowRounds rms_norm_rounds(const RowVariant& v) {
  const bool short_edged = v.access == edged && v.threads < v.block;
  return short_edged && dtype_bytes(v.dtype) == 2 ? RowRounds::ahead_beside_weights : RowRounds::one;
}

Op op_rms_norm = {"rms_norm", kKernels, kRowKernels, supports_floats, row_kernel_shared};

}  // namespace hipops

hipops_status hipops_rms_norm(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight, double eps,
                              void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, weight, eps)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  RmsNormArgs args{};
  args.geometry = row_geometry(*y, *x);
  args.x = x->data;
  args.y = y->data;
  set_norm_terms(eps, args.geometry.cols, &args);
  if (weight) {
    args.weight = weight->data;
    args.weight_stride = weight->stride[0];
    args.weight_is_f32 = weight->dtype != x->dtype;
  }

  RowAccess access = row_access(*y, *x, args.geometry, weight);
  RowCall call = {x->dtype, access, rms_norm_rounds, weight && weight->dtype == x->dtype, y->data == x->data};
  return launch_rows(op_rms_norm, call, &args.geometry, &args, sizeof args, stream);
}
