// A plan depends on these options, the problem and the device. A call reads its options once, and passes them by value.
#pragma once

#include <cstdint>

namespace hipops {

struct DeviceFacts;
struct Policy;

// The ways of sums by an index. Tests and tools change them to plan small problems like large problems.
struct SumsPolicy {
  bool few = true, scan = true;  // false: indices are sorted if there is a workspace, and scanned otherwise
};

struct PlanOptions {
  const Policy* policy = nullptr;  // measured choices for rows (policy.h); null: the default policy
  bool small_apart = true;         // false: few rows and small tensors are planned like many rows and large tensors
  SumsPolicy sums;
  int64_t most_blocks = INT64_MAX;  // of a launch; kernels loop over the rest

  int64_t within_most(int64_t blocks) const { return blocks < most_blocks ? blocks : most_blocks; }
  // Blocks of `block` work-items for `count` work-items, which kernels loop over if blocks are fewer. A launch has
  // fewer than 2^32 work-items.
  uint32_t grid_for(int64_t count, uint32_t block) const {
    const int64_t most = (int64_t{1} << 32) / block - 1, blocks = (count + block - 1) / block;
    return static_cast<uint32_t>(within_most(blocks < most ? blocks : most));
  }
};

// The options of a call: the defaults, or those that a test or a tool has set.
PlanOptions plan_options();

// The same for row ops: with the device's policy if the options name none.
PlanOptions plan_options(const DeviceFacts& device);

// For parity/temporary_options.h: sets the options of all calls of the process, which the caller keeps (null: the
// defaults), and returns the options before.
const PlanOptions* replace_plan_options(const PlanOptions* options);

}  // namespace hipops
