// The arguments of ops with an index tensor (gather, scatter, scatter_add, index_select, index_add).
#pragma once

#include <stdint.h>

namespace hipops {

// Kernels branch on the type. The branch is uniform; a template parameter would make five kernels of each.
enum IndexType : int32_t { kIndexU8, kIndexI16, kIndexI32, kIndexU32, kIndexI64 };

// The sentinel index of a type, its maximum, which names nothing. Kernels call it the mark.
constexpr int64_t mark_of(IndexType type) {
  return type == kIndexU8    ? int64_t{UINT8_MAX}
         : type == kIndexI16 ? int64_t{INT16_MAX}
         : type == kIndexI32 ? int64_t{INT32_MAX}
         : type == kIndexU32 ? int64_t{UINT32_MAX}
                             : INT64_MAX;
}
template <IndexType Type> constexpr int64_t kMarkOf = mark_of(Type);  // for kernels

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
