#include "rms_norm_backward.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/column_sums.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "rms_norm_backward";
constexpr const char* kKernels[] = {HIPOPS_RMS_NORM_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};
constexpr int kSums = RmsNormBackwardArgs::kSums;

GradientTensors named(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* dy, const hipops_tensor* x,
                      const hipops_tensor* weight, const hipops_tensor* rstd) {
  return {{kName, "dx", dx}, {kName, "dy", dy}, {kName, "x", x}, {kName, "weight", weight},
          {{kName, "dw", dw}, {kName, "db", nullptr}}, {{kName, "rstd", rstd}, {kName, "mean", nullptr}}};
}

}  // namespace

Op op_rms_norm_backward = {kName, kKernels, std::size(kKernels), supports_floats, most_shared_of_spans<kRows>};

}  // namespace hipops

hipops_status hipops_rms_norm_backward(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* dy,
                                       const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* rstd,
                                       double eps, uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const GradientTensors tensors = named(dx, dw, dy, x, weight, rstd);
  if (hipops_status status = check_gradients(tensors)) return status;
  if (hipops_status status = check_flags(
          kName, flags, HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT | HIPOPS_BATCH_INVARIANT,
          "HIPOPS_WEIGHT_PLUS_ONE (0x4), HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (hipops_status status = check_eps(kName, eps, *x)) return status;
  if (hipops_status status = check_memory(tensors, kRows, kSums, workspace, workspace_bytes)) return status;
  const int64_t cols = x->shape[x->rank - 1];
  if (cols == 0 || (is_empty(*x) && !dw)) return HIPOPS_SUCCESS;

  RmsNormBackwardArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns_are_f32 = weight && weight->dtype != x->dtype;
  args.flags = static_cast<int32_t>(flags);
  if (x->dtype == HIPOPS_F64) args.terms_in_f64 = norm_terms<double>(eps, cols);
  else args.terms = norm_terms<float>(eps, cols);
  RowProblem problem{x->dtype, RowLayout::strided, 0, cols, false};
  if (!is_empty(*x))
    problem = describe_rows({dy, x, dx, rstd}, 2, args.columns, 1, weight ? dtype_bytes(weight->dtype) : 0, &args.rows,
                            HIPOPS_BATCH_INVARIANT | kSameColumns);
  return launch_column_sums(op_rms_norm_backward, kRows, problem, tensors, kSums, false, workspace, &args, stream);
}

hipops_status hipops_rms_norm_backward_workspace_bytes(const hipops_tensor* dx, const hipops_tensor* dw,
                                                       const hipops_tensor* dy, const hipops_tensor* x,
                                                       const hipops_tensor* weight, const hipops_tensor* rstd,
                                                       int64_t* bytes) {
  using namespace hipops;
  return workspace_bytes_of(named(dx, dw, dy, x, weight, rstd), kRows, kSums, bytes);
}
