// The arguments of ops with an index tensor (gather, scatter, scatter_add, index_select, index_add).
#pragma once

#include <stdint.h>

namespace hipops {

// Kernels branch on the type. The branch is uniform; a template parameter would make five kernels of each.
enum IndexType : int32_t { kIndexU8, kIndexI16, kIndexI32, kIndexU32, kIndexI64 };

// hipops_index_report of hipops.h, in device memory.
struct IndexReport {
  uint64_t count;  // of indices out of range
  uint64_t first;  // the least row-major position of an index out of range
};

struct IndexArgs {
  const void* data;
  IndexReport* report;  // may be null
  int64_t size;         // of the indexed dimension: valid indices are 0 to size - 1
  IndexType type;
};

}  // namespace hipops
