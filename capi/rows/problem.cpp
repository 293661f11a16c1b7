#include "rows/problem.h"

#include <algorithm>

#include "policy/limits.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

bool is_whole(int64_t bytes) { return bytes % kWideAccess == 0; }
bool is_aligned(const void* data) { return bits_of(data) % bits_of(kWideAccess) == 0; }
bool repeats(const hipops_tensor* typed, int d) { return typed && typed->stride[d] == 0 && typed->shape[d] > 1; }

}  // namespace

OuterRows collapse_rows(const hipops_tensor* const* tensors, int count, const hipops_tensor* typed) {
  OuterRows outer;
  for (const bool of_repeats : {false, true}) {
    for (int d = tensors[0]->rank - 2; d >= 0; --d) {
      if (repeats(typed, d) != of_repeats) continue;
      int64_t stride[kMostRowStreams] = {};
      for (int i = 0; i < count; ++i) stride[i] = tensors[i] ? tensors[i]->stride[d] : 0;
      add_dimension(&outer, tensors[0]->shape[d], stride);
    }
  }
  if (outer.rank == 0) outer.size[outer.rank++] = 1;
  return outer;
}

RowProblem row_problem(const hipops_tensor* const* tensors, int inputs, int count, int first_typed, int end_typed,
                       const RowColumns* columns, int column_count, int column_bytes, const OuterRows& outer,
                       uint32_t flags) {
  const hipops_tensor& first = *tensors[0];
  const int last = first.rank - 1, bytes = dtype_bytes(first.dtype);
  RowProblem problem = {first.dtype, RowLayout::aligned, 1, first.shape[last], true};
  problem.is_invariant = flags & HIPOPS_BATCH_INVARIANT;
  for (int d = 0; d < outer.rank; ++d) problem.rows *= outer.size[d];
  const auto at_least = [&](RowLayout layout) {
    if (problem.layout < layout) problem.layout = layout;
  };
  if (!is_whole(problem.cols * bytes)) at_least(RowLayout::unaligned);
  const auto consider = [&](int i) {
    if (!tensors[i]) return;
    const int64_t own_bytes = dtype_bytes(tensors[i]->dtype);
    const int64_t access = std::min<int64_t>(kWideAccess, kWideAccess / bytes * own_bytes);  // for x's number of elements
    if (problem.cols > 1 && tensors[i]->stride[last] != 1) at_least(RowLayout::strided);
    if (bits_of(tensors[i]->data) % bits_of(access) != 0) at_least(RowLayout::unaligned);
    for (int d = 0; d < outer.rank; ++d)
      if (outer.stride[i][d] * own_bytes % access != 0) at_least(RowLayout::unaligned);
  };
  for (int i = 0; i < count; ++i) consider(i);
  for (int i = first_typed; i < end_typed; ++i) {
    consider(i);
    if (!tensors[i]) continue;
    problem.period = 1;
    for (int d = 0; d < last; ++d)
      if (!repeats(tensors[i], d)) problem.period *= tensors[i]->shape[d];
  }
  for (int i = 0; i < column_count; ++i) {
    if (!columns[i].data) continue;
    if (problem.cols > 1 && columns[i].step != 1) at_least(RowLayout::strided);
    if (!is_aligned(columns[i].data) || !is_whole(problem.cols * column_bytes)) at_least(RowLayout::unaligned);
  }
  // Aligned rows of several vectors are faster by aligned kernels.
  const int64_t most = problem.layout == RowLayout::aligned ? kWideAccess : RowLimits::kMostPackedRowBytes;
  bool is_packed = !problem.is_invariant && problem.layout != RowLayout::strided && problem.cols * bytes <= most;
  for (int i = 0; i < count && is_packed; ++i)
    is_packed = !tensors[i] || problem.rows == 1 || (outer.rank == 1 && outer.stride[i][0] == problem.cols);
  const bool is_short = !(flags & kSameColumns) && problem.cols < kLeastUnalignedVectors * kWideAccess / bytes;
  const bool needs_same_columns = problem.is_invariant && !(flags & kSameColumns);
  if (is_packed) problem.layout = RowLayout::packed;
  else if (problem.layout == RowLayout::unaligned && (is_short || needs_same_columns)) problem.layout = RowLayout::strided;
  for (int i = 0; i < inputs; ++i) problem.may_split = problem.may_split && tensors[i]->data != tensors[inputs]->data;
  return problem;
}

ElementType type_of(const hipops_tensor* typed) {
  if (!typed) return ElementType::absent;
  if (typed->dtype == HIPOPS_U8) return ElementType::boolean;
  return typed->dtype == HIPOPS_F32 ? ElementType::f32 : ElementType::rows;
}

RowColumns row_columns(const hipops_tensor* weight) {
  return weight ? RowColumns{weight->data, weight->stride[0]} : RowColumns{};
}

}  // namespace hipops
