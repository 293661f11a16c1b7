#include "move/rope_common.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdlib>

#include "tensor/error.h"
#include "tensor/overlap.h"
#include "rope_i.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
#define VARIANT(name, dtype, heads, bytes) {dtype, heads, bytes != 0, bytes ? bytes / bytes_of(dtype) : 1},
constexpr RopeVariant rope_variants[] = {HIPOPS_ROPE_I_KERNELS(VARIANT)};
#undef VARIANT

namespace {

bool is_multiple(const void* pointer, int64_t of) {
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(of) == 0;
}

hipops_status check_table_shape(const Argument& cos, RopeDims dims, const Argument& of_x, bool has_positions) {
  const hipops_tensor &t = *cos.tensor, &x = *of_x.tensor;
  if (hipops_status status = check_rank(cos, 2, 3)) return status;
  int last = t.rank - 1, row = t.rank - 2;
  if (t.rank == 3)
    if (hipops_status status = check_same_size(cos, 0, of_x, 0)) return status;
  if (t.shape[last] > x.shape[3] / 2)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: %s.shape[%d] is %" PRId64 ", expected at most %" PRId64 " (half of x.shape[3])", cos.op, cos.name,
                last, t.shape[last], x.shape[3] / 2);
  if (!has_positions && t.shape[row] < x.shape[dims.tokens])
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: %s.shape[%d] is %" PRId64 ", expected at least %" PRId64 " (x.shape[%d]) without positions",
                cos.op, cos.name, row, t.shape[row], x.shape[dims.tokens], dims.tokens);
  return HIPOPS_SUCCESS;
}

hipops_status check_positions(const Argument& positions, RopeDims dims, const Argument& x) {
  const hipops_tensor& t = *positions.tensor;
  if (hipops_status status = check_tensor(positions)) return status;
  if (t.dtype != HIPOPS_I32 && t.dtype != HIPOPS_I64)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: positions.dtype is %s, expected i32 or i64", positions.op,
                dtype_name(t.dtype));
  if (hipops_status status = check_rank(positions, 1, 2)) return status;
  if (t.rank == 2)
    if (hipops_status status = check_same_size(positions, 0, x, 0)) return status;
  return check_same_size(positions, t.rank - 1, x, dims.tokens);
}

RopeStrides strides_of(const hipops_tensor& t, RopeDims dims) {
  return {step_of(t, 0), step_of(t, dims.heads), step_of(t, dims.tokens), step_of(t, 3)};
}

RopeTableStrides table_strides(const hipops_tensor& t) {
  return {t.rank == 3 ? step_of(t, 0) : 0, step_of(t, t.rank - 2), step_of(t, t.rank - 1)};
}

RopeTableStrides position_strides(const hipops_tensor& t) {
  return {t.rank == 2 ? step_of(t, 0) : 0, step_of(t, t.rank - 1), 0};
}

// True if every row of t can be read in vectors of `length` elements.
bool allows_wide(const hipops_tensor& t, int64_t length) {
  int64_t bytes = dtype_bytes(t.dtype), aligned = std::min(length * bytes, kWideAccess);
  int last = t.rank - 1;
  if (!is_multiple(t.data, aligned) || (t.shape[last] > 1 && t.stride[last] != 1)) return false;
  for (int d = 0; d < last; ++d)
    if (step_of(t, d) * bytes % aligned != 0) return false;
  return true;
}

// In place, the elements that are not rotated need no copy.
bool copies_rest(const RopeTensors& t) { return !same_view(*t.y, *t.x); }

int64_t chunk_elements(RopeDims dims, const RopeVariant& v) {
  return v.wide && dims.interleaved ? v.length : 2 * int64_t{v.length};
}

bool allows_wide_rope(RopeDims dims, const RopeTensors& t, const RopeVariant& v) {
  const int64_t pairs = chunk_elements(dims, v) / 2, cols = t.x->shape[3], half = t.cos->shape[t.cos->rank - 1];
  if (half % pairs != 0 || (copies_rest(t) && cols % v.length != 0)) return false;
  if (!allows_wide(*t.x, v.length) || !allows_wide(*t.y, v.length)) return false;
  return is_empty(*t.cos) || (allows_wide(*t.cos, pairs) && allows_wide(*t.sin, pairs));
}

int find_variant(hipops_dtype dtype, bool wide, int heads) {
  return place_of(rope_variants,
                  [&](const RopeVariant& v) { return v.dtype == dtype && v.wide == wide && v.heads == heads; });
}

// True if every offset into t, in elements, fits in 32 bits.
bool is_small(const hipops_tensor& t) {
  double reach = 0;
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] > 1) reach += static_cast<double>(t.shape[d] - 1) * std::abs(static_cast<double>(t.stride[d]));
  return reach < static_cast<double>((int64_t{1} << 31) - 1);
}

int64_t quotient_up(int64_t n, int64_t by) { return n / by + (n % by != 0); }

void lay_out(const RopeVariant& v, RopeDims dims, const RopeTensors& t, RopeArgs* a) {
  const int64_t elements = chunk_elements(dims, v);
  a->cols = copies_rest(t) ? t.x->shape[3] : 2 * a->half;
  const int64_t chunks = std::max(2 * a->half / elements, quotient_up(a->cols - 2 * a->half, elements));
  const int64_t heads = t.x->shape[dims.heads] / v.heads, tokens = t.x->shape[dims.tokens];
  a->heads_inside = std::llabs(a->y_stride.head) < std::llabs(a->y_stride.token);
  a->size[0] = chunks;
  a->size[1] = a->heads_inside ? heads : tokens;
  a->size[2] = a->heads_inside ? tokens : heads;
  a->count = chunks * heads * tokens * t.x->shape[0];
  a->fits_int32 = a->count < (int64_t{1} << 31) && is_small(*t.x) && is_small(*t.y) && is_small(*t.cos) && is_small(*t.sin);
  for (int d = 0; d < 3 && a->count > 0; ++d) {
    a->divisor[d] = divisor_of(a->size[d]);
    a->wide_divisor[d] = wide_divisor_of(a->size[d]);
  }
}

}  // namespace

hipops_status check_rope(const char* op, RopeDims dims, const RopeTensors& t) {
  Argument y{op, "y", t.y}, x{op, "x", t.x}, cos{op, "cos", t.cos}, sin{op, "sin", t.sin};
  Argument positions{op, "positions", t.positions};
  if (hipops_status status = check_tensor(x)) return status;
  if (hipops_status status = check_output(y)) return status;
  if (hipops_status status = check_tensor(cos)) return status;
  if (hipops_status status = check_tensor(sin)) return status;
  if (hipops_status status = check_float(x)) return status;
  if (hipops_status status = check_rank(x, 4, 4)) return status;
  if (hipops_status status = check_same_dtype(y, x)) return status;
  if (hipops_status status = check_same_shape(y, x)) return status;
  if (hipops_status status = check_same_dtype_or_f32(cos, x)) return status;
  if (hipops_status status = check_same_dtype(sin, cos)) return status;
  if (hipops_status status = check_table_shape(cos, dims, x, t.positions != nullptr)) return status;
  if (hipops_status status = check_same_shape(sin, cos)) return status;
  if (t.positions)
    if (hipops_status status = check_positions(positions, dims, x)) return status;
  if (hipops_status status = check_overlap(y, x, kInPlace)) return status;
  if (hipops_status status = check_overlap(y, cos)) return status;
  if (hipops_status status = check_overlap(y, sin)) return status;
  return t.positions ? check_overlap(y, positions) : HIPOPS_SUCCESS;
}

int choose_rope(RopeDims dims, const RopeTensors& t) {
  const hipops_dtype dtype = t.x->dtype;
  const bool wide = allows_wide_rope(dims, t, rope_variants[find_variant(dtype, true, 1)]);
  const bool two = wide && dims.interleaved && t.x->shape[dims.heads] % 2 == 0;
  return find_variant(dtype, wide, two ? 2 : 1);
}

RopePlan plan_rope(PlanOptions options, int kernel, RopeDims dims, const RopeTensors& t) {
  const RopeVariant& v = rope_variants[kernel];
  RopePlan plan{};
  RopeArgs& a = plan.args;
  a.x = t.x->data;
  a.y = t.y->data;
  a.cos = t.cos->data;
  a.sin = t.sin->data;
  a.x_stride = strides_of(*t.x, dims);
  a.y_stride = strides_of(*t.y, dims);
  a.cos_stride = table_strides(*t.cos);
  a.sin_stride = table_strides(*t.sin);
  a.half = t.cos->shape[t.cos->rank - 1];
  a.table_rows = t.cos->shape[t.cos->rank - 2];
  a.table_is_f32 = t.cos->dtype == HIPOPS_F32;
  if (t.positions) {
    a.positions = t.positions->data;
    a.position_stride = position_strides(*t.positions);
    a.positions_are_64_bit = t.positions->dtype == HIPOPS_I64;
  }
  lay_out(v, dims, t, &a);
  plan.block = kRopeBlock;
  plan.grid = options.grid_for(a.count, plan.block);
  a.step = int64_t{plan.grid} * plan.block;
  return plan;
}

hipops_status rope(Op& op, RopeDims dims, const RopeTensors& tensors, void* stream) {
  if (hipops_status status = check_rope(op.name, dims, tensors)) return status;
  if (is_empty(*tensors.x)) return HIPOPS_SUCCESS;
  const int kernel = choose_rope(dims, tensors);
  const RopePlan plan = plan_rope(plan_options(), kernel, dims, tensors);
  if (plan.args.count == 0) return HIPOPS_SUCCESS;  // in place, and no element is rotated
  return launch(op, kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, stream);
}

}  // namespace hipops
