#include "rows/problem.h"

#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// Of packed kernels' rows: a wave's are staged at a time. (Aligned ones of several vectors are faster by those.)
constexpr int64_t kMostPackedBytes = 256;

bool is_whole(int64_t bytes) { return bytes % kWideAccess == 0; }
bool is_aligned(const void* data) { return bits_of(data) % bits_of(kWideAccess) == 0; }

}  // namespace

CollapsedRows collapse_rows(const hipops_tensor* const* tensors, int count) {
  const hipops_tensor& first = *tensors[0];
  CollapsedRows c;
  const auto stride = [&](int i, int d) { return tensors[i] ? tensors[i]->stride[d] : 0; };
  // From the innermost outer dimension out; one that continues the steps of the one before, in all tensors, is merged.
  for (int d = first.rank - 2; d >= 0; --d) {
    if (first.shape[d] == 1) continue;
    bool continues = c.dimensions > 0;
    const int inner = c.dimensions - 1;
    for (int i = 0; i < count && continues; ++i) continues = stride(i, d) == c.stride[inner][i] * c.size[inner];
    if (continues) {
      c.size[inner] *= first.shape[d];
      continue;
    }
    for (int i = 0; i < count; ++i) c.stride[c.dimensions][i] = stride(i, d);
    c.size[c.dimensions++] = first.shape[d];
  }
  if (c.dimensions == 0) {
    for (int i = 0; i < count; ++i) c.stride[0][i] = 0;
    c.size[c.dimensions++] = 1;
  }
  return c;
}

RowProblem row_problem(const hipops_tensor* const* tensors, int inputs, int count, const RowColumns* columns, int column_count,
                       int column_bytes, const CollapsedRows& collapsed) {
  const hipops_tensor& first = *tensors[0];
  const int last = first.rank - 1, bytes = dtype_bytes(first.dtype);
  RowProblem problem = {first.dtype, RowLayout::aligned, 1, first.shape[last], true};
  for (int d = 0; d < collapsed.dimensions; ++d) problem.rows *= collapsed.size[d];
  const auto at_least = [&](RowLayout layout) {
    if (problem.layout < layout) problem.layout = layout;
  };
  if (!is_whole(problem.cols * bytes)) at_least(RowLayout::unaligned);
  for (int i = 0; i < count; ++i) {
    if (!tensors[i]) continue;
    if (problem.cols > 1 && tensors[i]->stride[last] != 1) at_least(RowLayout::strided);
    if (!is_aligned(tensors[i]->data)) at_least(RowLayout::unaligned);
    for (int d = 0; d < collapsed.dimensions; ++d)
      if (!is_whole(collapsed.stride[d][i] * bytes)) at_least(RowLayout::unaligned);
  }
  for (int i = 0; i < column_count; ++i) {
    if (!columns[i].data) continue;
    if (problem.cols > 1 && columns[i].step != 1) at_least(RowLayout::strided);
    if (!is_aligned(columns[i].data) || !is_whole(problem.cols * column_bytes)) at_least(RowLayout::unaligned);
  }
  const int64_t most = problem.layout == RowLayout::aligned ? kWideAccess : kMostPackedBytes;
  bool is_packed = problem.layout != RowLayout::strided && problem.cols * bytes <= most;
  for (int i = 0; i < count && is_packed; ++i)
    is_packed = !tensors[i] || problem.rows == 1 || (collapsed.dimensions == 1 && collapsed.stride[0][i] == problem.cols);
  const bool is_short = problem.cols < kLeastUnalignedVectors * kWideAccess / bytes;
  if (is_packed) problem.layout = RowLayout::packed;
  else if (problem.layout == RowLayout::unaligned && is_short) problem.layout = RowLayout::strided;
  for (int i = 0; i < inputs; ++i) problem.may_split = problem.may_split && tensors[i]->data != tensors[inputs]->data;
  return problem;
}

RowColumns row_columns(const hipops_tensor* weight) {
  return weight ? RowColumns{weight->data, weight->stride[0]} : RowColumns{};
}

}  // namespace hipops
