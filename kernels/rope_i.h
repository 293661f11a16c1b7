// The contract between rope_i.hip and its launcher; the arguments are RopeArgs.
#pragma once

#include "device/move/rope_contract.h"

#define HIPOPS_ROPE_I_KERNELS(X)    \
  HIPOPS_ROPES_KERNELS(X, rope_i)   \
  X(rope_i_f32_wide_2, f32, 2, 16)   \
  X(rope_i_f16_wide_2, f16, 2, 16)   \
  X(rope_i_bf16_wide_2, bf16, 2, 16) \
  X(rope_i_f64_wide_2, f64, 2, 16)
