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
  int64_t row_step_bytes;          // between neighbouring rows of y
  bool wide_row;                   // a row can be added in vectors of 16 bytes
  bool row_has_one_step;           // between neighbouring elements of a row
  bool rows_are_close;             // neighbouring rows of y are closer to each other than the elements of a row
};

SumsProblem describe_sums(const RowSums& t);

// The layout of a row.
Layout<kIndexAddOperands> row_layout(const RowSums& t);

// hipops_supports of an op that adds by an index; the check that x's dtype can be added.
bool sums_support(hipops_dtype dtype, hipops_dtype index);
hipops_status check_added(const Argument& x);

// The dtype whose kernels add a dtype: signed integers use the kernels of unsigned integers.
hipops_dtype added_as(hipops_dtype dtype);

}  // namespace hipops
