// What golden cases, which are small, show the kernels for large tensors with.
#pragma once

#include <atomic>

namespace hipops {

// For tools alone: while this is true, gather, index_select, upsampling and copies go as for large tensors. (index_add
// goes by a Policy: capi/policy/policy.h.)
inline std::atomic<bool> rows_count_as_many{false};

}  // namespace hipops
