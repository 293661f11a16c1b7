#include "reduce/plan.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "policy/limits.h"
#include "reduce.h"
#include "tensor/divisor.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

enum Mode { rows, columns, merge };
struct Variant {
  hipops_dtype dtype;
  Mode mode;
};
#define VARIANT(name, dtype, mode) {dtype, mode},
constexpr Variant kVariants[] = {HIPOPS_REDUCE_KERNELS(VARIANT)};
#undef VARIANT

int find_kernel(hipops_dtype dtype, Mode mode) {
  return place_of(kVariants, [=](const Variant& v) { return v.dtype == dtype && v.mode == mode; });
}

int64_t power_up(int64_t n) { return int64_t{1} << log2_up(n); }
int64_t power_down(int64_t n) { return power_up(n / 2 + 1); }

// The bytes of a kind's Lane (device/reduce/kinds.h).
int64_t lane_bytes(const ReduceProblem& p) {
  const bool is_f64 = p.x->dtype == HIPOPS_F64;
  if (is_position(p.reduction)) return is_f64 ? 16 : 12;
  return (is_f64 ? 8 : 4) * (p.reduction == HIPOPS_REDUCE_LOGSUMEXP ? 2 : 1);
}

ReduceKind kind_of(hipops_reduction reduction) {
  switch (reduction) {
    case HIPOPS_REDUCE_MAX: case HIPOPS_REDUCE_MIN: return kReduceGreatest;
    case HIPOPS_REDUCE_LOGSUMEXP: return kReduceLogSumExp;
    case HIPOPS_REDUCE_ARGMAX: case HIPOPS_REDUCE_ARGMIN: return kReducePosition;
    default: return kReduceSum;
  }
}

// Whether a lane may have several rounds of a part: kHasRounds of device/reduce/kinds.h.
bool has_rounds(const ReduceProblem& p) { return is_position(p.reduction) || p.reduction == HIPOPS_REDUCE_LOGSUMEXP; }

// The dimensions of both walks, sorted by x's strides, so that a walk's innermost dimension has x's smallest stride. If
// positions are the results, the reduced dimensions keep their order.
struct Layouts {
  Layout<kReduceOperands> results;
  Layout<1> reduced;
};
Layouts layouts_of(const ReduceProblem& p) {
  const hipops_tensor& x = *p.x;
  int64_t y_stride[HIPOPS_MAX_RANK] = {};
  for (int d = 0; d < p.y->rank; ++d) y_stride[p.of_x[d]] = p.y->stride[d];
  int order[HIPOPS_MAX_RANK];
  for (int d = 0; d < x.rank; ++d) order[d] = x.rank - 1 - d;
  std::stable_sort(order, order + x.rank,
                   [&](int a, int b) { return std::llabs(step_of(x, a)) < std::llabs(step_of(x, b)); });
  Layouts layouts;
  for (int i = 0; i < x.rank; ++i) {
    const int d = order[i], r = is_position(p.reduction) ? x.rank - 1 - i : d;
    if (p.dims >> r & 1) add_dimension(&layouts.reduced, x.shape[r], {x.stride[r]});
    if (!(p.dims >> d & 1)) add_dimension(&layouts.results, x.shape[d], {y_stride[d], x.stride[d]});
  }
  return layouts;
}

// How results are divided into parts. `parts` depends on shapes, strides and alignment alone, so it decides no bit that
// the device or the grid could change.
struct Division {
  bool is_rows, is_wide;
  int64_t results, vector;  // results; neighbouring results of a lane
  int64_t length, part_length, spans, parts;
  int64_t lanes, result_lanes, tiles;
};

// Rows whose vectors are whole need no elements before or after them.
bool are_whole(const ReduceProblem& p, const Layouts& l, int64_t inner) {
  uint64_t bits = bits_of(p.x->data) | bits_of(inner * dtype_bytes(p.x->dtype));
  for (int d = 0; d < l.results.rank; ++d) bits |= bits_of(l.results.stride[kReduceX][d] * dtype_bytes(p.x->dtype));
  return widest_access(bits) == kWideAccess;
}

bool has_rows(const ReduceProblem& p, const Layouts& l) {
  using R = ReduceLimits;
  if (l.reduced.rank == 0 || l.reduced.stride[0][0] != 1 || is_empty(*p.x)) return false;
  const int64_t bytes = l.reduced.size[0] * dtype_bytes(p.x->dtype);
  if (p.is_invariant && !are_whole(p, l, l.reduced.size[0])) return false;
  if (l.reduced.rank > 1) return bytes >= R::kLeastInnerBytes;
  return bytes >= R::kLeastRowBytes || are_whole(p, l, l.reduced.size[0]);
}

// Whether results are neighbours in x, in whole vectors at multiples of 16 bytes.
bool has_wide_columns(const ReduceProblem& p, const Layouts& l) {
  const int64_t bytes = dtype_bytes(p.x->dtype);
  if (bytes == 8 || l.results.rank == 0 || l.results.stride[kReduceX][0] != 1) return false;
  uint64_t bits = bits_of(p.x->data) | bits_of(l.results.size[0] * bytes);
  for (int d = 1; d < l.results.rank; ++d) bits |= bits_of(l.results.stride[kReduceX][d] * bytes);
  for (int d = 0; d < l.reduced.rank; ++d) bits |= bits_of(l.reduced.stride[0][d] * bytes);
  return widest_access(bits) == kWideAccess;
}

template <int K>
int64_t count_of(const Layout<K>& layout) {
  int64_t count = 1;
  for (int d = 0; d < layout.rank; ++d) count *= layout.size[d];
  return count;
}

Division divide_rows(const ReduceProblem& p, const Layouts& l) {
  using R = ReduceLimits;
  Division d{};
  d.is_rows = true;
  d.results = count_of(l.results);
  d.vector = 1;
  d.length = l.reduced.size[0];
  const int64_t of_vector = kWideAccess / dtype_bytes(p.x->dtype), vectors = divided_up(d.length, of_vector);
  const int64_t outer = count_of(l.reduced) / d.length, rows = d.results * outer;
  int64_t of_part = kRoundVectors;
  if (!p.is_invariant) {
    if (vectors > of_part && rows * divided_up(vectors, of_part) < R::kFewParts) of_part = kShortRoundVectors;
    if (has_rounds(p) && rows >= R::kManyRows) of_part = vectors;
  }
  d.part_length = std::min({d.length, of_part * of_vector, R::kMostPartElements});
  d.spans = divided_up(d.length, d.part_length);
  d.parts = outer * d.spans;
  if (d.parts > 1) d.lanes = kReduceBlock;
  else if (vectors <= kMostRowLanes * kShortReduceDepth) d.lanes = power_up(divided_up(vectors, kShortReduceDepth));
  else d.lanes = std::min<int64_t>(power_up(divided_up(vectors, kReduceDepth)), kReduceBlock);
  // A row that is not whole vectors has up to 14 other elements, a lane for each.
  if (!are_whole(p, l, d.length)) d.lanes = std::max<int64_t>(d.lanes, 16);
  return d;
}

Division divide_columns(const ReduceProblem& p, const Layouts& l, bool is_wide) {
  using R = ReduceLimits;
  Division d{};
  d.is_wide = is_wide;
  d.results = count_of(l.results);
  d.vector = is_wide ? kWideAccess / dtype_bytes(p.x->dtype) : 1;
  d.length = count_of(l.reduced);
  // Lanes next to each other have neighbouring results, unless reduced elements are closer to each other.
  const int64_t vectors = d.results / d.vector, step = l.reduced.rank > 0 ? std::llabs(l.reduced.stride[0][0]) : 0;
  const bool is_along = p.is_invariant ? step == 1 : l.results.rank == 0 ||
                        (l.reduced.rank > 0 && step < std::llabs(l.results.stride[kReduceX][0]));
  const bool are_many = !p.is_invariant && vectors >= R::kManyNeighbours * R::kColumnBlocks;
  const int64_t neighbours = are_many ? R::kManyNeighbours : R::kLeastNeighbours;
  const int64_t least = is_along ? 1 : p.is_invariant ? neighbours : std::min<int64_t>(power_up(vectors), neighbours);
  const int64_t groups = std::clamp<int64_t>(power_down(d.length / kReduceDepth), 1, kReduceBlock / least);
  d.result_lanes = kReduceBlock / groups;
  d.tiles = divided_up(vectors, d.result_lanes);
  const int64_t round = groups * kReduceDepth, rounds = std::max<int64_t>(divided_up(d.length, round), 1);
  const int64_t parts = p.is_invariant ? 1 : std::clamp<int64_t>(R::kColumnBlocks / d.tiles, 1, rounds);
  d.part_length = divided_up(rounds, parts) * round;
  d.parts = std::max<int64_t>(divided_up(d.length, d.part_length), 1);
  return d;
}

Division division_of(const ReduceProblem& p, const Layouts& l) {
  return has_rows(p, l) ? divide_rows(p, l) : divide_columns(p, l, has_wide_columns(p, l));
}

// The parts of rows are stored only if rows are few.
int64_t stored_bytes(const ReduceProblem& p, const Division& d) {
  if (d.parts == 1 || (d.is_rows && d.results >= ReduceLimits::kMostSplitRows)) return 0;
  return d.parts * d.results * lane_bytes(p);
}

ReduceOutput output_of(hipops_dtype dtype) {
  switch (dtype) {
    case HIPOPS_F16: return kOutputF16;
    case HIPOPS_BF16: return kOutputBf16;
    case HIPOPS_F64: return kOutputF64;
    case HIPOPS_I64: return kOutput64;
    case HIPOPS_I32: case HIPOPS_U32: return kOutput32;
    default: return kOutputF32;
  }
}

void set_grid(const PlanOptions& options, int64_t blocks, int64_t units_a_block, ReduceLaunch* launch) {
  launch->grid = options.grid_for(blocks * launch->block, launch->block);
  launch->args.step = launch->grid * units_a_block;
}

// The second launch, which adds the parts that the first launch stores.
ReduceLaunch merge_of(const PlanOptions& options, const ReduceProblem& p, const Layouts& l, const Division& d,
                      const ReduceArgs& first) {
  ReduceLaunch launch{};
  launch.kernel = find_kernel(p.x->dtype == HIPOPS_F64 ? HIPOPS_F64 : HIPOPS_F32, merge);
  launch.block = kReduceBlock;
  ReduceArgs& a = launch.args;
  a = first;
  a.x = first.partial;
  a.partial = nullptr;
  a.results = walk_of(l.results);
  // A block has the parts of a row as the block has them that reduces the whole row: the bits are the same.
  const int64_t most = std::min<int64_t>(power_up(d.results), ReduceLimits::kLeastNeighbours);
  const int64_t of_columns = std::clamp<int64_t>(power_up(divided_up(d.parts, kReduceDepth)), 1, kReduceBlock / most);
  const int64_t groups = d.is_rows ? kReduceBlock : of_columns;
  a.result_bits = log2_up(kReduceBlock / groups);
  a.units = divided_up(d.results, kReduceBlock / groups);
  set_grid(options, a.units, 1, &launch);
  return launch;
}

}  // namespace

int64_t reduced_count(const ReduceProblem& p) {
  int64_t count = 1;
  for (int d = 0; d < p.x->rank; ++d)
    if (p.dims >> d & 1) count *= p.x->shape[d];
  return count;
}

int64_t reduce_workspace_bytes(const ReduceProblem& p) {
  if (is_empty(*p.y) || is_empty(*p.x)) return 0;
  const Layouts l = layouts_of(p);
  // The size is the same for x at any address, and two alignments make the difference.
  hipops_tensor x = *p.x;
  ReduceProblem placed = p;
  placed.x = &x;
  int64_t bytes = 0;
  for (const int64_t address : {int64_t{0}, int64_t{dtype_bytes(x.dtype)}}) {
    x.data = reinterpret_cast<void*>(address);
    bytes = std::max(bytes, stored_bytes(placed, division_of(placed, l)));
  }
  return bytes;
}

ReducePlan plan_reduce(const PlanOptions& options, const ReduceProblem& p, const DeviceNumbers& device,
                       void* workspace) {
  const Layouts l = layouts_of(p);
  Division d = division_of(p, l);
  bool is_split = workspace && stored_bytes(p, d) != 0;
  if (d.is_rows) is_split = is_split && d.results < ReduceLimits::kRowBlocksAUnit * device.units;
  if (!d.is_rows && !is_split && d.parts > 1) d.parts = 1, d.part_length = d.length;

  ReducePlan plan{};
  ReduceArgs& a = plan.first.args;
  a.x = p.x->data;
  a.y = p.y->data;
  a.partial = is_split ? workspace : nullptr;
  a.results = walk_of(l.results, d.vector);
  a.kind = kind_of(p.reduction);
  a.sign = p.reduction == HIPOPS_REDUCE_MIN || p.reduction == HIPOPS_REDUCE_ARGMIN ? -1 : 1;
  a.output = output_of(p.y->dtype);
  a.count = p.reduction == HIPOPS_REDUCE_MEAN ? static_cast<double>(reduced_count(p)) : 1;
  a.length = d.length;
  a.part_length = d.part_length;
  a.parts = d.parts;
  if (d.is_rows) {
    plan.first.kernel = find_kernel(p.x->dtype, rows);
    plan.first.block = static_cast<uint32_t>(d.lanes > kMostRowLanes ? d.lanes : kReduceBlock);
    Layout<1> outer;
    for (int i = 1; i < l.reduced.rank; ++i) add_dimension(&outer, l.reduced.size[i], {l.reduced.stride[0][i]});
    a.reduced = walk_of(outer);
    a.spans = d.spans;
    a.spans_divisor = wide_divisor_of(d.spans);
    a.parts_divisor = wide_divisor_of(d.parts);
    a.result_step = d.parts;
    a.part_step = 1;
    a.lanes = static_cast<int32_t>(d.lanes);
    a.deep = d.lanes * kShortReduceDepth * (kWideAccess / dtype_bytes(p.x->dtype)) < d.part_length;
    a.units = d.results * (is_split ? d.parts : 1);
    a.rows = static_cast<int32_t>(plan.first.block / d.lanes);
    a.short_rows = p.x->dtype != HIPOPS_F64 && d.parts == 1 && d.lanes <= kMostRowLanes && !a.deep && are_whole(p, l, d.length) &&
                   (!options.small_apart ||
                    d.results >= ReduceLimits::kLeastShortRowBlocksAUnit * device.units * a.rows * kShortRows);
    if (a.short_rows) a.rows *= kShortRows;
    set_grid(options, divided_up(a.units, a.rows), a.rows, &plan.first);
  } else {
    plan.first.kernel = find_kernel(p.x->dtype, columns);
    plan.first.block = kReduceBlock;
    a.reduced = walk_of(d.length == 0 ? Layout<1>() : l.reduced);
    a.y_step = l.results.rank == 0 ? 0 : l.results.stride[kReduceY][0];
    a.tiles = d.tiles;
    a.tiles_divisor = wide_divisor_of(d.tiles);
    a.result_step = 1;
    a.part_step = d.results;
    a.result_bits = log2_up(d.result_lanes);
    a.is_wide = d.is_wide;
    a.units = d.tiles * d.parts;
    set_grid(options, a.units, 1, &plan.first);
  }
  if (is_split) plan.merge = merge_of(options, p, l, d, a);
  return plan;
}

hipops_status launch_reduce(const ReducePlan& plan, const DeviceFacts& device, void* stream) {
  const ReduceLaunch& first = plan.first;
  if (hipops_status status = launch(op_reduce, device, first.kernel, {first.grid, first.block}, &first.args,
                                    sizeof first.args, stream))
    return status;
  if (plan.merge.grid == 0) return HIPOPS_SUCCESS;
  LaunchShape shape{plan.merge.grid, plan.merge.block};
  shape.begins_early = true;
  return launch(op_reduce, device, plan.merge.kernel, shape, &plan.merge.args, sizeof plan.merge.args, stream);
}

}  // namespace hipops
