// The contract between cumsum.hip and its launcher.
#pragma once

#include "device/reduce/cumsum_contract.h"

// X(kernel, dtype, T, mode). `columns` of the integers have one kernel: `dtype` is the largest.
#define HIPOPS_CUMSUM_KERNELS(X)                    \
  X(cumsum_f32_lines, f32, f32, lines)              \
  X(cumsum_f16_lines, f16, f16, lines)              \
  X(cumsum_bf16_lines, bf16, bf16, lines)           \
  X(cumsum_f64_lines, f64, f64, lines)              \
  X(cumsum_u8_lines, u8, u8, lines)                 \
  X(cumsum_u32_lines, u32, u32, lines)              \
  X(cumsum_u64_lines, u64, u64, lines)              \
  X(cumsum_f32_columns, f32, f32, columns)          \
  X(cumsum_f16_columns, f16, f16, columns)          \
  X(cumsum_bf16_columns, bf16, bf16, columns)       \
  X(cumsum_f64_columns, f64, f64, columns)          \
  X(cumsum_integer_columns, u64, Integers, columns)
