#include "softmax_backward.h"

#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "softmax_backward";
constexpr const char* kKernels[] = {HIPOPS_SOFTMAX_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_SOFTMAX_BACKWARD_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

}  // namespace

Op op_softmax_backward = {kName, kKernels, kRows.count, supports_floats_alone, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_softmax_backward(const hipops_tensor* dx, const hipops_tensor* dy, const hipops_tensor* y,
                                      double scale, uint32_t flags, void* stream) {
  using namespace hipops;
  const Argument to{kName, "dx", dx}, gradient{kName, "dy", dy}, result{kName, "y", y};
  if (hipops_status status = check_gradients(to, gradient, result)) return status;
  const bool is_finite = y->dtype == HIPOPS_F64 ? std::isfinite(scale) : std::isfinite(static_cast<float>(scale));
  if (!is_finite)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale is %g, expected a finite number%s", kName, scale,
                y->dtype == HIPOPS_F64 ? "" : " in the range of f32");
  if (hipops_status status = check_flags(kName, flags)) return status;
  for (const Argument* input : {&gradient, &result})
    if (hipops_status status = check_overlap(to, *input, kInPlace)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;

  SoftmaxBackwardArgs args{};
  args.scale = static_cast<float>(scale);
  args.scale_in_f64 = scale;
  const RowProblem problem = describe_rows({dy, y, dx}, 2, args.columns, 0, 0, &args.rows, flags);
  return launch_rows(op_softmax_backward, problem, &args.rows, &args, sizeof args, stream);
}
