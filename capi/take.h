// What the launchers of gather and index_select share.
#pragma once

#include <cstdint>

#include "device/take_contract.h"
#include "hipops/hipops.h"

namespace hipops {

// The kernels of either op, by the bits of a unit: any and rows of 8, 16, 32, 64, 128, staged of 8 to 64, shifted of 8
// to 32.
constexpr int kTakeKernels = 17, kTakeFirstRows = 5, kTakeFirstStaged = 10, kTakeFirstShifted = 14;

struct TakePlan {
  int kernel;
  uint32_t grid, block;
  TakeArgs args;
};

// For checked tensors, y having elements. index_stride: how the index is stepped through along each dimension of y; 0
// in those that it does not have.
TakePlan plan_take(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                   const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim, hipops_index_report* report);

// Where the index is one for all of y but dim (index_select): which elements of y use the same one.
void share_index(const hipops_tensor& y, int32_t dim, TakeArgs* args);

// hipops_supports for either: elements of any dtype, an index of one of its own.
bool take_op_supports(hipops_dtype dtype, hipops_dtype index);

}  // namespace hipops
