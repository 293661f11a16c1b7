#include "move/scatter_plan.h"

#include <algorithm>
#include <cinttypes>

#include "tensor/error.h"
#include "index/indices.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

struct Steps {
  int64_t along[HIPOPS_MAX_RANK] = {};
};

Steps steps_of(const hipops_tensor& t) {
  Steps steps;
  for (int d = 0; d < t.rank && element_count(t) != 0; ++d) steps.along[d] = step_of(t, d);
  return steps;
}

// x's shape, with another length in dim.
struct Shape {
  int64_t size[HIPOPS_MAX_RANK] = {};
};

Shape shape_with(const ScatterTensors& t, int64_t length) {
  Shape shape;
  for (int d = 0; d < t.x->rank; ++d) shape.size[d] = d == t.dim ? length : t.x->shape[d];
  return shape;
}

Steps row_major(const Shape& shape, int rank) {
  Steps steps;
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    steps.along[d] = shape.size[d] > 1 ? step : 0;
    step *= shape.size[d];
  }
  return steps;
}

Shape reach_shape(const ScatterTensors& t) { return shape_with(t, t.y->shape[t.dim]); }

Steps steps_into(const ScatterTensors& t, ScatterInto into) {
  return into == ScatterInto::kY ? steps_of(*t.y) : row_major(reach_shape(t), t.x->rank);
}

// The operands of a walk. A walk has dim as one of its dimensions, or the geometry's steps iterate along it.
struct Operands {
  Shape shape;
  Steps x, y, index, place;
};

Layout<kScatterOperands> layout_of(const Operands& o, int rank) {
  Layout<kScatterOperands> layout;
  for (int d = rank - 1; d >= 0; --d)
    add_dimension(&layout, o.shape.size[d], {o.x.along[d], o.y.along[d], o.index.along[d], o.place.along[d]});
  return layout;
}

ScatterGeometry geometry_of(const ScatterTensors& t, const Operands& o, int64_t vector) {
  ScatterGeometry g{};
  g.walk = walk_of(layout_of(o, t.x->rank), vector);
  for (const int k : {kScatterX, kScatterY}) step_by_vectors(&g.walk, k, vector);
  g.vector = vector;
  return g;
}

Operands source_operands(const ScatterTensors& t, ScatterInto into) {
  Operands o{shape_with(t, t.x->shape[t.dim]), steps_of(*t.x), steps_into(t, into), steps_of(*t.index), {}};
  o.y.along[t.dim] = 0;
  o.place.along[t.dim] = 1;
  return o;
}

Operands line_operands(const ScatterTensors& t, ScatterInto into) {
  return {shape_with(t, 1), steps_of(*t.x), steps_into(t, into), steps_of(*t.index),
          row_major(shape_with(t, t.x->shape[t.dim]), t.x->rank)};
}

Operands reach_operands(const ScatterTensors& t, bool with_x) {
  Operands o{reach_shape(t), {}, steps_of(*t.y), {}, {}};
  if (with_x) o.x = steps_of(*t.x);
  o.x.along[t.dim] = 0;
  return o;
}

// The bits of all sizes and strides that a vector must divide; 1 if vectors are impossible. Along the innermost
// dimension the index must have stride 0. The place may step: it is the place of the first element.
uint64_t bits_of(const Layout<kScatterOperands>& layout, bool with_x) {
  if (layout.rank == 0 || layout.stride[kScatterY][0] != 1 || layout.stride[kScatterIndex][0] != 0) return 1;
  if (with_x && layout.stride[kScatterX][0] != 1) return 1;
  uint64_t bits = static_cast<uint64_t>(layout.size[0]);
  for (int d = 1; d < layout.rank; ++d) {
    bits |= static_cast<uint64_t>(layout.stride[kScatterY][d]);
    if (with_x) bits |= static_cast<uint64_t>(layout.stride[kScatterX][d]);
  }
  return bits;
}

int64_t elements_of(uint64_t element_bits, uint64_t address_bits, hipops_dtype dtype) {
  uint64_t bytes = static_cast<uint64_t>(dtype_bytes(dtype));
  return widest_access(element_bits * bytes | address_bits) / dtype_bytes(dtype);
}

uint64_t address(const hipops_tensor& t) { return reinterpret_cast<uintptr_t>(t.data); }

}  // namespace

hipops_status check_scatter(const ScatterTensors& t, uint32_t flags) {
  Argument out{t.op, "y", t.y}, in{t.op, "x", t.x}, at{t.op, "index", t.index};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_index(at)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_rank(in, 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_dim(t.op, t.dim, in)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  if (hipops_status status = check_same_shape(at, in)) return status;
  if (t.y->rank != t.x->rank)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: y.rank is %d, expected %d (x.rank)", t.op, t.y->rank, t.x->rank);
  for (int d = 0; d < t.x->rank; ++d)
    if (d != t.dim && t.x->shape[d] > t.y->shape[d])
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is %" PRId64 ", expected at most %" PRId64 " (y.shape[%d])",
                  t.op, d, t.x->shape[d], t.y->shape[d], d);
  if ((flags & ~HIPOPS_DETERMINISTIC) != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: flags is 0x%x, expected 0 or HIPOPS_DETERMINISTIC (0x%x)", t.op, flags,
                HIPOPS_DETERMINISTIC);
  return HIPOPS_SUCCESS;
}

hipops_status check_scatter_memory(const ScatterTensors& t, const void* workspace, int64_t workspace_bytes,
                                   int64_t needed, const hipops_index_report* report) {
  Argument out{t.op, "y", t.y}, in{t.op, "x", t.x}, at{t.op, "index", t.index};
  if (hipops_status status = check_overlap(out, in)) return status;
  if (hipops_status status = check_overlap(out, at)) return status;
  if (hipops_status status = check_workspace(t.op, workspace, workspace_bytes, needed, {out, in, at})) return status;
  return check_report(t.op, report, {out, in, at}, workspace, needed);
}

ScatterWithoutData::ScatterWithoutData(const ScatterTensors& t) : tensors_(t) {
  tensors_.y = without_data(t.y, &copy_[0]);
  tensors_.x = without_data(t.x, &copy_[1]);
  tensors_.index = without_data(t.index, &copy_[2]);
}

int64_t reach_of(const ScatterTensors& t) {
  if (is_empty(*t.x) || is_empty(*t.y)) return 0;
  Shape shape = reach_shape(t);
  int64_t count = 1;
  for (int d = 0; d < t.x->rank; ++d) count *= shape.size[d];  // at most y's elements
  return count;
}

int64_t reach_bytes(const ScatterTensors& t) {
  int64_t count = reach_of(t);
  return count > INT64_MAX / 4 - 16 ? INT64_MAX : (4 * count + 15) / 16 * 16;
}

ScatterGeometry walk_sources(const ScatterTensors& t, ScatterInto into, int64_t vector) {
  const Operands o = source_operands(t, into);
  ScatterGeometry g = geometry_of(t, o, vector);
  g.y_step = steps_into(t, into).along[t.dim] / vector;
  g.one_index = vector > 1 && layout_of(o, t.x->rank).stride[kScatterIndex][0] == 0;
  return g;
}

ScatterGeometry walk_lines(const ScatterTensors& t, ScatterInto into, int64_t vector) {
  Operands o = line_operands(t, into);
  ScatterGeometry g = geometry_of(t, o, vector);
  g.length = t.x->shape[t.dim];
  g.x_step = o.x.along[t.dim] / vector;
  g.y_step = o.y.along[t.dim] / vector;
  g.index_step = o.index.along[t.dim];
  g.place_step = o.place.along[t.dim];
  return g;
}

ScatterGeometry walk_reach(const ScatterTensors& t, bool with_x, int64_t vector) {
  ScatterGeometry g = geometry_of(t, reach_operands(t, with_x), vector);
  g.x_step = steps_of(*t.x).along[t.dim] / vector;
  return g;
}

ScatterGeometry walk_index(const ScatterTensors& t) {
  Operands o{shape_with(t, t.x->shape[t.dim]), {}, {}, steps_of(*t.index), {}};
  o.place.along[t.dim] = 1;
  const Layout<kScatterOperands> layout = layout_of(o, t.x->rank);
  const int64_t size = dtype_bytes(t.index->dtype), wide = 16 / size;
  ScatterGeometry g{};
  if (layout.rank != 2 || layout.stride[kScatterIndex][0] != 1 || layout.stride[kScatterPlace][0] != 0 ||
      layout.stride[kScatterIndex][1] != layout.size[0] || layout.size[0] % wide != 0)
    return g;
  ScatterGeometry found{};
  found.walk = walk_of(layout, wide);
  found.vector = wide;
  return found.walk.fits_int32 ? found : g;
}

bool is_reach_dense(const ScatterTensors& t) {
  const Shape shape = reach_shape(t);
  const Steps in_y = steps_of(*t.y), dense = row_major(shape, t.x->rank);
  for (int d = 0; d < t.x->rank; ++d)
    if (shape.size[d] > 1 && in_y.along[d] != dense.along[d]) return false;
  return true;
}

bool allows_vectors(const ScatterTensors& t, ScatterInto into) {
  const Layout<kScatterOperands> layout = layout_of(source_operands(t, into), t.x->rank);
  if (layout.rank == 0 || layout.stride[kScatterX][0] != 1 || layout.stride[kScatterY][0] != 1) return false;
  const int64_t index_step = layout.stride[kScatterIndex][0];
  if (index_step != 0 && index_step != 1) return false;
  auto fits = [&](ScatterOperand operand, int64_t step, int64_t size, uint64_t first) {
    uint64_t elements = static_cast<uint64_t>(layout.size[0] | step);
    for (int d = 1; d < layout.rank; ++d) elements |= static_cast<uint64_t>(layout.stride[operand][d]);
    const int64_t bytes = std::min<int64_t>(kScatterVector * size, 16);
    return elements % kScatterVector == 0 && first % static_cast<uint64_t>(bytes) == 0;
  };
  const bool in_y = into == ScatterInto::kY;
  return fits(kScatterX, 0, dtype_bytes(t.x->dtype), address(*t.x)) &&
         fits(kScatterY, steps_into(t, into).along[t.dim], in_y ? dtype_bytes(t.y->dtype) : 4, in_y ? address(*t.y) : 0) &&
         (index_step == 0 || fits(kScatterIndex, 0, dtype_bytes(t.index->dtype), address(*t.index)));
}

int64_t scatter_vector(const ScatterTensors& t) {
  if (is_empty(*t.y)) return 1;  // the pointer of an empty y may be invalid
  // A vector must be possible on every walk. The walk over sources into the workspace and the walk over reachable
  // elements have the same innermost dimension.
  uint64_t steps =
      static_cast<uint64_t>(steps_of(*t.x).along[t.dim]) | static_cast<uint64_t>(steps_of(*t.y).along[t.dim]);
  for (ScatterInto into : {ScatterInto::kY, ScatterInto::kWorkspace})
    steps |= bits_of(layout_of(source_operands(t, into), t.x->rank), true);
  steps |= bits_of(layout_of(line_operands(t, ScatterInto::kY), t.x->rank), true);
  return elements_of(steps, address(*t.x) | address(*t.y), t.x->dtype);
}

int64_t reach_vector(const ScatterTensors& t) {
  return elements_of(bits_of(layout_of(reach_operands(t, false), t.x->rank), false), address(*t.y), t.y->dtype);
}

void ScatterPlan::add(int kernel, const ScatterGeometry& geometry, int depth, uint32_t block) {
  ScatterLaunch& next = launch[count++];
  next.kernel = kernel;
  next.grid = options.grid_for((geometry.walk.count + depth - 1) / depth, block);
  next.block = block;
  next.geometry = geometry;
  next.geometry.step = int64_t{next.grid} * block * depth;
}

void ScatterPlan::limit_grids(uint32_t most, int first) {
  for (int i = first; i < count; ++i) {
    ScatterLaunch& l = launch[i];
    const uint32_t grid = std::min(l.grid, most);
    l.geometry.step = l.geometry.step / l.grid * grid;
    l.grid = grid;
  }
}

}  // namespace hipops
