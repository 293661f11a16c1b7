// The contract between reduce.hip and its launcher.
#pragma once

#include "device/reduce/reduce_contract.h"

// X(kernel, T, mode)
#define HIPOPS_REDUCE_INPUT_KERNELS(X)    \
  X(reduce_f32_rows, f32, rows)           \
  X(reduce_f16_rows, f16, rows)           \
  X(reduce_bf16_rows, bf16, rows)         \
  X(reduce_f64_rows, f64, rows)           \
  X(reduce_f32_columns, f32, columns)     \
  X(reduce_f16_columns, f16, columns)     \
  X(reduce_bf16_columns, bf16, columns)   \
  X(reduce_f64_columns, f64, columns)
#define HIPOPS_REDUCE_MERGE_KERNELS(X)    \
  X(reduce_f32_merge, f32, merge)         \
  X(reduce_f64_merge, f64, merge)

#define HIPOPS_REDUCE_KERNELS(X)  \
  HIPOPS_REDUCE_INPUT_KERNELS(X)  \
  HIPOPS_REDUCE_MERGE_KERNELS(X)
