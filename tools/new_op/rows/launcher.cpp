#include "@op@.h"

#include <iterator>

#include "kernel_names.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_@OP@_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = static_cast<int>(std::size(kKernels));

bool supports(hipops_dtype dtype, hipops_dtype second) { return second == HIPOPS_NONE && is_float(dtype); }

}  // namespace

Op op_@op@ = {"@op@", kKernels, kKernelCount, supports, shared_of_row_kernel};

}  // namespace hipops

hipops_status hipops_@op@(const hipops_tensor* y, const hipops_tensor* x, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_rows("@op@", y, x)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  @Op@Args args{};
  const RowProblem problem = describe_rows({x, y}, 1, args.columns, 0, 0, &args.rows);
  return launch_rows(op_@op@, first_kernel_of(x->dtype), problem, &args.rows, &args, sizeof args, stream);
}
