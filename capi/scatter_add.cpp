#include "scatter_add.h"

#include <algorithm>
#include <cinttypes>

#include "tensor/error.h"
#include "index_add.h"
#include "index/indices.h"
#include "kernel_names.h"
#include "policy/default_sums.h"
#include "runtime/runtime.h"
#include "move/scatter_plan.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_SCATTER_ADD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

enum Mode { atomic, wide, line, widen, round, uniform };

struct Variant {
  hipops_dtype dtype, sum;
  Mode mode;
};

#define VARIANT(name, dtype, sum, mode) {dtype, sum, mode},
constexpr Variant kVariants[] = {HIPOPS_SCATTER_ADD_KERNELS(VARIANT)};
#undef VARIANT

int find_kernel(hipops_dtype dtype, hipops_dtype sum, Mode mode) {
  return place_of(kVariants, [&](const Variant& v) { return v.dtype == dtype && v.sum == sum && v.mode == mode; });
}

bool is_16_bit(hipops_dtype dtype) { return dtype == f16 || dtype == bf16; }

// A 16-bit atomic is an atomic on the aligned 4-byte word around the element. The other half of the word must belong to
// y, too. This holds if y's innermost dimension is contiguous and of even length, and every row begins at a word.
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
  return check_added({t.op, "x", t.x});
}

// The bytes of f32 sums in the workspace. Only 16-bit types need them, as their own sums lose digits.
int64_t sum_bytes(const ScatterTensors& t) { return is_16_bit(t.x->dtype) ? reach_bytes(t) : 0; }

// The mode without f32 sums. The order of integer additions does not matter, so integers may use atomics.
Mode mode_in_place(const hipops_tensor& y, bool deterministic) {
  if (y.dtype == HIPOPS_U8) return line;
  if (!is_float(y.dtype)) return atomic;
  if (deterministic) return line;
  return is_16_bit(y.dtype) && !is_made_of_words(y) ? line : atomic;
}

// Plans the launch that adds the sources to y or to the workspace: in order, or in parallel by atomics.
void add_sums(const ScatterTensors& t, ScatterInto into, Mode mode, int64_t vectors_from, ScatterPlan* plan) {
  const hipops_dtype dtype = added_as(t.x->dtype), sum = into == ScatterInto::kY ? dtype : f32;
  if (mode == line) return plan->add(find_kernel(dtype, sum, line), walk_lines(t, into, 1), 1);
  const bool has_vectors = sum == f32 || is_16_bit(sum);
  const bool in_vectors = has_vectors && reach_of(t) >= vectors_from && allows_vectors(t, into);
  plan->add(find_kernel(dtype, sum, in_vectors ? wide : atomic),
            walk_sources(t, into, in_vectors ? kScatterVector : 1));
}

// The layout of the workspace if rows may be added whole: the result of comparing the indices, then either the sorted
// indices or the f32 sums. A call needs only one of the two.
constexpr int64_t kDiffer = 256, kRest = kDiffer + kUniformBlocks * int64_t{sizeof(uint32_t)};

int64_t needed_bytes(const ScatterTensors& t, const ScatterRows& rows) {
  if (rows.is_index_add) return rows.sorts.bytes;
  if (rows.sort.bytes == 0) return sum_bytes(t);
  return std::max(rows.sort_at + rows.sort.bytes, kRest + sum_bytes(t));  // walk_index() allows at most 2^57 elements
}

}  // namespace

Op op_scatter_add = {"scatter_add", kKernels, kKernelCount, sums_support, nullptr, &op_index_add};

ScatterRows plan_scatter_rows(const ScatterTensors& t, uint32_t flags) {
  ScatterRows rows{};
  if (is_empty(*t.x) || is_empty(*t.y)) return rows;
  bool is_expanded = true;
  rows.report_step = 1;
  for (int d = 0; d < t.x->rank; ++d) {
    if (d != t.dim && t.x->shape[d] > 1 && t.index->stride[d] != 0) is_expanded = false;
    if (d > t.dim) rows.report_step *= t.x->shape[d];
  }
  rows.index = *t.index;
  rows.index.rank = 1;
  rows.index.shape[0] = t.x->shape[t.dim];
  rows.index.stride[0] = is_expanded ? t.index->stride[t.dim] : 1;
  // The size of the workspace must not depend on addresses.
  const ScatterWithoutData shapes(t);
  rows.problem = describe_sums({shapes.tensors().y, shapes.tensors().x, &rows.index, t.dim});
  const bool shows_order = is_float(t.x->dtype) && (flags & HIPOPS_DETERMINISTIC) != 0;
  const bool in_order = shows_order || t.x->dtype == HIPOPS_U8;
  rows.sorts = plan_sorts(rows.problem);
  if (is_expanded) {
    rows.is_index_add = in_order || sorts_instead_of_atomics(rows.problem, rows.sorts, is_16_bit(t.x->dtype));
    return rows;
  }
  rows.longest = longest_segment(rows.problem, in_order);
  if (rows.longest == 0 || !rows.problem.wide_rows) return rows;
  rows.geometry = walk_index(shapes.tensors());
  if (rows.geometry.walk.count == 0) return rows;
  rows.sort = rows.sorts.apart;
  const int64_t firsts = rows.problem.indices * dtype_bytes(rows.index.dtype);
  rows.sort_at = kRest + (firsts + 255) / 256 * 256;
  const auto addresses = reinterpret_cast<uintptr_t>(t.y->data) | reinterpret_cast<uintptr_t>(t.x->data) |
                         reinterpret_cast<uintptr_t>(t.index->data);
  rows.possible = rows.sort.bytes != 0 && addresses % 16 == 0;
  return rows;
}

ScatterPlan plan_scatter_add(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace,
                             int64_t vectors_from) {
  const bool deterministic = (flags & HIPOPS_DETERMINISTIC) != 0;
  ScatterPlan plan{options};
  if (with_workspace && sum_bytes(t) != 0) {
    const hipops_dtype dtype = t.x->dtype;
    const int64_t wide = 16 / dtype_bytes(dtype);
    const ScatterGeometry reach = walk_reach(t, false, reach_vector(t) == wide ? wide : 1);
    plan.add(find_kernel(dtype, f32, widen), reach);
    add_sums(t, ScatterInto::kWorkspace, deterministic ? line : atomic, vectors_from, &plan);
    plan.add(find_kernel(dtype, f32, round), reach);
  } else {
    add_sums(t, ScatterInto::kY, mode_in_place(*t.y, deterministic), vectors_from, &plan);
  }
  return plan;
}

namespace {

hipops_status launch_one(const DeviceFacts& device, const ScatterLaunch& one, ScatterAddArgs* args, void* stream) {
  args->geometry = one.geometry;
  return launch(op_scatter_add, device, one.kernel, {one.grid, kScatterBlock}, args, sizeof *args, stream);
}

void set_report(const ScatterRows& rows, IndexAddArgs* args) {
  args->reported = static_cast<uint64_t>(rows.problem.row_elements);
  args->report_step = rows.report_step;
}

hipops_status add_as_index_add(const PlanOptions& options, const DeviceFacts& device, const ScatterTensors& t, const ScatterRows& rows, void* workspace,
                               hipops_index_report* report, void* stream) {
  const RowSums sums{t.y, t.x, &rows.index, t.dim};
  const SumsProblem problem = describe_sums(sums);
  const SumsChoice choice = choose_sums(options, problem, rows.sorts, device, workspace != nullptr);
  IndexAddArgs args{};
  set_report(rows, &args);
  return launch_sums(options, device, sums, resolve(options, choice, problem, device), workspace, report, &args, stream);
}

// Compares the indices and, if each row has one index, adds whole rows. Later launches read the result from args->rows.
hipops_status try_rows(const PlanOptions& options, const DeviceFacts& device, const ScatterTensors& t, const ScatterRows& rows, char* workspace,
                       hipops_index_report* report, ScatterAddArgs* args, void* stream) {
  IndexAddArgs add{};
  hipops_tensor index = rows.index;
  add.order.state = reinterpret_cast<uint32_t*>(workspace);
  add.order.longest = rows.longest;
  set_report(rows, &add);
  ScatterPlan plan{options};
  plan.add(find_kernel(u8, u8, uniform), rows.geometry, kUniformDepth);
  plan.limit_grids(kUniformBlocks);
  const ScatterLaunch& find_out = plan.launch[0];
  args->differ = reinterpret_cast<uint32_t*>(workspace + kDiffer);
  args->firsts = workspace + kRest;
  if (hipops_status status = launch_one(device, find_out, args, stream)) return status;
  add.order.differ = args->differ;
  add.order.differs = find_out.grid;
  index.data = args->firsts;
  args->rows = reinterpret_cast<const ScatterRowsState*>(workspace);
  const SumsPlan sums = resolve(options, choose_apart(rows.problem, rows.sort), rows.problem, device);
  return launch_sums(options, device, {t.y, t.x, &index, t.dim}, sums, workspace + rows.sort_at, report, &add, stream);
}

}  // namespace
}  // namespace hipops

hipops_status hipops_scatter_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index,
                                 int32_t dim, uint32_t flags, void* workspace, int64_t workspace_bytes,
                                 hipops_index_report* report, void* stream) {
  using namespace hipops;
  const ScatterTensors t{"scatter_add", y, x, index, dim};
  if (hipops_status status = check(t, flags)) return status;
  const ScatterRows rows = plan_scatter_rows(t, flags);
  const int64_t needed = needed_bytes(t, rows);
  const bool as_index_add = rows.is_index_add && (workspace || needed == 0);
  if ((flags & HIPOPS_DETERMINISTIC) != 0 && sum_bytes(t) != 0 && !workspace && !as_index_add)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "scatter_add: workspace is NULL, expected %" PRId64 " bytes (HIPOPS_DETERMINISTIC with %s)", needed,
                dtype_name(x->dtype));
  if (hipops_status status = check_scatter_memory(t, workspace, workspace_bytes, needed, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_scatter_add, &device)) return status;
  const PlanOptions options = plan_options();
  if (as_index_add) return add_as_index_add(options, *device, t, rows, workspace, report, stream);
  ScatterAddArgs args{};
  args.index = index_args(*index, y->shape[dim], report);
  args.x = x->data;
  args.y = y->data;
  auto* space = static_cast<char*>(workspace);
  args.sums = reinterpret_cast<float*>(space && rows.sort.bytes != 0 ? space + kRest : space);
  // If the indices of a row differ, vectors of sources have different indices too, so vectors are not tried.
  const bool tries_rows = space && rows.possible;
  const int64_t vectors_from = tries_rows ? INT64_MAX : vector_atomics_from(options, *device);
  ScatterPlan plan = plan_scatter_add(options, t, flags, workspace != nullptr, vectors_from);
  if (tries_rows) {
    if (hipops_status status = try_rows(options, *device, t, rows, space, report, &args, stream)) return status;
    // These launches mostly have nothing left to do. Fewer blocks then finish sooner.
    plan.limit_grids(static_cast<uint32_t>(4 * device->units * sums_policy::kResidentBlocks));
  }
  for (int i = 0; i < plan.count; ++i)
    if (hipops_status status = launch_one(*device, plan.launch[i], &args, stream)) return status;
  return HIPOPS_SUCCESS;
}

hipops_status hipops_scatter_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                                 const hipops_tensor* index, int32_t dim, uint32_t flags,
                                                 int64_t* bytes) {
  using namespace hipops;
  const ScatterWithoutData shapes({"scatter_add", y, x, index, dim});
  if (hipops_status status = check(shapes.tensors(), flags)) return status;
  if (hipops_status status = check_bytes("scatter_add", bytes)) return status;
  *bytes = needed_bytes(shapes.tensors(), plan_scatter_rows(shapes.tensors(), flags));
  return HIPOPS_SUCCESS;
}
