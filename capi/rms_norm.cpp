#include "rms_norm.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "rms_norm";
constexpr const char* kKernels[] = {HIPOPS_RMS_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_RMS_NORM_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};
static_assert(HIPOPS_WEIGHT_PLUS_ONE == weight_plus_one && HIPOPS_ROUND_BEFORE_WEIGHT == round_before_weight,
              "the kernel uses the same values of flags");

hipops_status check(const hipops_tensor* y, const hipops_tensor* rstd, const hipops_tensor* x, const hipops_tensor* weight,
                    double eps, uint32_t flags) {
  if (hipops_status status = check_rows(kName, y, x)) return status;
  if (hipops_status status = check_weights(kName, "weight", weight, *x, *y)) return status;
  if (hipops_status status = check_flags(
          kName, flags, HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT | HIPOPS_BATCH_INVARIANT,
          "HIPOPS_WEIGHT_PLUS_ONE (0x4), HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (hipops_status status = check_row_scalars({{kName, "rstd", rstd}}, {{kName, "x", x}, {kName, "y", y}, {kName, "weight", weight}}))
    return status;
  return check_eps(kName, eps, *x);
}

}  // namespace

Op op_rms_norm = {kName, kKernels, kRows.count, supports_floats, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_rms_norm(const hipops_tensor* y, const hipops_tensor* rstd, const hipops_tensor* x,
                              const hipops_tensor* weight, double eps, uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, rstd, x, weight, eps, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const int64_t cols = x->shape[x->rank - 1];
  RmsNormArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns_are_f32 = weight && weight->dtype != x->dtype;
  args.flags = static_cast<int32_t>(flags);
  if (x->dtype == HIPOPS_F64) args.terms_in_f64 = norm_terms<double>(eps, cols);
  else args.terms = norm_terms<float>(eps, cols);
  const RowProblem problem =
      describe_rows({x, y, rstd}, 1, args.columns, 1, weight ? dtype_bytes(weight->dtype) : 0, &args.rows, flags);
  return launch_rows(op_rms_norm, problem, &args.rows, &args, sizeof args, stream);
}
