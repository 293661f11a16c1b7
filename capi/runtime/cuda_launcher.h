// Launches kernels, and prepares them for clusters and for shared memory from the launch.
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
  ~CudaLauncher();
  // Refuses a wrong value of HIPOPS_CUDA_EARLY.
  static hipops_status check_setting();

  // Sets largest_cluster and launch_shared_bytes. Returns the driver's code.
  int look_up(int device, DeviceFacts* facts) const;
  // After an op is loaded: allows its kernels the shared memory from launches, and counts the clusters that run at a
  // time.
  void prepare(int device, const DeviceFacts& facts, const Op& op, void* const* functions);
  // The number of clusters that run at a time, of `cluster` blocks with up to `block` work-items each: the least of the
  // op's kernels. 0: none run.
  uint32_t most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block) const;
  // Returns the driver's code.
  int launch(void* function, const LaunchShape& shape, const void* args, void* stream) const;

 private:
  static constexpr int kSizes = sizeof(kClusterSizes) / sizeof(kClusterSizes[0]);
  static constexpr int kBlocks = sizeof(kClusterBlocks) / sizeof(kClusterBlocks[0]);
  static_assert(kClusterSizes[kSizes - 1] == kLargestCluster, "the sizes are those up to the largest");
  static constexpr uint32_t kUnknown = UINT32_MAX;

  int architecture_of(int device, void* function) const;
  uint32_t count(int device, void* function, const LaunchShape& shape) const;

  // Each op has its own: a launch must not depend on the other loaded ops.
  struct Clusters {
    Clusters(const Op& op, Clusters* next);

    const Op& op;
    Clusters* const next;  // of an op that was loaded before
    std::atomic<uint32_t> most[kMaxDevices][kSizes][kBlocks];
  };
  Clusters& clusters_of(const Op& op);

  const CudaLibrary& cuda_;
  std::atomic<Clusters*> clusters_{nullptr};  // launches read the list while another op is loaded
  // Whether blocks may start while the launch before theirs ends. All loaded kernels have to wait for that launch
  // (follow_launch_before, in kernels/device/core/platform.h), and the driver's graphs have to accept such launches.
  std::atomic<bool> early_;
};

}  // namespace hipops
