#include "fused_add_rms_norm.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "fused_add_rms_norm";
constexpr const char* kKernels[] = {HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_FUSED_ADD_RMS_NORM_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

constexpr uint32_t kFlags =
    HIPOPS_ROUND_SUM | HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT | HIPOPS_BATCH_INVARIANT;
static_assert(HIPOPS_ROUND_SUM == round_sum && HIPOPS_WEIGHT_PLUS_ONE == weight_plus_one &&
                  HIPOPS_ROUND_BEFORE_WEIGHT == round_before_weight,
              "the kernel uses the same values of flags");

hipops_status check(const hipops_tensor* y, const hipops_tensor* residual_out, const hipops_tensor* rstd,
                    const hipops_tensor* x, const hipops_tensor* residual, const hipops_tensor* weight, double eps,
                    uint32_t flags) {
  const Argument of_y{kName, "y", y}, of_x{kName, "x", x}, of_residual{kName, "residual", residual};
  if (hipops_status status = check_residual(kName, y, residual_out, x, residual)) return status;
  if (hipops_status status = check_weights(kName, "weight", weight, *x, *y)) return status;
  if (hipops_status status = check_apart({kName, "residual_out", residual_out}, {kName, "weight", weight})) return status;
  if (hipops_status status = check_flags(kName, flags, kFlags,
                                         "HIPOPS_ROUND_SUM (0x2), HIPOPS_WEIGHT_PLUS_ONE (0x4), "
                                         "HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (hipops_status status = check_row_scalars({{kName, "rstd", rstd}}, {of_x, of_y, of_residual, {kName, "weight", weight},
                                                                        {kName, "residual_out", residual_out}}))
    return status;
  return check_eps(kName, eps, *x);
}

}  // namespace

Op op_fused_add_rms_norm = {kName, kKernels, kRows.count, supports_floats_but_f64, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_fused_add_rms_norm(const hipops_tensor* y, const hipops_tensor* residual_out,
                                        const hipops_tensor* rstd, const hipops_tensor* x, const hipops_tensor* residual,
                                        const hipops_tensor* weight, double eps, uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, residual_out, rstd, x, residual, weight, eps, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  FusedAddRmsNormArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns_are_f32 = weight && weight->dtype != x->dtype;
  args.flags = static_cast<int32_t>(flags);
  args.terms = norm_terms<float>(eps, x->shape[x->rank - 1]);
  const RowProblem problem =
      describe_rows({x, residual, y, residual_out, rstd}, 2, args.columns, 1, weight ? dtype_bytes(weight->dtype) : 0,
                    &args.rows, flags);
  return launch_rows(op_fused_add_rms_norm, problem, &args.rows, &args, sizeof args, stream);
}
