#include "cross_entropy.h"

#include <cmath>
#include <iterator>

#include "index/indices.h"
#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "cross_entropy";
constexpr const char* kKernels[] = {HIPOPS_CROSS_ENTROPY_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_CROSS_ENTROPY_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList)), true};

bool supports(hipops_dtype dtype, hipops_dtype second) {
  return is_float(dtype) && (second == HIPOPS_NONE || second == HIPOPS_I32 || second == HIPOPS_I64);
}

struct Call {
  Argument loss, lse, dx, x, target, dloss;
};

hipops_status check_tensors(const Call& c) {
  if (hipops_status status = check_tensor(c.x)) return status;
  if (hipops_status status = check_float(c.x)) return status;
  if (hipops_status status = check_rank(c.x, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_tensor(c.target)) return status;
  if (c.target.tensor->dtype != HIPOPS_I32 && c.target.tensor->dtype != HIPOPS_I64)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: target.dtype is %s, expected i32 or i64", kName, dtype_name(c.target.tensor->dtype));
  if (hipops_status status = check_shape_of_rows(c.target, c.x)) return status;
  if (hipops_status status = check_output(c.loss)) return status;
  if (c.dx.tensor) {
    if (hipops_status status = check_output(c.dx)) return status;
    if (hipops_status status = check_same_dtype(c.dx, c.x)) return status;
    if (hipops_status status = check_same_shape(c.dx, c.x)) return status;
    if (hipops_status status = check_overlap(c.dx, c.x, kInPlace)) return status;
    if (hipops_status status = check_overlap(c.dx, c.target)) return status;
  } else if (c.dloss.tensor) {
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: dx is NULL, expected a tensor with dloss", kName);
  }
  if (hipops_status status = check_given_scalars({c.dloss}, c.x, c.dx)) return status;
  return check_row_scalars({c.loss, c.lse}, {c.x, c.target, c.dloss, c.dx});
}

hipops_status check(const Call& c, double label_smoothing, double z_loss, const hipops_index_report* report, uint32_t flags) {
  if (hipops_status status = check_tensors(c)) return status;
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: label_smoothing is %g, expected 0 to 1", kName, label_smoothing);
  if (!(z_loss >= 0 && std::isfinite(static_cast<float>(z_loss))))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: z_loss is %g, expected 0 or more, in the range of f32", kName, z_loss);
  if (hipops_status status = check_flags(kName, flags)) return status;
  for (const Argument* a : {&c.loss, &c.lse, &c.dx, &c.x, &c.target, &c.dloss})
    if (a->tensor)
      if (hipops_status status = check_report(kName, report, {*a})) return status;
  return HIPOPS_SUCCESS;
}

template <class C>
LossTerms<C> terms_of(double label_smoothing, double z_loss, int64_t columns) {
  const double all = static_cast<double>(columns);
  return {static_cast<C>(1 - label_smoothing), static_cast<C>(label_smoothing), static_cast<C>(1 / all),
          static_cast<C>(label_smoothing / all), static_cast<C>(z_loss)};
}

}  // namespace

Op op_cross_entropy = {kName, kKernels, kRows.count, supports, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_cross_entropy(const hipops_tensor* loss, const hipops_tensor* lse, const hipops_tensor* dx,
                                   const hipops_tensor* x, const hipops_tensor* target, const hipops_tensor* dloss,
                                   int64_t ignore_index, double label_smoothing, double z_loss, uint32_t flags,
                                   hipops_index_report* report, void* stream) {
  using namespace hipops;
  const Call call{{kName, "loss", loss}, {kName, "lse", lse},       {kName, "dx", dx},
                  {kName, "x", x},       {kName, "target", target}, {kName, "dloss", dloss}};
  if (hipops_status status = check(call, label_smoothing, z_loss, report, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  CrossEntropyArgs args{};
  args.stores_gradient = dx != nullptr;
  args.target = index_args(*target, x->shape[x->rank - 1], report);
  args.ignored = ignore_index;
  args.terms = terms_of<float>(label_smoothing, z_loss, args.target.size);
  args.terms_in_f64 = terms_of<double>(label_smoothing, z_loss, args.target.size);
  // Without dx the kernel divides rows as for a dx at x's place, and stores nothing there.
  const RowProblem problem = describe_rows({x, dx ? dx : x, loss, lse, dloss, target}, 1, args.columns, 0, 0, &args.rows, flags);
  return launch_rows(op_cross_entropy, problem, &args.rows, &args, sizeof args, stream);
}
