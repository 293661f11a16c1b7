#include "softmax.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_SOFTMAX_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_SOFTMAX_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

}  // namespace

Op op_softmax = {"softmax", kKernels, kRows.count, supports_floats_alone, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_softmax(const hipops_tensor* y, const hipops_tensor* x, uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_rows("softmax", y, x)) return status;
  if (hipops_status status = check_flags("softmax", flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  SoftmaxArgs args{};
  const RowProblem problem = describe_rows({x, y}, 1, args.columns, 0, 0, &args.rows, flags);
  return launch_rows(op_softmax, problem, &args.rows, &args, sizeof args, stream);
}
