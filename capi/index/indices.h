// What the launchers of the ops with an index tensor share.
#pragma once

#include <initializer_list>

#include "device/index/index_contract.h"
#include "hipops/hipops.h"
#include "tensor/tensor.h"

namespace hipops {

bool is_index(hipops_dtype dtype);  // u8, i16, i32, u32, i64

// hipops_supports' `second` for these ops: the index's dtype, or HIPOPS_NONE; and where they move elements of any dtype.
bool index_op_supports_second(hipops_dtype second);
bool supports_elements_by_index(hipops_dtype dtype, hipops_dtype index);

// A tensor of one of the index dtypes.
hipops_status check_index(const Argument& index);

// 0 <= dim < t.rank.
hipops_status check_dim(const char* op, int32_t dim, const Argument& t);

// NULL, or aligned as a hipops_index_report, and apart from `tensors` and from what a call uses of the workspace.
hipops_status check_report(const char* op, const hipops_index_report* report, std::initializer_list<Argument> tensors,
                           const void* workspace = nullptr, int64_t workspace_used = 0);

// A workspace of `needed` bytes is NULL (where the op can do without: see there), or aligned, large enough, and apart
// from `tensors`.
hipops_status check_workspace(const char* op, const void* workspace, int64_t workspace_bytes, int64_t needed,
                              std::initializer_list<Argument> tensors);

// Where hipops_<op>_workspace_bytes is to write.
hipops_status check_bytes(const char* op, const int64_t* bytes);

// For a checked index into a dimension of `size`.
IndexArgs index_args(const hipops_tensor& index, int64_t size, hipops_index_report* report);

}  // namespace hipops
