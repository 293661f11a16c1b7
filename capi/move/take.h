// The plan of gather and index_select.
#pragma once

#include <cstdint>
#include <iterator>

#include "device/move/take_contract.h"
#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"

namespace hipops {

// Both ops have the same list of kernels. The kernels of a mode are neighbours, sorted by the bits of an access.
enum class TakeMode { any, rows, staged, large, shifted, few };
#define HIPOPS_TAKE_MODE(name, bits, mode, block) TakeMode::mode,
constexpr TakeMode kTakeModes[] = {HIPOPS_TAKE_KERNELS(HIPOPS_TAKE_MODE, take)};
#undef HIPOPS_TAKE_MODE

constexpr int first_take_kernel(TakeMode mode) {
  int kernel = 0;
  while (kTakeModes[kernel] != mode) ++kernel;
  return kernel;
}
constexpr int kTakeKernels = static_cast<int>(std::size(kTakeModes));

// The kernel of a mode for accesses of `unit` bytes, which must be a power of two.
inline int take_kernel(TakeMode mode, int64_t unit) { return first_take_kernel(mode) + log2_up(unit); }

struct TakePlan {
  int kernel;
  uint32_t grid, block;   // block is 0 if plan_staged cannot serve the call
  uint32_t shared_bytes;  // dynamic shared memory
  TakeArgs args;
};

// For checked tensors, where y has elements. index_stride is the index's stride along each dimension of y; 0 if the
// index does not have the dimension.
TakePlan plan_take(PlanOptions options, const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                   const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                   hipops_index_report* report);

// The plan of a kernel that copies x to shared memory. Its `block` is 0 if such a kernel is impossible or slower.
TakePlan plan_staged(PlanOptions options, const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                     const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                     hipops_index_report* report);

// The most dynamic shared memory of a kernel: see Op::most_shared.
int64_t most_shared_of_take(int kernel, uint32_t block);

hipops_status launch_take(Op& op, const DeviceFacts& device, const TakePlan& plan, void* stream);

// For index_select, where one index holds for a whole slice: sets which elements of y use the same index.
void share_index(const hipops_tensor& y, int32_t dim, TakeArgs* args);

}  // namespace hipops
