#include "scatter_add.h"

#include <algorithm>

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

enum Mode { atomic, wide, few, line, widen, round, sparse, claim, uniform };

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

bool shows_order(const ScatterTensors& t, uint32_t flags) {
  return is_float(t.x->dtype) && (flags & HIPOPS_DETERMINISTIC) != 0;
}

// True if sums of lines have chunks (kernels/device/index/chunk_sums.h), which one work-item for each line cannot keep.
bool has_chunks(const ScatterTensors& t, uint32_t flags) {
  return shows_order(t, flags) && t.x->shape[t.dim] > kFewIndices;
}

// The bytes of f32 sums in the workspace. Only 16-bit types need them, as their own sums lose digits.
int64_t sum_bytes(const ScatterTensors& t, uint32_t flags) {
  return is_16_bit(t.x->dtype) && !has_chunks(t, flags) ? reach_bytes(t) : 0;
}

// The mode without f32 sums. The order of integer additions does not matter, so integers may use atomics.
Mode mode_in_place(const hipops_tensor& y, bool deterministic) {
  if (y.dtype == HIPOPS_U8) return line;
  if (!is_float(y.dtype)) return atomic;
  if (deterministic) return line;
  return is_16_bit(y.dtype) && !is_made_of_words(y) ? line : atomic;
}

constexpr int64_t shared_bytes_of_kept(int64_t vectors) {
  return vectors * (1 + kScatterVector) * int64_t{sizeof(float)};
}

int64_t most_shared(int kernel, uint32_t block) {
  const Variant& v = kVariants[kernel];
  if (block != 0 || v.sum != f32) return 0;
  return v.mode == few ? kFewSums * int64_t{sizeof(float)} : v.mode == wide ? shared_bytes_of_kept(kKeptVectors) : 0;
}

bool is_dense(const ScatterTensors& t, ScatterInto into) {
  return into == ScatterInto::kWorkspace || is_reach_dense(t);
}

bool adds_to_few(const ScatterTensors& t, ScatterInto into, const ScatterAtomics& atomics) {
  const int64_t reach = reach_of(t), sources = element_count(*t.x);
  int64_t row = 1;
  for (int d = t.dim + 1; d < t.x->rank; ++d) row *= t.x->shape[d];
  const bool scattered = row < atomics.past_scattered_row && sources >= atomics.least_scattered;
  const int64_t least = scattered ? atomics.scattered_sources_of_few : atomics.sources_of_few;
  return reach <= atomics.few_elements && sources / least >= reach && is_dense(t, into);
}

// Any element can have most of the sources. So blocks keep the vectors that they need first.
bool keeps_vectors(const ScatterTensors& t, ScatterInto into, const ScatterAtomics& atomics) {
  const int64_t sources = element_count(*t.x), reach = reach_of(t);
  return atomics.kept_vectors != 0 && sources >= atomics.least_of_kept && sources / atomics.sources_of_kept >= reach &&
         reach / kScatterVector < int64_t{UINT32_MAX} && is_dense(t, into);
}

void add_few(const ScatterTensors& t, int kernel, const ScatterAtomics& atomics, ScatterPlan* plan) {
  const bool in_vectors = allows_vectors(t, ScatterInto::kWorkspace);
  ScatterGeometry g = walk_sources(t, ScatterInto::kWorkspace, in_vectors ? kScatterVector : 1);
  g.few_elements = static_cast<int32_t>(reach_of(t));
  while (1 << g.copy_bits < kFewSumsCopies && int64_t{g.few_elements} << (g.copy_bits + 1) <= kFewSumsWords)
    ++g.copy_bits;
  plan->add(kernel, g, kScatterDepth, few_sums_block(atomics.launch_has_shared_memory));
  plan->limit_grids(static_cast<uint32_t>(atomics.blocks_of_few), plan->count - 1);
  if (atomics.launch_has_shared_memory)
    plan->launch[plan->count - 1].shared_bytes = static_cast<uint32_t>(sizeof(float)) * g.few_elements << g.copy_bits;
}

// True if index_add's `scan` adds the lines: in chunks, or in f32 without a workspace.
bool sums_by_lines(const ScatterTensors& t, uint32_t flags, bool with_workspace) {
  if (!shows_order(t, flags) || is_empty(*t.y)) return false;
  return has_chunks(t, flags) || (is_16_bit(t.x->dtype) && !with_workspace);
}

// Plans the launch that adds the sources to y or to the workspace: in order, or in parallel by atomics.
void add_sums(const ScatterTensors& t, ScatterInto into, Mode mode, const ScatterAtomics& atomics, ScatterPlan* plan) {
  const hipops_dtype dtype = added_as(t.x->dtype), sum = into == ScatterInto::kY ? dtype : f32;
  if (mode == line) return plan->add(find_kernel(dtype, sum, line), walk_lines(t, into, 1), 1);
  if (sum == f32 && adds_to_few(t, into, atomics)) return add_few(t, find_kernel(dtype, sum, few), atomics, plan);
  const bool has_vectors = sum == f32 || is_16_bit(sum);
  const bool in_vectors = has_vectors && reach_of(t) >= atomics.vectors_from && allows_vectors(t, into);
  ScatterGeometry g = walk_sources(t, into, in_vectors ? kScatterVector : 1);
  const bool keeps = in_vectors && sum == f32 && keeps_vectors(t, into, atomics);
  if (keeps) g.kept_vectors = static_cast<int32_t>(atomics.kept_vectors);
  plan->add(find_kernel(dtype, sum, in_vectors ? wide : atomic), g);
  if (!keeps) return;
  plan->limit_grids(static_cast<uint32_t>(atomics.blocks_of_kept), plan->count - 1);
  plan->launch[plan->count - 1].shared_bytes = static_cast<uint32_t>(shared_bytes_of_kept(g.kept_vectors));
}

// `sparse`: whether 16-bit sums in any order use it, and its part of the workspace, behind the sums.
struct Sparse {
  bool pays;
  int64_t vector;  // sources of a vector
  int64_t slots, targets;

  int64_t bytes() const { return pays ? slots / 8 * 2 + targets * int64_t{sizeof(uint32_t)} : 0; }
};

int64_t sparse_vector(const ScatterTensors& t) {
  return allows_vectors(t, ScatterInto::kY) && allows_vectors(t, ScatterInto::kWorkspace) ? kScatterVector : 1;
}

// Only shapes and strides decide, because the size of the workspace must not depend on addresses.
Sparse plan_sparse(PlanOptions options, const ScatterTensors& with_data, uint32_t flags) {
  const ScatterWithoutData shapes(with_data);
  const ScatterTensors& t = shapes.tensors();
  Sparse s{};
  if (!is_16_bit(t.x->dtype) || (flags & HIPOPS_DETERMINISTIC) != 0 || is_empty(*t.x) || is_empty(*t.y)) return s;
  const int64_t sources = element_count(*t.x), reach = reach_of(t);
  s.vector = sparse_vector(t);
  s.pays = pays_to_be_sparse(options, sources, reach, s.vector != 1) && is_reach_dense(t) &&
           t.y->shape[t.dim] < int64_t{ScatterSparse::kMixed};
  s.slots = 128;
  while (s.slots / 4 < sources && s.slots < reach) s.slots *= 2;
  s.targets = sources / s.vector;
  return s;
}

void add_sparse(const ScatterTensors& t, const Sparse& s, ScatterPlan* plan) {
  ScatterGeometry clear{}, sources = walk_sources(t, ScatterInto::kWorkspace, s.vector);
  clear.walk.count = s.slots / 8 * 2 / 16;
  for (int phase = kClearClaims; phase < kScatterPhases; ++phase) {
    ScatterGeometry g = phase == kClearClaims ? clear : sources;
    g.phase = static_cast<ScatterPhase>(phase);
    plan->add(phase <= kClaim ? find_kernel(u8, u8, claim) : find_kernel(t.x->dtype, f32, sparse), g);
  }
}

// The layout of the workspace if rows may be added whole: the result of comparing the indices, then either the sorted
// indices or the f32 sums. A call needs only one of the two.
constexpr int64_t kDiffer = 256, kRest = kDiffer + kUniformBlocks * int64_t{sizeof(uint32_t)};

int64_t needed_bytes(const ScatterTensors& t, uint32_t flags, const ScatterRows& rows, const Sparse& sparse) {
  if (rows.is_index_add) return rows.sort.bytes;
  const int64_t sums = sum_bytes(t, flags), more = sparse.bytes();
  if (!rows.compares) return sums > INT64_MAX - more ? INT64_MAX : sums + more;
  return std::max(rows.sort_at + rows.sort.bytes, kRest + sums);  // walk_index() allows at most 2^57 elements
}

constexpr Op* kAlso[] = {&op_index_add, nullptr};

}  // namespace

Op op_scatter_add = {"scatter_add", kKernels, kKernelCount, sums_support, most_shared, kAlso};

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
  const bool in_order = shows_order(t, flags) || t.x->dtype == HIPOPS_U8;
  rows.sort = plan_sort(rows.problem);
  if (is_expanded) {
    rows.is_index_add = in_order || sorts_instead_of_atomics(rows.problem, rows.sort, is_16_bit(t.x->dtype));
    return rows;
  }
  if (rows.sort.passes == 0 || !rows.problem.wide_row || !compares_indices(rows.problem, in_order)) return rows;
  rows.geometry = walk_index(shapes.tensors());
  if (rows.geometry.walk.count == 0) return rows;
  rows.compares = true;
  const int64_t firsts = rows.problem.indices * dtype_bytes(rows.index.dtype);
  rows.sort_at = kRest + (firsts + 255) / 256 * 256;
  const auto addresses = reinterpret_cast<uintptr_t>(t.y->data) | reinterpret_cast<uintptr_t>(t.x->data) |
                         reinterpret_cast<uintptr_t>(t.index->data);
  rows.possible = addresses % 16 == 0;
  return rows;
}

ScatterPlan plan_scatter_add(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace,
                             const ScatterAtomics& atomics) {
  const bool deterministic = (flags & HIPOPS_DETERMINISTIC) != 0;
  ScatterPlan plan{options};
  const Sparse s = plan_sparse(options, t, flags);
  if (with_workspace && s.pays && s.vector == sparse_vector(t)) {
    add_sparse(t, s, &plan);
  } else if (with_workspace && sum_bytes(t, flags) != 0) {
    const hipops_dtype dtype = t.x->dtype;
    const ScatterGeometry reach = walk_reach(t, false, reach_vector(t) >= kScatterVector ? kScatterVector : 1);
    plan.add(find_kernel(dtype, f32, widen), reach);
    add_sums(t, ScatterInto::kWorkspace, deterministic ? line : atomic, atomics, &plan);
    plan.add(find_kernel(dtype, f32, round), reach);
  } else {
    add_sums(t, ScatterInto::kY, mode_in_place(*t.y, deterministic), atomics, &plan);
  }
  return plan;
}

namespace {

hipops_status launch_one(const DeviceFacts& device, const ScatterLaunch& one, ScatterAddArgs* args, void* stream) {
  args->geometry = one.geometry;
  const LaunchShape shape = {one.grid, one.block, 1, one.shared_bytes};
  return launch(op_scatter_add, device, one.kernel, shape, args, sizeof *args, stream);
}

void set_report(const ScatterRows& rows, IndexAddArgs* args) {
  args->reported = static_cast<uint64_t>(rows.problem.row_elements);
  args->report_step = rows.report_step;
}

hipops_status add_as_index_add(const PlanOptions& options, const DeviceFacts& device, const ScatterTensors& t,
                               const ScatterRows& rows, void* workspace, hipops_index_report* report, void* stream) {
  const RowSums sums{t.y, t.x, &rows.index, t.dim};
  const SumsProblem problem = describe_sums(sums);
  const SortPlan sort = plan_sort(problem);  // rows.sort assumes aligned rows, and is at least as large
  const SumsChoice choice = choose_sums(options, problem, sort, device, workspace != nullptr);
  IndexAddArgs args{};
  set_report(rows, &args);
  const SumsPlan plan = resolve(choice, problem, sort, device);
  return launch_sums(options, device, sums, plan, workspace, report, &args, stream);
}

// Compares the indices and, if each row has one index, adds whole rows. Later launches load the result from
// args->rows_differ.
hipops_status try_rows(const PlanOptions& options, const DeviceFacts& device, const ScatterTensors& t,
                       const ScatterRows& rows, char* workspace, hipops_index_report* report, ScatterAddArgs* args,
                       void* stream) {
  ScatterPlan plan{options};
  plan.add(find_kernel(u8, u8, uniform), rows.geometry, kUniformDepth);
  plan.limit_grids(kUniformBlocks);
  const ScatterLaunch& compare = plan.launch[0];
  args->differ = reinterpret_cast<uint32_t*>(workspace + kDiffer);
  args->firsts = workspace + kRest;
  if (hipops_status status = launch_one(device, compare, args, stream)) return status;
  IndexAddArgs add{};
  set_report(rows, &add);
  add.sort.rows_differ = reinterpret_cast<uint32_t*>(workspace);
  add.sort.differ = args->differ;
  add.sort.differ_count = compare.grid;
  args->rows_differ = add.sort.rows_differ;
  hipops_tensor index = rows.index;
  index.data = args->firsts;
  const SumsPlan sums = resolve({SumsWay::sorted, 0}, rows.problem, rows.sort, device);
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
  const PlanOptions options = plan_options();
  const Sparse sparse = plan_sparse(options, t, flags);
  const int64_t needed = needed_bytes(t, flags, rows, sparse);
  const bool as_index_add = rows.is_index_add && (workspace || needed == 0 || shows_order(t, flags));
  if (hipops_status status = check_scatter_memory(t, workspace, workspace_bytes, needed, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_scatter_add, &device)) return status;
  if (as_index_add) return add_as_index_add(options, *device, t, rows, workspace, report, stream);
  ScatterAddArgs args{};
  args.index = index_args(*index, y->shape[dim], report);
  args.x = x->data;
  args.y = y->data;
  auto* space = static_cast<char*>(workspace);
  args.sums = reinterpret_cast<float*>(space && rows.compares ? space + kRest : space);
  if (space && sparse.pays) {
    args.sparse.slots = sparse.slots;
    args.sparse.claimed = reinterpret_cast<uint32_t*>(space + sum_bytes(t, flags));
    args.sparse.repeated = args.sparse.claimed + sparse.slots / 32;
    args.sparse.target = args.sparse.repeated + sparse.slots / 32;
  }
  ScatterPlan plan = plan_scatter_add(options, t, flags, workspace != nullptr, choose_atomics(options, *device));
  int64_t most_blocks = 0;
  if (space && rows.possible) {
    if (hipops_status status = try_rows(options, *device, t, rows, space, report, &args, stream)) return status;
    // These launches mostly have nothing left to do. Fewer blocks then finish sooner.
    most_blocks = device->units * sums_policy::kBlocksAfterRows;
    plan.limit_grids(static_cast<uint32_t>(most_blocks));
  }
  if (sums_by_lines(t, flags, workspace != nullptr))
    return launch_line_sums(options, *device, {y, x, index, dim}, most_blocks, args.rows_differ, report, stream);
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
  *bytes = needed_bytes(shapes.tensors(), flags, plan_scatter_rows(shapes.tensors(), flags),
                        plan_sparse(plan_options(), shapes.tensors(), flags));
  return HIPOPS_SUCCESS;
}
