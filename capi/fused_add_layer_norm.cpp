#include "fused_add_layer_norm.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "fused_add_layer_norm";
constexpr const char* kKernels[] = {HIPOPS_FUSED_ADD_LAYER_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_FUSED_ADD_LAYER_NORM_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};
static_assert(HIPOPS_ROUND_SUM == round_sum, "the kernel uses the same value of the flag");

hipops_status check(const hipops_tensor* y, const hipops_tensor* residual_out, const hipops_tensor* mean,
                    const hipops_tensor* rstd, const hipops_tensor* x, const hipops_tensor* residual,
                    const hipops_tensor* weight, const hipops_tensor* bias, double eps, uint32_t flags) {
  const Argument of_weight{kName, "weight", weight}, of_bias{kName, "bias", bias}, of_out{kName, "residual_out", residual_out};
  if (hipops_status status = check_residual(kName, y, residual_out, x, residual)) return status;
  if (hipops_status status = check_weights(kName, "weight", weight, *x, *y)) return status;
  if (hipops_status status = check_weights(kName, "bias", bias, *x, *y)) return status;
  if (weight && bias)
    if (hipops_status status = check_same_dtype(of_bias, of_weight)) return status;
  for (const Argument& column : {of_weight, of_bias})
    if (hipops_status status = check_apart(of_out, column)) return status;
  if (hipops_status status = check_row_scalars(
          {{kName, "mean", mean}, {kName, "rstd", rstd}},
          {{kName, "x", x}, {kName, "y", y}, {kName, "residual", residual}, of_out, of_weight, of_bias}))
    return status;
  if (hipops_status status = check_flags(kName, flags, HIPOPS_ROUND_SUM | HIPOPS_BATCH_INVARIANT,
                                         "HIPOPS_ROUND_SUM (0x2) and HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  return check_eps(kName, eps, *x);
}

}  // namespace

Op op_fused_add_layer_norm = {kName, kKernels, kRows.count, supports_floats_but_f64, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_fused_add_layer_norm(const hipops_tensor* y, const hipops_tensor* residual_out,
                                          const hipops_tensor* mean, const hipops_tensor* rstd, const hipops_tensor* x,
                                          const hipops_tensor* residual, const hipops_tensor* weight,
                                          const hipops_tensor* bias, double eps, uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, residual_out, mean, rstd, x, residual, weight, bias, eps, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const hipops_tensor* some = weight ? weight : bias;
  FusedAddLayerNormArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns[1] = row_columns(bias);
  args.columns_are_f32 = some && some->dtype != x->dtype;
  args.flags = static_cast<int32_t>(flags);
  args.terms = norm_terms<float>(eps, x->shape[x->rank - 1]);
  const RowProblem problem = describe_rows({x, residual, y, residual_out, mean, rstd}, 2, args.columns, 2,
                                           some ? dtype_bytes(some->dtype) : 0, &args.rows, flags);
  return launch_rows(op_fused_add_layer_norm, problem, &args.rows, &args, sizeof args, stream);
}
