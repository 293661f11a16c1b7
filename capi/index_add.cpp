#include "index_add.h"

#include <cinttypes>

#include "error.h"
#include "indices.h"
#include "kernel_names.h"
#include "row_sums.h"
#include "runtime/runtime.h"
#include "tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_INDEX_ADD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

bool is_added(hipops_dtype dtype) {
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

bool supports(hipops_dtype dtype, hipops_dtype index) { return is_added(dtype) && index_op_supports_second(index); }

struct Tensors : RowSums {
  Argument of_y() const { return {"index_add", "y", y}; }
  Argument of_x() const { return {"index_add", "x", x}; }
  Argument of_index() const { return {"index_add", "index", index}; }
};

// All that can be said without looking at memory.
hipops_status check(const Tensors& t) {
  if (hipops_status status = check_output(t.of_y())) return status;
  if (hipops_status status = check_tensor(t.of_x())) return status;
  if (hipops_status status = check_index(t.of_index())) return status;
  if (!is_added(t.y->dtype))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "index_add: y.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64",
                dtype_name(t.y->dtype));
  if (hipops_status status = check_same_dtype(t.of_x(), t.of_y())) return status;
  if (hipops_status status = check_rank(t.of_y(), 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_rank(t.of_index(), 1, 1)) return status;
  if (hipops_status status = check_dim("index_add", t.dim, t.of_y())) return status;
  if (t.x->rank != t.y->rank)
    return fail(HIPOPS_INVALID_ARGUMENT, "index_add: x.rank is %d, expected %d (y.rank)", t.x->rank, t.y->rank);
  for (int d = 0; d < t.y->rank; ++d) {
    const bool along = d == t.dim;
    const int64_t expected = along ? t.index->shape[0] : t.y->shape[d];
    if (t.x->shape[d] != expected)
      return fail(HIPOPS_INVALID_ARGUMENT, "index_add: x.shape[%d] is %" PRId64 ", expected %" PRId64 " (%s.shape[%d])",
                  d, t.x->shape[d], expected, along ? "index" : "y", along ? 0 : d);
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_memory(const Tensors& t, const void* workspace, int64_t workspace_bytes, int64_t needed,
                           const hipops_index_report* report) {
  if (hipops_status status = check_overlap(t.of_y(), t.of_x(), false)) return status;
  if (hipops_status status = check_overlap(t.of_y(), t.of_index(), false)) return status;
  const auto tensors = {t.of_y(), t.of_x(), t.of_index()};
  if (hipops_status status = check_workspace("index_add", workspace, workspace_bytes, needed, tensors)) return status;
  return check_report("index_add", report, tensors, workspace, needed);
}

}  // namespace

Op op_index_add = {"index_add", kKernels, kKernelCount, supports};

}  // namespace hipops

hipops_status hipops_index_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                               void* workspace, int64_t workspace_bytes, hipops_index_report* report, void* stream) {
  using namespace hipops;
  const Tensors t{{y, x, index, dim}};
  if (hipops_status status = check(t)) return status;
  const int64_t needed = row_sums_bytes(t);
  if (hipops_status status = check_memory(t, workspace, workspace_bytes, needed, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(&device)) return status;
  return launch_row_sums(*device, t, needed != 0 ? workspace : nullptr, report, stream);
}

hipops_status hipops_index_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                               const hipops_tensor* index, int32_t dim, int64_t* bytes) {
  using namespace hipops;
  Tensors t{{y, x, index, dim}};
  hipops_tensor copy[3];
  const hipops_tensor** tensors[] = {&t.y, &t.x, &t.index};
  for (int i = 0; i < 3; ++i) {
    if (!*tensors[i]) continue;
    copy[i] = **tensors[i];
    // Data is not looked at. Here there is room for strides of either sign.
    copy[i].data = reinterpret_cast<void*>(uintptr_t{1} << 62);
    *tensors[i] = &copy[i];
  }
  if (hipops_status status = check(t)) return status;
  if (hipops_status status = check_bytes("index_add", bytes)) return status;
  *bytes = row_sums_bytes(t);
  return HIPOPS_SUCCESS;
}
