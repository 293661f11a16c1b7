#include "layer_norm.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "layer_norm";
constexpr const char* kKernels[] = {HIPOPS_LAYER_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_LAYER_NORM_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

hipops_status check(const hipops_tensor* y, const hipops_tensor* mean, const hipops_tensor* rstd, const hipops_tensor* x,
                    const hipops_tensor* weight, const hipops_tensor* bias, double eps, uint32_t flags) {
  const Argument of_y{kName, "y", y}, of_x{kName, "x", x}, of_weight{kName, "weight", weight}, of_bias{kName, "bias", bias};
  if (hipops_status status = check_rows(kName, y, x)) return status;
  if (hipops_status status = check_weights(kName, "weight", weight, *x, *y)) return status;
  if (hipops_status status = check_weights(kName, "bias", bias, *x, *y)) return status;
  if (weight && bias)
    if (hipops_status status = check_same_dtype(of_bias, of_weight)) return status;
  if (hipops_status status =
          check_row_scalars({{kName, "mean", mean}, {kName, "rstd", rstd}}, {of_x, of_y, of_weight, of_bias}))
    return status;
  if (hipops_status status = check_flags(kName, flags)) return status;
  return check_eps(kName, eps, *x);
}

}  // namespace

Op op_layer_norm = {kName, kKernels, kRows.count, supports_floats, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_layer_norm(const hipops_tensor* y, const hipops_tensor* mean, const hipops_tensor* rstd,
                                const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* bias, double eps,
                                uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, mean, rstd, x, weight, bias, eps, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const int64_t cols = x->shape[x->rank - 1];
  const hipops_tensor* some = weight ? weight : bias;
  LayerNormArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns[1] = row_columns(bias);
  args.columns_are_f32 = some && some->dtype != x->dtype;
  if (x->dtype == HIPOPS_F64) args.terms_in_f64 = norm_terms<double>(eps, cols);
  else args.terms = norm_terms<float>(eps, cols);
  const RowProblem problem =
      describe_rows({x, y, mean, rstd}, 1, args.columns, 2, some ? dtype_bytes(some->dtype) : 0, &args.rows, flags);
  return launch_rows(op_layer_norm, problem, &args.rows, &args, sizeof args, stream);
}
