// What golden cases, which are small, show the kernels for large tensors with.
#pragma once

#include <atomic>

namespace hipops {

// For tools alone: while this is true, the row ops choose kernels as for more rows than the device holds at a time,
// index_add as for many indices, and gather, index_select, upsampling and copies as for large tensors.
extern std::atomic<bool> rows_count_as_many;

}  // namespace hipops
