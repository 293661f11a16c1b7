// What the launchers of the ops with an index tensor share.
#pragma once

#include "device/index_contract.h"
#include "hipops/hipops.h"
#include "tensor.h"

namespace hipops {

bool is_index(hipops_dtype dtype);  // u8, i16, i32, u32, i64

// A tensor of one of the index dtypes.
hipops_status check_index(const Argument& index);

// 0 <= dim < t.rank.
hipops_status check_dim(const char* op, int32_t dim, const Argument& t);

// For a checked index into a dimension of `size`.
IndexArgs index_args(const hipops_tensor& index, int64_t size, hipops_index_report* report);

}  // namespace hipops
