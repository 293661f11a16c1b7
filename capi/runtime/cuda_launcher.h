// Launches, and what a kernel needs for those in clusters or with shared memory that the launch brings.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/core/launch_contract.h"
#include "runtime/cuda_library.h"
#include "runtime/runtime.h"

namespace hipops {

class CudaLauncher {
 public:
  explicit CudaLauncher(const CudaLibrary& cuda);
  // What HIPOPS_CUDA_EARLY may be.
  static hipops_status check_setting();

  // Fills in largest_cluster and launch_shared_bytes; the driver's code.
  int look_up(int device, DeviceFacts* facts) const;
  // Of an op that was just loaded: lets its kernels have the shared memory that launches bring, and finds how many of
  // their clusters run at a time.
  void prepare(int device, const DeviceFacts& facts, const Op& op, void* const* functions);
  // Clusters of so many blocks, each of up to as many work-items, of the op's kernel that has room for fewest; 0 where
  // there are none.
  uint32_t most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block) const;
  // The driver's code.
  int launch(void* function, const LaunchShape& shape, const void* args, void* stream) const;

 private:
  static constexpr int kSizes = sizeof(kClusterSizes) / sizeof(kClusterSizes[0]);
  static constexpr int kBlocks = sizeof(kClusterBlocks) / sizeof(kClusterBlocks[0]);
  static_assert(kClusterSizes[kSizes - 1] == kLargestCluster, "the sizes are those up to the largest");
  static constexpr uint32_t kUnknown = UINT32_MAX;

  int architecture_of(int device, void* function) const;
  uint32_t count(int device, void* function, const LaunchShape& shape) const;

  // Of one op: a launch must not depend on which others have been loaded.
  struct Clusters {
    std::atomic<const Op*> op{nullptr};
    std::atomic<uint32_t> most[kMaxDevices][kSizes][kBlocks];
  };
  static constexpr int kOpsInClusters = 4;  // more than there are; others would have none
  Clusters* clusters_of(const Op& op);      // null for others

  const CudaLibrary& cuda_;
  Clusters clusters_[kOpsInClusters];
  // Whether blocks may be placed while the launch before theirs still ends: all kernels that were loaded wait for it
  // (follow_launch_before, in kernels/device/core/platform.h), and graphs of this driver take such launches.
  std::atomic<bool> early_;
};

}  // namespace hipops
