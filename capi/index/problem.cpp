#include "index/problem.h"

#include <cstdlib>

#include "index/indices.h"
#include "tensor/error.h"

namespace hipops {
namespace {

bool is_added(hipops_dtype dtype) {
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

// True if both tensors can be read in vectors of 16 bytes along the layout's innermost dimension.
bool is_wide(const RowSums& t, const Layout<kIndexAddOperands>& layout) {
  if (layout.rank == 0 || layout.stride[kIndexAddY][0] != 1 || layout.stride[kIndexAddX][0] != 1) return false;
  uint64_t elements = static_cast<uint64_t>(layout.size[0] | step_of(*t.y, t.dim) | step_of(*t.x, t.dim));
  for (int d = 1; d < layout.rank; ++d)
    elements |= static_cast<uint64_t>(layout.stride[kIndexAddY][d] | layout.stride[kIndexAddX][d]);
  const uint64_t bytes = elements * static_cast<uint64_t>(dtype_bytes(t.y->dtype));
  return widest_access(bytes | bits_of(t.y->data) | bits_of(t.x->data)) == kWideAccess;
}

}  // namespace

SumsProblem describe_sums(const RowSums& t) {
  const int64_t rows = t.y->shape[t.dim], indices = t.x->shape[t.dim];
  SumsProblem p{t.y->dtype, rows, indices, 1, element_count(*t.x), element_count(*t.y), 0, false, false, false};
  if (p.x_elements == 0 || p.y_elements == 0) return p;
  p.row_elements = p.x_elements / p.indices;
  const Layout<kIndexAddOperands> row = row_layout(t);
  const int64_t step = std::abs(step_of(*t.y, t.dim));
  p.row_step_bytes = step * dtype_bytes(p.dtype);
  p.wide_row = is_wide(t, row);
  p.row_has_one_step = row.rank <= 1;
  p.rows_are_close = row.rank != 0 && p.rows > 1 && step < std::abs(row.stride[kIndexAddY][0]);
  return p;
}

Layout<kIndexAddOperands> row_layout(const RowSums& t) {
  Layout<kIndexAddOperands> layout;
  if (is_empty(*t.y)) return layout;
  for (int d = t.y->rank - 1; d >= 0; --d)
    if (d != t.dim) add_dimension(&layout, t.x->shape[d], {t.y->stride[d], t.x->stride[d], 0, 0});
  return layout;
}

bool sums_support(hipops_dtype dtype, hipops_dtype index) { return is_added(dtype) && index_op_supports_second(index); }

hipops_status check_added(const Argument& x) {
  if (is_added(x.tensor->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64", x.op,
              x.name, dtype_name(x.tensor->dtype));
}

hipops_dtype added_as(hipops_dtype dtype) {
  return dtype == HIPOPS_I32 ? HIPOPS_U32 : dtype == HIPOPS_I64 ? HIPOPS_U64 : dtype;
}

}  // namespace hipops
