// What golden cases, which are small, show the kernels for large tensors with.
#pragma once

#include <atomic>

namespace hipops {

// For tools alone: while this is true, index_add goes as for many indices, and gather, index_select, upsampling and
// copies as for large tensors.
inline std::atomic<bool> rows_count_as_many{false};

}  // namespace hipops
