// The contract between cross_entropy.hip and its launcher. The numbers in the list: see HIPOPS_LONG_ROWS_OF.
#pragma once

#include "device/index/index_contract.h"
#include "device/rows/contract.h"

namespace hipops {

// The numbers of a call, in the type of the computation.
template <class C>
struct LossTerms {
  C of_target, smoothing;         // 1 - label_smoothing, and label_smoothing
  C inverse_columns, of_element;  // 1 / columns, and label_smoothing / columns
  C z_loss;
};

struct CrossEntropyArgs {
  RowColumns columns[1];          // none
  int32_t columns_are_f32;
  int32_t stores_gradient;
  RowStreams<2, 2, 0, 2> rows;    // x; dx; loss, lse; dloss, target
  IndexArgs target;               // without `data`: `rows` has it
  int64_t ignored;                // the target of a row that is left out
  LossTerms<float> terms;
  LossTerms<double> terms_in_f64;
};

}  // namespace hipops

// f64 has one kernel for all rows.
#define HIPOPS_CROSS_ENTROPY_KERNELS(X)        \
  HIPOPS_LONG_ROWS_OF(X, cross_entropy, f32)   \
  HIPOPS_LONG_ROWS_OF(X, cross_entropy, f16)   \
  HIPOPS_LONG_ROWS_OF(X, cross_entropy, bf16)  \
  X(cross_entropy_f64_strided_stream, f64, 512, 4, 512, strided, streamed, 512)
