// The contract between topk.hip and its launcher.
#pragma once

#include "device/select/select_contract.h"

// X(kernel, bits, mode, k): a kernel for x of 16 or 32 bits, and the most elements that it selects.
#define HIPOPS_TOPK_KERNELS(X)                \
  X(topk_b16_wave, 16, wave, kMostWaveK)      \
  X(topk_b32_wave, 32, wave, kMostWaveK)      \
  X(topk_b16_few, 16, block, kFewK)           \
  X(topk_b32_few, 32, block, kFewK)           \
  X(topk_b16_block, 16, block, kManyK)        \
  X(topk_b32_block, 32, block, kManyK)        \
  X(topk_merge_few, 32, merge, kFewK)         \
  X(topk_merge_block, 32, merge, kManyK)      \
  X(topk_b16_many, 16, many, 0)               \
  X(topk_b32_many, 32, many, 0)               \
  X(topk_sort_runs, 32, sort_runs, 0)         \
  X(topk_merge_runs, 32, merge_runs, 0)
