#include "reduce.h"

#include <cinttypes>

#include "kernel_names.h"
#include "reduce/plan.h"
#include "rows/checks.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_REDUCE_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

bool supports(hipops_dtype dtype, hipops_dtype second) { return second == HIPOPS_NONE && is_float(dtype); }

struct Tensors : ReduceProblem {
  Argument y_argument() const { return {"reduce", "y", y}; }
  Argument x_argument() const { return {"reduce", "x", x}; }
};

// y has x's shape without the reduced dimensions, or with size 1 there. Sets of_x.
hipops_status check_shape(Tensors* t) {
  const hipops_tensor &y = *t->y, &x = *t->x;
  const bool keeps = y.rank == x.rank;
  int kept = 0;
  for (int d = 0; d < x.rank; ++d)
    if (keeps || !(t->dims >> d & 1)) t->of_x[kept++] = d;
  if (y.rank != kept)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "reduce: y.rank is %d, expected %d (without the dimensions of dims) or %d (x.rank)", y.rank, kept,
                x.rank);
  for (int d = 0; d < kept; ++d) {
    if (!(t->dims >> t->of_x[d] & 1)) {
      if (hipops_status status = check_same_size(t->y_argument(), d, t->x_argument(), t->of_x[d])) return status;
    } else if (y.shape[d] != 1) {
      return fail(HIPOPS_INVALID_ARGUMENT, "reduce: y.shape[%d] is %" PRId64 ", expected 1 (dims has dimension %d)", d,
                  y.shape[d], d);
    }
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_dtype(const Tensors& t) {
  if (is_position(t.reduction)) return check_index_dtype(t.y_argument(), is_empty(*t.x) ? 0 : reduced_count(t) - 1);
  if (t.x->dtype == HIPOPS_F64) return check_same_dtype(t.y_argument(), t.x_argument());
  return check_same_dtype_or_f32(t.y_argument(), t.x_argument());
}

// A greatest or least element exists.
hipops_status check_elements(const Tensors& t) {
  const char* const names[] = {"SUM", "MEAN", "MAX", "MIN", "LOGSUMEXP", "ARGMAX", "ARGMIN"};
  const bool is_extreme = t.reduction == HIPOPS_REDUCE_MAX || t.reduction == HIPOPS_REDUCE_MIN;
  const bool needs_elements = is_extreme || is_position(t.reduction);
  for (int d = 0; d < t.x->rank && needs_elements && !is_empty(*t.y); ++d)
    if (t.x->shape[d] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "reduce: x.shape[%d] is 0, expected 1 or more (HIPOPS_REDUCE_%s)", d,
                  names[t.reduction]);
  return HIPOPS_SUCCESS;
}

// The checks that use no address. hipops_reduce_workspace_bytes makes them, too.
hipops_status check(Tensors* t, uint32_t flags) {
  if (hipops_status status = check_flags("reduce", flags)) return status;
  if (hipops_status status = check_output(t->y_argument())) return status;
  if (hipops_status status = check_tensor(t->x_argument())) return status;
  if (hipops_status status = check_float(t->x_argument())) return status;
  if (t->reduction < HIPOPS_REDUCE_SUM || t->reduction > HIPOPS_REDUCE_ARGMIN)
    return fail(HIPOPS_INVALID_ARGUMENT, "reduce: reduction is %d, expected a hipops_reduction from 0 to %d",
                static_cast<int>(t->reduction), HIPOPS_REDUCE_ARGMIN);
  if (t->dims >> t->x->rank != 0)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "reduce: dims is 0x%x, expected less than 0x%x, a bit for each dimension (x.rank is %d)", t->dims,
                1u << t->x->rank, t->x->rank);
  if (hipops_status status = check_dtype(*t)) return status;
  if (hipops_status status = check_shape(t)) return status;
  return check_elements(*t);
}

}  // namespace

Op op_reduce = {"reduce", kKernels, kKernelCount, supports};

}  // namespace hipops

hipops_status hipops_reduce(const hipops_tensor* y, const hipops_tensor* x, hipops_reduction reduction, uint32_t dims,
                            uint32_t flags, void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  Tensors t{{y, x, dims, reduction, (flags & HIPOPS_BATCH_INVARIANT) != 0, {}}};
  if (hipops_status status = check(&t, flags)) return status;
  if (hipops_status status = check_overlap(t.y_argument(), t.x_argument())) return status;
  const int64_t needed = reduce_workspace_bytes(t);
  const auto tensors = {t.y_argument(), t.x_argument()};
  if (hipops_status status = check_workspace("reduce", workspace, workspace_bytes, needed, tensors)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_reduce, &device)) return status;
  return launch_reduce(plan_reduce(plan_options(), t, *device, workspace), *device, stream);
}

hipops_status hipops_reduce_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x, hipops_reduction reduction,
                                            uint32_t dims, uint32_t flags, int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[2];
  Tensors t{{without_data(y, &copy[0]), without_data(x, &copy[1]), dims, reduction, (flags & HIPOPS_BATCH_INVARIANT) != 0, {}}};
  if (hipops_status status = check(&t, flags)) return status;
  if (hipops_status status = check_bytes("reduce", bytes)) return status;
  *bytes = reduce_workspace_bytes(t);
  return HIPOPS_SUCCESS;
}
