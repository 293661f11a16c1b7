// strided_copy, and copy2d, which is a strided_copy of two dimensions described by a pitch.
#include "strided_copy.h"

#include <cinttypes>

#include "move/copy_plan.h"
#include "tensor/error.h"
#include "kernel_names.h"
#include "tensor/overlap.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_STRIDED_COPY_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

hipops_status check(const hipops_tensor* y, const hipops_tensor* x) {
  Argument out{"strided_copy", "y", y}, in{"strided_copy", "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(out, in)) return status;
  return check_overlap(out, in);
}

hipops_status check_shape(hipops_dtype dtype, int64_t rows, int64_t cols, int64_t y_stride) {
  if (dtype_bytes(dtype) == 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: dtype is %d, expected a hipops_dtype from %d (f32) to %d (f8_e5m2fnuz)",
                static_cast<int>(dtype), HIPOPS_F32, HIPOPS_F8_E5M2FNUZ);
  if (rows < 0) return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: rows is %" PRId64 ", expected 0 or more", rows);
  if (cols < 0) return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: cols is %" PRId64 ", expected 0 or more", cols);
  if (rows > 1 && y_stride < cols)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: y_stride is %" PRId64 ", expected %" PRId64 " (cols) or more",
                y_stride, cols);
  return HIPOPS_SUCCESS;
}

// Checks one of copy2d's pointers. `t` is its view.
hipops_status check_memory(const char* name, const hipops_tensor& t) {
  if (!t.data)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "copy2d: %s is NULL, expected memory of %" PRId64 " rows of %" PRId64 " elements", name, t.shape[0],
                t.shape[1]);
  ByteRange range;
  if (!byte_range(t, &range))
    return fail(HIPOPS_INVALID_ARGUMENT,
                "copy2d: rows, cols and %s_stride reach outside the address space from %s; here rows is %" PRId64
                ", cols %" PRId64 ", %s_stride %" PRId64 ", %s %p",
                name, name, t.shape[0], t.shape[1], name, t.stride[0], name, t.data);
  if (reinterpret_cast<uintptr_t>(t.data) % static_cast<uint64_t>(dtype_bytes(t.dtype)) != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "copy2d: %s is %p, expected a multiple of %d (an element of %s)", name, t.data,
                dtype_bytes(t.dtype), dtype_name(t.dtype));
  return HIPOPS_SUCCESS;
}

}  // namespace

Op op_strided_copy = {"strided_copy", kKernels, kKernelCount, supports_elements};

}  // namespace hipops

namespace {

hipops_status copy(const hipops_tensor& y, const hipops_tensor& x, void* stream) {
  using namespace hipops;
  CopyPlan plan = plan_copy(plan_options(), y, x);
  return launch(op_strided_copy, plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, stream);
}

}  // namespace

hipops_status hipops_strided_copy(const hipops_tensor* y, const hipops_tensor* x, void* stream) {
  if (hipops_status status = hipops::check(y, x)) return status;
  if (hipops::is_empty(*x)) return HIPOPS_SUCCESS;
  return copy(*y, *x, stream);
}

hipops_status hipops_copy2d(void* y, const void* x, hipops_dtype dtype, int64_t rows, int64_t cols, int64_t y_stride,
                            int64_t x_stride, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_shape(dtype, rows, cols, y_stride)) return status;
  if (rows == 0 || cols == 0) return HIPOPS_SUCCESS;
  hipops_tensor out{y, dtype, 2, {rows, cols}, {y_stride, 1}},
      in{const_cast<void*>(x), dtype, 2, {rows, cols}, {x_stride, 1}};
  if (hipops_status status = check_memory("y", out)) return status;
  if (hipops_status status = check_memory("x", in)) return status;
  if (hipops_status status = check_overlap({"copy2d", "y", &out}, {"copy2d", "x", &in})) return status;
  return copy(out, in, stream);
}
