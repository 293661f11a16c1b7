#include "rms_norm_backward.h"

#include <cinttypes>
#include <iterator>

#include "index/indices.h"
#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/column_sums.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "rms_norm_backward";
constexpr const char* kKernels[] = {HIPOPS_RMS_NORM_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

struct Tensors {
  Argument dx, dw, dy, x, weight, rstd;
};
Tensors named(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* dy, const hipops_tensor* x,
              const hipops_tensor* weight, const hipops_tensor* rstd) {
  return {{kName, "dx", dx}, {kName, "dw", dw}, {kName, "dy", dy}, {kName, "x", x}, {kName, "weight", weight}, {kName, "rstd", rstd}};
}

// The checks that use no address. hipops_rms_norm_backward_workspace_bytes makes them, too.
hipops_status check(const Tensors& t) {
  if (hipops_status status = check_gradients(t.dx, t.dy, t.x)) return status;
  for (const Argument* a : {&t.weight, &t.dw}) {
    if (!a->tensor) continue;
    if (hipops_status status = a == &t.dw ? check_output(*a) : check_tensor(*a)) return status;
    if (hipops_status status = check_rank(*a, 1, 1)) return status;
    if (hipops_status status = check_same_dtype_or_f32(*a, t.x)) return status;
    if (hipops_status status = check_same_size(*a, 0, t.x, t.x.tensor->rank - 1)) return status;
  }
  if (t.dw.tensor && !t.weight.tensor)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: dw is a tensor, expected NULL (weight is NULL)", kName);
  if (t.dw.tensor)
    if (hipops_status status = check_same_dtype(t.dw, t.weight)) return status;
  if (!t.rstd.tensor) return HIPOPS_SUCCESS;
  if (hipops_status status = check_tensor(t.rstd)) return status;
  return check_row_scalar(t.rstd, t.x);
}

int64_t needed_bytes(const Tensors& t) {
  const hipops_tensor& x = *t.x.tensor;
  if (!t.dw.tensor || is_empty(x)) return 0;
  const int64_t cols = x.shape[x.rank - 1];
  return column_sums_bytes(kRows, x.dtype, element_count(x) / cols, cols);
}

hipops_status check_memory(const Tensors& t, void* workspace, int64_t workspace_bytes) {
  for (const Argument* a : {&t.dy, &t.x})
    if (hipops_status status = check_overlap(t.dx, *a, kInPlace)) return status;
  for (const Argument* a : {&t.weight, &t.rstd})
    if (hipops_status status = check_apart(t.dx, *a)) return status;
  for (const Argument* a : {&t.dx, &t.dy, &t.x, &t.weight, &t.rstd})
    if (hipops_status status = check_apart(t.dw, *a)) return status;
  const int64_t needed = needed_bytes(t);
  if (needed > 0 && !workspace && workspace_bytes == 0)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: workspace is NULL, expected %" PRId64 " bytes for dw (hipops_%s_workspace_bytes)", kName, needed, kName);
  if (needed == 0) return check_workspace(kName, workspace, workspace_bytes, 0, {});
  return check_workspace(kName, workspace, workspace_bytes, needed,  // dw has a weight
                         {t.dx, t.dw, t.dy, t.x, t.weight, t.rstd.tensor ? t.rstd : t.x});
}

}  // namespace

Op op_rms_norm_backward = {kName, kKernels, std::size(kKernels), supports_floats};

}  // namespace hipops

hipops_status hipops_rms_norm_backward(const hipops_tensor* dx, const hipops_tensor* dw, const hipops_tensor* dy,
                                       const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* rstd,
                                       double eps, uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const Tensors tensors = named(dx, dw, dy, x, weight, rstd);
  if (hipops_status status = check(tensors)) return status;
  if (hipops_status status = check_flags(
          kName, flags, HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT | HIPOPS_BATCH_INVARIANT,
          "HIPOPS_WEIGHT_PLUS_ONE (0x4), HIPOPS_ROUND_BEFORE_WEIGHT (0x8) and HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (hipops_status status = check_eps(kName, eps, *x)) return status;
  if (hipops_status status = check_memory(tensors, workspace, workspace_bytes)) return status;
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
                            HIPOPS_BATCH_INVARIANT);
  return launch_column_sums(op_rms_norm_backward, kRows, problem, dw, workspace, &args, stream);
}

hipops_status hipops_rms_norm_backward_workspace_bytes(const hipops_tensor* dx, const hipops_tensor* dw,
                                                       const hipops_tensor* dy, const hipops_tensor* x,
                                                       const hipops_tensor* weight, const hipops_tensor* rstd,
                                                       int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[6];
  const Tensors tensors =
      named(without_data(dx, &copy[0]), without_data(dw, &copy[1]), without_data(dy, &copy[2]), without_data(x, &copy[3]),
            without_data(weight, &copy[4]), without_data(rstd, &copy[5]));
  if (hipops_status status = check(tensors)) return status;
  if (hipops_status status = check_bytes(kName, bytes)) return status;
  *bytes = needed_bytes(tensors);
  return HIPOPS_SUCCESS;
}
