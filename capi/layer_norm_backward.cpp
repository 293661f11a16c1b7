#include "layer_norm_backward.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/column_sums.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "layer_norm_backward";
constexpr const char* kKernels[] = {HIPOPS_LAYER_NORM_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_LAYER_NORM_BACKWARD_ROW_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};
constexpr int kSums = LayerNormBackwardArgs::kSums;

GradientTensors named(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* db, const hipops_tensor* dy,
                      const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* mean,
                      const hipops_tensor* rstd) {
  return {{kName, "dx", dx}, {kName, "dy", dy}, {kName, "x", x}, {kName, "weight", weight},
          {{kName, "dw", dw}, {kName, "db", db}}, {{kName, "rstd", rstd}, {kName, "mean", mean}}};
}

}  // namespace

Op op_layer_norm_backward = {kName, kKernels, std::size(kKernels), supports_floats, most_shared_of_spans<kRows>};

}  // namespace hipops

hipops_status hipops_layer_norm_backward(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* db,
                                         const hipops_tensor* dy, const hipops_tensor* x, const hipops_tensor* weight,
                                         const hipops_tensor* mean, const hipops_tensor* rstd, double eps, uint32_t flags,
                                         void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const GradientTensors tensors = named(dx, dw, db, dy, x, weight, mean, rstd);
  if (hipops_status status = check_gradients(tensors)) return status;
  if (hipops_status status = check_flags(kName, flags)) return status;
  if (hipops_status status = check_eps(kName, eps, *x)) return status;
  if (hipops_status status = check_memory(tensors, kRows, kSums, workspace, workspace_bytes)) return status;
  const int64_t cols = x->shape[x->rank - 1];
  if (cols == 0 || (is_empty(*x) && !tensors.has_sums())) return HIPOPS_SUCCESS;

  LayerNormBackwardArgs args{};
  args.columns[0] = row_columns(weight);
  args.columns_are_f32 = weight && weight->dtype != x->dtype;
  if (x->dtype == HIPOPS_F64) args.terms_in_f64 = norm_terms<double>(eps, cols);
  else args.terms = norm_terms<float>(eps, cols);
  RowProblem problem{x->dtype, RowLayout::strided, 0, cols, false};
  if (!is_empty(*x))
    problem = describe_rows({dy, x, dx, mean, rstd}, 2, args.columns, 1, weight ? dtype_bytes(weight->dtype) : 0, &args.rows,
                            HIPOPS_BATCH_INVARIANT | kSameColumns);
  return launch_column_sums(op_layer_norm_backward, kRows, problem, tensors, kSums, mean == nullptr, workspace, &args, stream);
}

hipops_status hipops_layer_norm_backward_workspace_bytes(const hipops_tensor* dx, const hipops_tensor* dw,
                                                         const hipops_tensor* db, const hipops_tensor* dy,
                                                         const hipops_tensor* x, const hipops_tensor* weight,
                                                         const hipops_tensor* mean, const hipops_tensor* rstd,
                                                         int64_t* bytes) {
  using namespace hipops;
  return workspace_bytes_of(named(dx, dw, db, dy, x, weight, mean, rstd), kRows, kSums, bytes);
}
