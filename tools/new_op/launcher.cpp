#include "@op@.h"

#include "tensor/error.h"
#include "kernel_names.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_@OP@_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

// The names that the list uses, as host constants.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
#define DTYPE(name, T) T,
constexpr hipops_dtype kDtypes[] = {HIPOPS_@OP@_KERNELS(DTYPE)};
#undef DTYPE

bool supports(hipops_dtype dtype, hipops_dtype second) { return second == HIPOPS_NONE && is_float(dtype); }

// ---- Check

hipops_status check(const hipops_tensor* y_tensor, const hipops_tensor* x_tensor) {
  Argument y{"@op@", "y", y_tensor}, x{"@op@", "x", x_tensor};
  if (hipops_status status = check_tensor(x)) return status;
  if (hipops_status status = check_output(y)) return status;
  if (!is_float(x_tensor->dtype))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "@op@: x.dtype is %s, expected f32, f16, bf16 or f64",
                dtype_name(x_tensor->dtype));
  if (hipops_status status = check_same_dtype(y, x)) return status;
  if (hipops_status status = check_same_shape(y, x)) return status;
  return check_overlap(y, x, kInPlace);
}

// ---- Choose

int choose(hipops_dtype dtype) {
  int kernel = 0;
  while (kDtypes[kernel] != dtype) ++kernel;
  return kernel;
}

Walk<k@Op@Operands> walk_over(const hipops_tensor& y, const hipops_tensor& x) {
  Layout<k@Op@Operands> layout;
  for (int d = y.rank; d-- > 0;) add_dimension(&layout, y.shape[d], {y.stride[d], x.stride[d]});
  return walk_of(layout);
}

}  // namespace

Op op_@op@ = {"@op@", kKernels, kKernelCount, supports};

}  // namespace hipops

hipops_status hipops_@op@(const hipops_tensor* y, const hipops_tensor* x, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  @Op@Args args{};
  args.walk = walk_over(*y, *x);
  args.x = x->data;
  args.y = y->data;
  const uint32_t grid = plan_options().grid_for(args.walk.count, k@Op@Block);
  args.step = int64_t{grid} * k@Op@Block;
  return launch(op_@op@, choose(x->dtype), grid, k@Op@Block, &args, sizeof args, stream);
}
