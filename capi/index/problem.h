// Describes a call that adds whole rows by a 1-D index (index_add, scatter_add) for its plan.
#pragma once

#include "index_add.h"
#include "hipops/hipops.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {

// y[.., index[j], ..] += x[.., j, ..] along dim. Off dim, y is no smaller than x.
struct RowSums {
  const hipops_tensor *y, *x, *index;
  int32_t dim;
};

// Plain data: calls with the same problem have the same plan.
struct SumsProblem {
  hipops_dtype dtype;
  int64_t rows, indices;           // of y and of x along dim
  int64_t row_elements;            // that an index adds
  int64_t x_elements, y_elements;  // 0: empty, and the other fields are unused
  bool wide_row;                   // a row can be added in vectors of 16 bytes
};

SumsProblem describe_sums(const RowSums& t);

// The layout that a kernel walks: `rows` rows.
Layout<kIndexAddOperands> row_layout(const RowSums& t, int64_t rows = 1);

// hipops_supports of an op that adds by an index; the check that x's dtype can be added.
bool sums_support(hipops_dtype dtype, hipops_dtype index);
hipops_status check_added(const Argument& x);

// The dtype whose kernels add a dtype: signed integers use the kernels of unsigned integers.
hipops_dtype added_as(hipops_dtype dtype);

}  // namespace hipops
