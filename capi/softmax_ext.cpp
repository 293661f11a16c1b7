#include "softmax_ext.h"

#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "softmax_ext";
constexpr const char* kKernels[] = {HIPOPS_SOFTMAX_EXT_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_SOFTMAX_EXT_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

bool supports(hipops_dtype dtype, hipops_dtype second) {
  return is_float(dtype) && dtype != HIPOPS_F64 &&
         (second == HIPOPS_NONE || second == dtype || second == HIPOPS_F32 || second == HIPOPS_U8);
}

hipops_status check_mask(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* mask) {
  if (!mask) return HIPOPS_SUCCESS;
  const Argument of_mask{kName, "mask", mask}, of_x{kName, "x", x};
  if (hipops_status status = check_tensor(of_mask)) return status;
  if (mask->dtype != x->dtype && mask->dtype != HIPOPS_F32 && mask->dtype != HIPOPS_U8)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: mask.dtype is %s, expected f32, u8, or x.dtype, which is %s", kName,
                dtype_name(mask->dtype), dtype_name(x->dtype));
  if (hipops_status status = check_same_shape(of_mask, of_x)) return status;
  return check_apart({kName, "y", y}, of_mask);
}

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* mask, const hipops_tensor* slopes,
                    const hipops_tensor* sinks, double scale, uint32_t flags) {
  if (hipops_status status = check_rows(kName, y, x)) return status;
  if (x->dtype == HIPOPS_F64)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is f64, expected f32, f16 or bf16", kName);
  if (hipops_status status = check_mask(y, x, mask)) return status;
  const Argument of_slopes{kName, "alibi_slopes", slopes}, of_sinks{kName, "sinks", sinks};
  if (hipops_status status = check_given_scalars({of_slopes, of_sinks}, {kName, "x", x}, {kName, "y", y})) return status;
  if (slopes && !mask) return fail(HIPOPS_INVALID_ARGUMENT, "%s: mask is NULL, expected a tensor with alibi_slopes", kName);
  if (!std::isfinite(static_cast<float>(scale)))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale is %g, expected a finite number in the range of f32", kName, scale);
  return check_flags(kName, flags, HIPOPS_MASKED_ROW_ZERO | HIPOPS_BATCH_INVARIANT,
                     "HIPOPS_MASKED_ROW_ZERO (0x20) and HIPOPS_BATCH_INVARIANT (0x10)");
}

}  // namespace

Op op_softmax_ext = {kName, kKernels, kRows.count, supports, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_softmax_ext(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* mask,
                                 const hipops_tensor* alibi_slopes, const hipops_tensor* sinks, double scale,
                                 uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, mask, alibi_slopes, sinks, scale, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  SoftmaxExtArgs args{};
  args.scale = static_cast<float>(scale);
  args.zeroes_masked_rows = (flags & HIPOPS_MASKED_ROW_ZERO) != 0;
  const RowProblem problem = describe_rows({x, y, mask, alibi_slopes, sinks}, 1, args.columns, 0, 0, &args.rows, flags);
  return launch_rows(op_softmax_ext, problem, &args.rows, &args, sizeof args, stream);
}
