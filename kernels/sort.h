// The contract between sort.hip and its launcher.
#pragma once

#include "device/select/sort_contract.h"

// X(kernel, function, block, resident): the blocks that a multiprocessor of NVIDIA has room for. All dtypes have the same kernels.
#define HIPOPS_SORT_KERNELS(X)                       \
  X(sort_rows, sort_short_rows, kShortRowsBlock, 4)  \
  X(sort_count, count_digits, kSortRowsBlock, 2)     \
  X(sort_offsets, add_counts, kSortRowsBlock, 2)     \
  X(sort_partition, partition, kSortRowsBlock, 2)
