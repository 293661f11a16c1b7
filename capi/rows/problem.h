// Describes a call of a row op: RowProblem for its plan, RowStreams for its kernel.
#pragma once

#include "device/rows/contract.h"
#include "hipops/hipops.h"
#include "tensor/divisor.h"
#include "tensor/strided.h"

namespace hipops {

// Plain data: calls with the same problem have the same plan.
struct RowProblem {
  hipops_dtype dtype;
  RowLayout layout;
  int64_t rows, cols;
  bool may_split;  // the first output is no input: it can hold the parts of split rows until they are merged
  bool is_invariant = false;  // HIPOPS_BATCH_INVARIANT: `rows` decides only the plan's grid
  int64_t period = 0;  // rows after which the typed input repeats; 0 without one
};

// All dimensions except the last. Neighbours are joined if the strides of all tensors allow it. There is at least one.
// Dimensions along which the typed input repeats are the outermost.
using OuterRows = Layout<kMostRowStreams>;

// A flag of describe_rows: unaligned rows are divided at the same columns at every address, so they may be invariant.
enum RowFlag : uint32_t { kSameColumns = 1u << 31 };

// The tensors have one shape, one dtype, and elements. Inputs come first. All except the first may be NULL. Scalars of
// rows and typed inputs may follow. Typed inputs are those from first_typed on, before end_typed.
OuterRows collapse_rows(const hipops_tensor* const* tensors, int count, const hipops_tensor* typed);
RowProblem row_problem(const hipops_tensor* const* tensors, int inputs, int count, int first_typed, int end_typed,
                       const RowColumns* columns, int column_count, int column_bytes, const OuterRows& outer,
                       uint32_t flags = 0);
ElementType type_of(const hipops_tensor* typed);

// Weights as an argument of a kernel; NULL means no weights.
RowColumns row_columns(const hipops_tensor* weight);

template <class C>
NormTerms<C> norm_terms(double eps, int64_t cols) {
  const C rounded = static_cast<C>(cols);
  return {static_cast<C>(eps), 1 / rounded, rounded, static_cast<C>(cols - static_cast<int64_t>(rounded))};
}

// Fills all fields of `streams`, except the plan's, from the tensors: inputs, outputs, scalars, typed inputs, given
// scalars. Returns the problem. The only flag that it uses is HIPOPS_BATCH_INVARIANT.
template <int n, int scalars, int typed, int given>
RowProblem describe_rows(const hipops_tensor* const (&tensors)[n + scalars + typed + given], int inputs, const RowColumns* columns,
                         int column_count, int column_bytes, RowStreams<n, scalars, typed, given>* streams,
                         uint32_t flags = 0) {
  constexpr int first_typed = n + scalars, first_given = first_typed + typed, all = first_given + given;
  static_assert(all <= kMostRowStreams, "room in OuterRows");
  const OuterRows outer = collapse_rows(tensors, all, typed > 0 ? tensors[first_typed] : nullptr);
  const RowProblem problem =
      row_problem(tensors, inputs, n, first_typed, first_given, columns, column_count, column_bytes, outer, flags);
  streams->rows = problem.rows;
  streams->cols = problem.cols;
  streams->dimensions = outer.rank;
  for (int d = 0; d < outer.rank; ++d) {
    auto& dimension = streams->outer[d];
    dimension.size = outer.size[d];
    for (int i = 0; i < all; ++i) {
      const bool in_bytes = i >= first_typed && tensors[i];
      dimension.stride[i] = outer.stride[i][d] * (in_bytes ? dtype_bytes(tensors[i]->dtype) : 1);
    }
    if (d + 1 < outer.rank) dimension.divisor = wide_divisor_of(dimension.size);
  }
  for (int i = 0; i < all; ++i) streams->data[i] = tensors[i] ? tensors[i]->data : nullptr;
  for (int i = 0; i < n; ++i) streams->step[i] = tensors[i] ? tensors[i]->stride[tensors[i]->rank - 1] : 0;
  for (int i = n; i < first_typed; ++i) streams->has_scalars |= tensors[i] != nullptr;
  if constexpr (typed > 0) {
    for (int i = 0; i < typed; ++i) {
      const hipops_tensor* const t = tensors[first_typed + i];
      streams->type[i] = type_of(t);
      streams->typed_step[i] = t ? t->stride[t->rank - 1] * dtype_bytes(t->dtype) : 0;
    }
  }
  return problem;
}

}  // namespace hipops
