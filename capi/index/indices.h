// The checks and arguments of ops with an index tensor.
#pragma once

#include <initializer_list>

#include "device/index/index_contract.h"
#include "hipops/hipops.h"
#include "tensor/tensor.h"

namespace hipops {

bool is_index(hipops_dtype dtype);  // u8, i16, i32, u32, i64

// hipops_supports of ops with an index: whether a dtype can be the index's, or is HIPOPS_NONE. The second function also
// accepts any dtype of the elements.
bool index_op_supports_second(hipops_dtype second);
bool supports_elements_by_index(hipops_dtype dtype, hipops_dtype index);

// Requires a valid tensor of an index dtype.
hipops_status check_index(const Argument& index);

// Requires 0 <= dim < t.rank.
hipops_status check_dim(const char* op, int32_t dim, const Argument& t);

// A report may be NULL. Otherwise it is aligned and overlaps neither `tensors` nor the used part of the workspace.
hipops_status check_report(const char* op, const hipops_index_report* report, std::initializer_list<Argument> tensors,
                           const void* workspace = nullptr, int64_t workspace_used = 0);

// For a checked index into a dimension of `size`.
IndexArgs index_args(const hipops_tensor& index, int64_t size, hipops_index_report* report);

}  // namespace hipops
