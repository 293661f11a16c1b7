// Sums of whole rows by a 1-D index, as index_add and scatter_add do them: a call as its plan sees it.
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
  int64_t x_elements, y_elements;  // 0: empty, and nothing else counts
  bool wide_row;                   // a row can be taken in vectors of 16 bytes
  bool wide_rows;                  // so can all of them in one walk, row after row
};

SumsProblem describe_sums(const RowSums& t);

// What a kernel walks over: a row; with `segments`, that many rows along dim; with `of_block`, that many outside of it.
Layout<kIndexAddOperands> row_layout(const RowSums& t, int64_t segments = 1, int64_t of_block = 1);

// hipops_supports of an op that adds up by an index; whether x's dtype is one that is added.
bool sums_support(hipops_dtype dtype, hipops_dtype index);
hipops_status check_added(const Argument& x);

// By whose kernels a dtype is added: unsigned integers stand for signed ones.
hipops_dtype added_as(hipops_dtype dtype);

}  // namespace hipops
