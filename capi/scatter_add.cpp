#include "scatter_add.h"

#include <cinttypes>

#include "error.h"
#include "indices.h"
#include "kernel_names.h"
#include "runtime/runtime.h"
#include "scatter_plan.h"
#include "strided.h"
#include "tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_SCATTER_ADD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

enum Mode { atomic, line, widen, round };

struct Variant {
  hipops_dtype dtype, sum;
  Mode mode;
};

// The names that the list uses. Unsigned integers stand for signed ones too.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr hipops_dtype u8 = HIPOPS_U8, u32 = HIPOPS_U32, u64 = HIPOPS_U64;
#define VARIANT(name, dtype, sum, mode) {dtype, sum, mode},
constexpr Variant kVariants[] = {HIPOPS_SCATTER_ADD_KERNELS(VARIANT)};
#undef VARIANT

int find_kernel(hipops_dtype dtype, hipops_dtype sum, Mode mode) {
  int kernel = 0;
  while (kVariants[kernel].dtype != dtype || kVariants[kernel].sum != sum || kVariants[kernel].mode != mode) ++kernel;
  return kernel;
}

// The type that an element's bits are added as.
hipops_dtype added_as(hipops_dtype dtype) { return dtype == HIPOPS_I32 ? u32 : dtype == HIPOPS_I64 ? u64 : dtype; }

bool is_16_bit(hipops_dtype dtype) { return dtype == f16 || dtype == bf16; }

bool is_added(hipops_dtype dtype) {
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

bool supports(hipops_dtype dtype, hipops_dtype index) { return is_added(dtype) && index_op_supports_second(index); }

// Atomics on 16 bits are atomics on the aligned word around them, in which the other 16 bits must be y's as well. Seen
// here where y has an innermost dimension without gaps, of even length, and every row begins with a word.
bool is_made_of_words(const hipops_tensor& y) {
  Layout<1> layout;
  for (int d = y.rank - 1; d >= 0; --d) add_dimension(&layout, y.shape[d], {y.stride[d]});
  if (layout.rank == 0 || layout.stride[0][0] != 1 || layout.size[0] % 2 != 0 ||
      reinterpret_cast<uintptr_t>(y.data) % 4 != 0)
    return false;
  for (int d = 1; d < layout.rank; ++d)
    if (layout.stride[0][d] % 2 != 0) return false;
  return true;
}

hipops_status check(const ScatterTensors& t, uint32_t flags) {
  if (hipops_status status = check_scatter(t, flags)) return status;
  if (is_added(t.x->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64", t.op,
              dtype_name(t.x->dtype));
}

// f32 sums, for types that lose digits as they add up.
int64_t sum_bytes(const ScatterTensors& t) { return is_16_bit(t.x->dtype) ? reach_bytes(t) : 0; }

// How the sources are added in y: integers don't show the order.
Mode mode_in_place(const hipops_tensor& y, bool deterministic) {
  if (y.dtype == HIPOPS_U8) return line;
  if (!is_float(y.dtype)) return atomic;
  if (deterministic) return line;
  return is_16_bit(y.dtype) && !is_made_of_words(y) ? line : atomic;
}

// Adds the sources to y or to the workspace: in order, or all at once.
void add_sums(const ScatterTensors& t, ScatterInto into, Mode mode, ScatterPlan* plan) {
  const hipops_dtype dtype = added_as(t.x->dtype);
  const int kernel = find_kernel(dtype, into == ScatterInto::kY ? dtype : f32, mode);
  if (mode == line) plan->add(kernel, walk_lines(t, into, 1), 1);
  else plan->add(kernel, walk_sources(t, into, 1));
}

}  // namespace

Op op_scatter_add = {"scatter_add", kKernels, kKernelCount, supports};

ScatterPlan plan_scatter_add(const ScatterTensors& t, uint32_t flags, bool with_workspace) {
  const bool deterministic = (flags & HIPOPS_DETERMINISTIC) != 0;
  ScatterPlan plan;
  if (with_workspace && sum_bytes(t) != 0) {
    const hipops_dtype dtype = t.x->dtype;
    const int64_t wide = 16 / dtype_bytes(dtype);
    const ScatterGeometry reach = walk_reach(t, false, reach_vector(t) == wide ? wide : 1);
    plan.add(find_kernel(dtype, f32, widen), reach);
    add_sums(t, ScatterInto::kWorkspace, deterministic ? line : atomic, &plan);
    plan.add(find_kernel(dtype, f32, round), reach);
  } else {
    add_sums(t, ScatterInto::kY, mode_in_place(*t.y, deterministic), &plan);
  }
  return plan;
}

}  // namespace hipops

hipops_status hipops_scatter_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                 int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                 hipops_index_report* report, void* stream) {
  using namespace hipops;
  const ScatterTensors t{"scatter_add", y, x, index, dim};
  if (hipops_status status = check(t, flags)) return status;
  const int64_t needed = sum_bytes(t);
  if ((flags & HIPOPS_DETERMINISTIC) != 0 && needed != 0 && !workspace)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "scatter_add: workspace is NULL, expected %" PRId64 " bytes (HIPOPS_DETERMINISTIC with %s)", needed,
                dtype_name(x->dtype));
  if (hipops_status status = check_scatter_memory(t, workspace, workspace_bytes, needed, report)) return status;
  if (element_count(*x) == 0) return HIPOPS_SUCCESS;

  ScatterAddArgs args{};
  args.index = index_args(*index, y->shape[dim], report);
  args.x = x->data;
  args.y = y->data;
  args.sums = static_cast<float*>(workspace);
  const ScatterPlan plan = plan_scatter_add(t, flags, workspace != nullptr);
  for (int i = 0; i < plan.count; ++i) {
    args.geometry = plan.launch[i].geometry;
    if (hipops_status status = launch(op_scatter_add, plan.launch[i].kernel, plan.launch[i].grid, kScatterBlock, &args,
                                      sizeof args, stream))
      return status;
  }
  return HIPOPS_SUCCESS;
}

hipops_status hipops_scatter_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                 const hipops_tensor* index, int32_t dim, uint32_t flags,
                                                 int64_t* bytes) {
  using namespace hipops;
  const ScatterWithoutData shapes({"scatter_add", y, x, index, dim});
  if (hipops_status status = check(shapes.tensors(), flags)) return status;
  if (hipops_status status = check_bytes("scatter_add", bytes)) return status;
  *bytes = sum_bytes(shapes.tensors());
  return HIPOPS_SUCCESS;
}
