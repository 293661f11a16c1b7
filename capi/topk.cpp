#include "topk.h"

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <utility>

#include "kernel_names.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

constexpr const char* kName = "topk";
constexpr const char* kKernels[] = {HIPOPS_TOPK_KERNELS(HIPOPS_KERNEL_NAME)};

enum Mode { wave, block, merge, many, sort_runs, merge_runs };
struct Variant {
  int bits;
  Mode mode;
  int64_t most_k;
};
#define VARIANT(name, bits, mode, k) {bits, mode, k},
constexpr Variant kVariants[] = {HIPOPS_TOPK_KERNELS(VARIANT)};
#undef VARIANT

struct Call {
  const hipops_tensor *values, *indices, *x, *lengths, *row_begin;
  int64_t k;
  uint32_t flags;

  Argument of_values() const { return {kName, "values", values}; }
  Argument of_indices() const { return {kName, "indices", indices}; }
  Argument of_x() const { return {kName, "x", x}; }
  Argument of_lengths() const { return {kName, "lengths", lengths}; }
  Argument of_begin() const { return {kName, "row_begin", row_begin}; }
  int64_t columns() const { return x->shape[x->rank - 1]; }
  int64_t rows() const { return element_count(*x) / columns(); }  // of an x with elements
  int64_t bytes() const { return dtype_bytes(x->dtype); }
  bool is_sorted() const { return (flags & HIPOPS_SORTED) != 0; }
};

// ---- Check

hipops_status check_signed(const Argument& a) {
  if (a.tensor->dtype == HIPOPS_I64 || a.tensor->dtype == HIPOPS_I32) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "topk: %s.dtype is %s, expected i64 or i32", a.name, dtype_name(a.tensor->dtype));
}

// x's shape with k as the last size.
hipops_status check_results(const Argument& a, const Call& c) {
  const int last = c.x->rank - 1;
  if (hipops_status status = check_same_rank(a, c.of_x())) return status;
  for (int d = 0; d < last; ++d)
    if (hipops_status status = check_same_size(a, d, c.of_x(), d)) return status;
  if (a.tensor->shape[last] == c.k) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "topk: %s.shape[%d] is %" PRId64 ", expected %" PRId64 " (k)", a.name, last,
              a.tensor->shape[last], c.k);
}

hipops_status check_x(const Call& c) {
  if (hipops_status status = check_tensor(c.of_x())) return status;
  if (hipops_status status = check_float_but_f64(c.of_x())) return status;
  if (hipops_status status = check_rank(c.of_x(), 1, HIPOPS_MAX_RANK)) return status;
  using S = SelectLimits;
  if (c.k < 1 || c.k > S::kMostK)
    return fail(HIPOPS_INVALID_ARGUMENT, "topk: k is %" PRId64 ", expected 1 to %" PRId64, c.k, S::kMostK);
  const int last = c.x->rank - 1;
  if (c.k > c.columns())
    return fail(HIPOPS_INVALID_ARGUMENT, "topk: k is %" PRId64 ", expected at most %" PRId64 " (x.shape[%d])", c.k,
                c.columns(), last);
  if (c.columns() > S::kMostColumns)
    return fail(HIPOPS_INVALID_ARGUMENT, "topk: x.shape[%d] is %" PRId64 ", expected at most %" PRId64, last,
                c.columns(), S::kMostColumns);
  return HIPOPS_SUCCESS;
}

// The checks that use no address. hipops_topk_workspace_bytes makes them, too.
hipops_status check(const Call& c) {
  if (hipops_status status = check_flags(
          kName, c.flags, HIPOPS_SMALLEST | HIPOPS_SORTED | HIPOPS_WINDOW_INDICES | HIPOPS_BATCH_INVARIANT,
          "HIPOPS_SMALLEST (0x100), HIPOPS_SORTED (0x200), HIPOPS_WINDOW_INDICES (0x400) and "
          "HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (hipops_status status = check_x(c)) return status;
  if (hipops_status status = check_output(c.of_indices())) return status;
  if (hipops_status status = check_index_dtype(c.of_indices(), c.columns() - 1)) return status;
  if (hipops_status status = check_results(c.of_indices(), c)) return status;
  if (c.values) {
    if (hipops_status status = check_output(c.of_values())) return status;
    if (hipops_status status = check_same_dtype(c.of_values(), c.of_x())) return status;
    if (hipops_status status = check_results(c.of_values(), c)) return status;
  }
  for (const Argument& of_rows : {c.of_lengths(), c.of_begin()}) {
    if (!of_rows.tensor) continue;
    if (hipops_status status = check_tensor(of_rows)) return status;
    if (hipops_status status = check_signed(of_rows)) return status;
    if (hipops_status status = check_shape_of_rows(of_rows, c.of_x())) return status;
  }
  return HIPOPS_SUCCESS;
}

// ---- Plan. Shapes and alignment alone decide it.

// Elements of a row's vectors: of a row that begins anywhere, also those before its first element.
int64_t elements_loaded(const Call& c, bool is_whole) {
  return c.columns() + (is_whole || step_of(*c.x, c.x->rank - 1) != 1 ? 0 : kWideAccess / c.bytes() - 1);
}

bool are_whole(const hipops_tensor& x) {
  uint64_t bits = bits_of(x.data);
  for (int d = 0; d < x.rank - 1; ++d) bits |= bits_of(step_of(x, d) * dtype_bytes(x.dtype));
  return widest_access(bits) == kWideAccess;
}

bool has_waves(const Call& c, bool is_whole) {
  return c.k <= kMostWaveK && elements_loaded(c, is_whole) <= kMostWaveColumns;
}

// Parts store sorted runs, which all blocks merge.
bool has_runs(const Call& c) { return c.k > kFewK && c.is_sorted(); }

struct Parts {
  int64_t count, columns;
};
Parts parts_of(const Call& c, bool is_whole) {
  using S = SelectLimits;
  const int64_t tiles = divided_up(elements_loaded(c, is_whole), kTile);
  const Parts one{1, tiles * kTile};
  if (c.k > kManyK || has_waves(c, is_whole)) return one;
  int64_t most = std::min(tiles, S::kBlocks / c.rows());
  // `merge`: one block selects among k candidates of each part. They are no more than the columns of a part.
  const int64_t square = has_runs(c) ? std::max(S::kRuns * S::kRuns, c.columns() / S::kRunColumns) : c.columns() / c.k;
  while (most * most > square) most -= most / 8 + 1;
  if (most < 2) return one;
  const int64_t of_part = divided_up(tiles, most);
  return {divided_up(tiles, of_part), of_part * kTile};
}

// Most parts have a few more candidates than k, and need not look for the k best.
int64_t candidates_of_part(const Call& c) { return c.k <= kFewK ? c.k + c.k / 2 + 8 : c.k; }

int64_t candidate_bytes(const Call& c, const Parts& parts) {
  return parts.count == 1 ? 0 : c.rows() * parts.count * (candidates_of_part(c) + 1) * int64_t{sizeof(SortEntry)};
}

int64_t workspace_bytes_of(const Call& c) {
  if (is_empty(*c.x)) return 0;
  if (c.k > kManyK) return c.is_sorted() ? c.rows() * c.k * int64_t{sizeof(SortEntry)} : 0;
  return std::max(candidate_bytes(c, parts_of(c, false)), candidate_bytes(c, parts_of(c, true)));
}

int find_kernel(Mode mode, int64_t bytes, int64_t k) {
  return place_of(kVariants, [=](const Variant& v) {
    return v.mode == mode && (v.bits == 8 * bytes || mode == merge || mode > many) && (k <= v.most_k || v.most_k == 0);
  });
}

Walk<kSelectOperands> rows_of(const Call& c) {
  const auto step = [](const hipops_tensor* t, int d) { return t ? step_of(*t, d) : 0; };
  Layout<kSelectOperands> layout;
  for (int d = c.x->rank - 2; d >= 0; --d)
    add_dimension(&layout, c.x->shape[d], {step(c.values, d), step(c.indices, d), step(c.x, d), step(c.lengths, d),
                                           step(c.row_begin, d)});
  return walk_of(layout);
}

void set_format(const Call& c, TopkArgs* args) {
  const bool is_smallest = (c.flags & HIPOPS_SMALLEST) != 0;
  args->infinity = c.x->dtype == HIPOPS_F16 ? 0x7c000000 : 0x7f800000;
  args->flip = is_smallest ? 0x80000000 : 0;
  // 1 is the least key, so NaN is greater than all numbers in both orders.
  args->nan_key = is_smallest ? 1 : c.bytes() == 2 ? UINT16_MAX : UINT32_MAX;
  args->pad_value = (args->infinity | (is_smallest ? 0 : 0x80000000)) >> (32 - 8 * c.bytes());
  args->value_bytes = static_cast<int32_t>(c.bytes());
}

TopkArgs arguments_of(const Call& c) {
  const int last = c.x->rank - 1;
  TopkArgs args{};
  args.rows = rows_of(c);
  args.x = c.x->data;
  args.indices = c.indices->data;
  args.columns = c.columns();
  args.x_step = c.columns() == 1 ? 1 : c.x->stride[last];
  args.indices_step = c.indices->stride[last];
  if (c.values) args.values = c.values->data, args.values_step = c.values->stride[last];
  if (c.lengths) args.lengths = c.lengths->data, args.lengths_are_64 = c.lengths->dtype == HIPOPS_I64;
  if (c.row_begin) args.row_begin = c.row_begin->data, args.begin_is_64 = c.row_begin->dtype == HIPOPS_I64;
  args.index_bytes = dtype_bytes(c.indices->dtype);
  args.k = static_cast<int32_t>(c.k);
  args.parts = 1;
  args.run_blocks = kSortRun / kSelectBlock;
  args.part_columns = c.columns();
  args.is_sorted = c.is_sorted();
  args.most_listed = c.is_sorted() ? std::max(args.k, kFewK) : args.k;  // ranks are counted among up to kFewK elements
  args.in_window = (c.flags & HIPOPS_WINDOW_INDICES) != 0;
  set_format(c, &args);
  return args;
}

}  // namespace

Op op_topk = {kName, kKernels, std::size(kKernels), supports_floats_alone_but_f64};

namespace {

// Launches one after another, with the same arguments except for their loops.
struct Launcher {
  const Call& call;
  const PlanOptions options;
  const DeviceFacts& device;
  TopkArgs args;
  void* stream;

  // A block has `of_block` of the units at a time.
  hipops_status operator()(Mode mode, int64_t units, int64_t of_block) {
    const uint32_t grid = options.grid_for(divided_up(units, of_block) * kSelectBlock, kSelectBlock);
    args.units = units;
    args.step = grid * of_block;
    const int kernel = find_kernel(mode, call.bytes(), call.k);
    return launch(op_topk, device, kernel, {grid, kSelectBlock}, &args, sizeof args, stream);
  }
};

// A row has parts, or runs of entries: each has up to of_part of the row's of_row candidates or entries.
void set_parts(TopkArgs* args, int64_t parts, int64_t of_part, int64_t of_row) {
  args->parts = parts;
  args->parts_divisor = wide_divisor_of(parts);
  args->of_part = static_cast<int32_t>(of_part);
  args->of_row = of_row;
}

hipops_status launch_parts(Launcher& run, const Parts& parts, void* workspace) {
  const int64_t rows = run.call.rows(), of_part = candidates_of_part(run.call), of_row = parts.count * of_part;
  set_parts(&run.args, parts.count, of_part, of_row);
  run.args.part_columns = parts.columns;
  uint32_t* const of_parts = reinterpret_cast<uint32_t*>(static_cast<SortEntry*>(workspace) + rows * of_row);
  // If a row has few vectors for each of the k elements, its bounds would be too low.
  if (run.call.k > kFewK && run.call.k * 2 * kWideAccess / run.call.bytes() <= run.call.columns()) {
    run.args.bounds = of_parts;
    run.args.finds_bounds = true;
    if (hipops_status status = run(block, rows * parts.count, 1)) return status;
    run.args.finds_bounds = false;
    run.args.run_entries = of_parts + rows * parts.count;
    run.args.run_blocks = 1;  // most runs are short
  }
  if (has_runs(run.call)) {
    run.args.entries = static_cast<SortEntry*>(workspace);
    if (hipops_status status = run(block, rows * parts.count, 1)) return status;
    return run(merge_runs, rows * parts.count * run.args.run_blocks, 1);
  }
  run.args.keys = static_cast<uint32_t*>(workspace);
  run.args.places = run.args.keys + rows * of_row;
  const int32_t most_listed = std::exchange(run.args.most_listed, run.args.of_part);
  if (hipops_status status = run(block, rows * parts.count, 1)) return status;
  run.args.most_listed = most_listed;
  return run(merge, rows, 1);
}

hipops_status launch_many(Launcher& run, void* workspace) {
  const int64_t rows = run.call.rows(), runs = divided_up(run.call.k, kSortRun);
  if (run.call.is_sorted()) run.args.entries = static_cast<SortEntry*>(workspace);
  if (hipops_status status = run(many, rows, 1)) return status;
  if (!run.call.is_sorted()) return HIPOPS_SUCCESS;
  set_parts(&run.args, runs, kSortRun, run.call.k);
  if (hipops_status status = run(sort_runs, rows * runs, 1)) return status;
  return run(merge_runs, rows * runs * run.args.run_blocks, 1);
}

hipops_status check_memory(const Call& c, void* workspace, int64_t workspace_bytes) {
  for (const Argument& output : {c.of_indices(), c.of_values()})
    for (const Argument& input : {c.of_x(), c.of_lengths(), c.of_begin()})
      if (hipops_status status = check_apart(output, input)) return status;
  if (hipops_status status = check_apart(c.of_values(), c.of_indices())) return status;
  const int64_t needed = workspace_bytes_of(c);
  if (c.k > kManyK && needed > 0 && !workspace && workspace_bytes == 0)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "topk: workspace is NULL, expected %" PRId64 " bytes for k above %d (hipops_topk_workspace_bytes)",
                needed, kManyK);
  for (const Argument& tensor : {c.of_indices(), c.of_values(), c.of_x(), c.of_lengths(), c.of_begin()})
    if (tensor.tensor)
      if (hipops_status status = check_workspace(kName, workspace, workspace_bytes, needed, {tensor})) return status;
  return HIPOPS_SUCCESS;
}

}  // namespace
}  // namespace hipops

hipops_status hipops_topk(const hipops_tensor* values, const hipops_tensor* indices, const hipops_tensor* x,
                          const hipops_tensor* lengths, const hipops_tensor* row_begin, int64_t k, uint32_t flags,
                          void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const Call call{values, indices, x, lengths, row_begin, k, flags};
  if (hipops_status status = check(call)) return status;
  if (hipops_status status = check_memory(call, workspace, workspace_bytes)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_topk, &device)) return status;
  Launcher run{call, plan_options(), *device, arguments_of(call), stream};
  const bool is_whole = are_whole(*x);
  if (has_waves(call, is_whole)) {
    const int64_t waves = kSelectBlock / device->wave_size;
    run.args.depth = 8;
    while (run.args.depth * device->wave_size < elements_loaded(call, is_whole)) run.args.depth *= 2;
    return run(wave, call.rows(), waves);
  }
  if (k > kManyK) return launch_many(run, workspace);
  const Parts parts = parts_of(call, is_whole);
  if (workspace && parts.count > 1) return launch_parts(run, parts, workspace);
  return run(block, call.rows(), 1);
}

hipops_status hipops_topk_workspace_bytes(const hipops_tensor* values, const hipops_tensor* indices,
                                          const hipops_tensor* x, const hipops_tensor* lengths,
                                          const hipops_tensor* row_begin, int64_t k, uint32_t flags, int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[5];
  const Call call{without_data(values, &copy[0]), without_data(indices, &copy[1]), without_data(x, &copy[2]),
                  without_data(lengths, &copy[3]), without_data(row_begin, &copy[4]), k, flags};
  if (hipops_status status = check(call)) return status;
  if (hipops_status status = check_bytes(kName, bytes)) return status;
  *bytes = workspace_bytes_of(call);
  return HIPOPS_SUCCESS;
}
