#include "runtime/cuda_clusters.h"

#include <algorithm>

namespace hipops {
namespace {

struct Launch {
  CudaLaunchAttribute size = {};
  CudaLaunch launch = {};

  Launch(const LaunchShape& shape, void* stream) {
    size.id = cuda::kLaunchClusterDimension;
    size.cluster[0] = shape.cluster, size.cluster[1] = size.cluster[2] = 1;
    launch.grid[0] = shape.grid, launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = shape.block, launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shape.shared_bytes;
    launch.stream = stream;
    launch.attributes = &size;
    launch.attribute_count = shape.cluster > 1;
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
};

}  // namespace

CudaClusters::CudaClusters(const CudaLibrary& cuda) : cuda_(cuda) {
  for (auto& of_device : most_)
    for (std::atomic<uint32_t>& most : of_device) most.store(kUnknown, std::memory_order_relaxed);
}

int CudaClusters::look_up(int device, DeviceFacts* facts) const {
  constexpr int kOfKernels = 4096;  // kernels' own shared memory, and the driver's
  if (!cuda_.launch_kernel_ex || !cuda_.kernel_get_attribute || !cuda_.kernel_set_attribute) return 0;
  int bytes = 0, clusters = 0;
  if (int code = cuda_.device_get_attribute(&bytes, cuda::kAttributeSharedBytesOptIn, device)) return code;
  if (int code = cuda_.device_get_attribute(&clusters, cuda::kAttributeClusterLaunch, device)) return code;
  facts->launch_shared_bytes = bytes > kOfKernels ? bytes - kOfKernels : 0;
  facts->largest_cluster = clusters && cuda_.occupancy_max_active_clusters ? 1 << kSizes : 1;
  return 0;
}

void CudaClusters::prepare(int device, const DeviceFacts& facts, const Op& op, void* const* functions) {
  for (int i = 0; op.most_shared && facts.launch_shared_bytes > 0 && i < op.kernel_count; ++i) {
    const int64_t shared = std::min(op.most_shared(i), facts.launch_shared_bytes);
    if (shared == 0) continue;
    const bool allowed = cuda_.kernel_set_attribute(cuda::kKernelMaxLaunchSharedBytes, static_cast<int>(shared),
                                                    functions[i], device) == 0;
    for (int size = 0; size < kSizes; ++size) {
      const uint32_t clusters =
          allowed && facts.largest_cluster > 1 ? count(device, functions[i], 2u << size, shared) : 0;
      std::atomic<uint32_t>& most = most_[facts.ordinal][size];
      most.store(std::min(most.load(std::memory_order_relaxed), clusters), std::memory_order_relaxed);
    }
  }
}

// None where something refuses, or where the code is of an architecture that knows no clusters.
uint32_t CudaClusters::count(int device, void* function, uint32_t cluster, int64_t shared) const {
  constexpr int kFirstArchitecture = 90;
  int architecture = 0, block = 0, clusters = 0;
  if (cuda_.kernel_get_attribute(&architecture, cuda::kKernelPtxVersion, function, device) != 0) return 0;
  if (cuda_.kernel_get_attribute(&block, cuda::kKernelMaxThreads, function, device) != 0) return 0;
  if (architecture < kFirstArchitecture) return 0;
  const Launch one({cluster, static_cast<uint32_t>(block), cluster, static_cast<uint32_t>(shared)}, nullptr);
  if (cuda_.occupancy_max_active_clusters(&clusters, function, &one.launch) != 0) return 0;
  return static_cast<uint32_t>(clusters);
}

uint32_t CudaClusters::most(int ordinal, uint32_t cluster) const {
  for (int size = 0; size < kSizes; ++size) {
    if (cluster != 2u << size) continue;
    const uint32_t most = most_[ordinal][size].load(std::memory_order_relaxed);
    return most == kUnknown ? 0 : most;
  }
  return 0;
}

int CudaClusters::launch(void* function, const LaunchShape& shape, const void* args, void* stream) const {
  void* parameters[] = {const_cast<void*>(args)};
  const Launch launch(shape, stream);
  return cuda_.launch_kernel_ex(&launch.launch, function, parameters, nullptr);
}

}  // namespace hipops
