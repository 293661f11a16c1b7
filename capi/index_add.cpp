#include "index_add.h"

#include "index/indices.h"
#include "index/plan.h"
#include "kernel_names.h"
#include "tensor/error.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_INDEX_ADD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

struct Tensors : RowSums {
  Argument of_y() const { return {"index_add", "y", y}; }
  Argument of_x() const { return {"index_add", "x", x}; }
  Argument of_index() const { return {"index_add", "index", index}; }
};

// The checks that use no address. hipops_index_add_workspace_bytes makes them, too.
hipops_status check(const Tensors& t) {
  if (hipops_status status = check_output(t.of_y())) return status;
  if (hipops_status status = check_tensor(t.of_x())) return status;
  if (hipops_status status = check_index(t.of_index())) return status;
  if (hipops_status status = check_added(t.of_y())) return status;
  if (hipops_status status = check_same_dtype(t.of_x(), t.of_y())) return status;
  if (hipops_status status = check_rank(t.of_y(), 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_rank(t.of_index(), 1, 1)) return status;
  if (hipops_status status = check_dim("index_add", t.dim, t.of_y())) return status;
  if (hipops_status status = check_same_rank(t.of_x(), t.of_y())) return status;
  for (int d = 0; d < t.y->rank; ++d)
    if (d != t.dim)
      if (hipops_status status = check_same_size(t.of_x(), d, t.of_y(), d)) return status;
  return check_same_size(t.of_index(), 0, t.of_x(), t.dim);
}

hipops_status check_memory(const Tensors& t, const void* workspace, int64_t workspace_bytes, int64_t needed,
                           const hipops_index_report* report) {
  if (hipops_status status = check_overlap(t.of_y(), t.of_x())) return status;
  if (hipops_status status = check_overlap(t.of_y(), t.of_index())) return status;
  const auto tensors = {t.of_y(), t.of_x(), t.of_index()};
  if (hipops_status status = check_workspace("index_add", workspace, workspace_bytes, needed, tensors)) return status;
  return check_report("index_add", report, tensors, workspace, needed);
}

}  // namespace

Op op_index_add = {"index_add", kKernels, kKernelCount, sums_support};

}  // namespace hipops

hipops_status hipops_index_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                               void* workspace, int64_t workspace_bytes, hipops_index_report* report, void* stream) {
  using namespace hipops;
  const Tensors t{{y, x, index, dim}};
  if (hipops_status status = check(t)) return status;
  const SumsProblem problem = describe_sums(t);
  const SortPlan sort = plan_sort(problem);
  if (hipops_status status = check_memory(t, workspace, workspace_bytes, sort.bytes, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_index_add, &device)) return status;
  const PlanOptions options = plan_options();
  const SumsChoice choice = choose_sums(options, problem, sort, *device, workspace != nullptr);
  IndexAddArgs args{};
  return launch_sums(options, *device, t, resolve(choice, problem, sort, *device), workspace, report, &args, stream);
}

hipops_status hipops_index_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                               const hipops_tensor* index, int32_t dim, int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[3];
  const Tensors t{{without_data(y, &copy[0]), without_data(x, &copy[1]), without_data(index, &copy[2]), dim}};
  if (hipops_status status = check(t)) return status;
  if (hipops_status status = check_bytes("index_add", bytes)) return status;
  *bytes = plan_sort(describe_sums(t)).bytes;
  return HIPOPS_SUCCESS;
}
