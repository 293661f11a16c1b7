// What the launchers of gather and index_select share.
#pragma once

#include <cstdint>

#include "device/move/take_contract.h"
#include "hipops/hipops.h"
#include "runtime/runtime.h"

namespace hipops {

// The kernels of either op, by the bits of a unit: any and rows of 8, 16, 32, 64, 128, staged and large of 8 to 64,
// shifted of 8 to 32, few of 8 to 128.
constexpr int kTakeKernels = 26, kTakeFirstRows = 5, kTakeFirstStaged = 10, kTakeFirstLarge = 14,
              kTakeFirstShifted = 18, kTakeFirstFew = 21;

struct TakePlan {
  int kernel;
  uint32_t grid, block;
  uint32_t shared_bytes;  // brought by the launch
  TakeArgs args;
};

// For checked tensors, y having elements. index_stride: how the index is stepped through along each dimension of y; 0
// in those that it does not have.
TakePlan plan_take(const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                   const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                   hipops_index_report* report);

// The same by way of shared memory; without a block where that does not pay, or cannot be.
TakePlan plan_staged(const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                     const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                     hipops_index_report* report);

// What launches of a kernel bring: see Op::most_shared.
int64_t most_shared_of_take(int kernel, uint32_t block);

hipops_status launch_take(Op& op, const DeviceFacts& device, const TakePlan& plan, void* stream);

// Where the index is one for all of y but dim (index_select): which elements of y use the same one.
void share_index(const hipops_tensor& y, int32_t dim, TakeArgs* args);

}  // namespace hipops
