#include "runtime/cuda_launcher.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/core/launch_contract.h"
#include "tensor/error.h"

namespace hipops {
namespace {

// Code of this architecture or a later one waits for the launch before its own, and may be launched in clusters.
constexpr int kFirstArchitecture = 90;

struct Launch {
  CudaLaunchAttribute attributes[2] = {};
  CudaLaunch launch = {};

  Launch(const LaunchShape& shape, bool early, void* stream) {
    launch.grid[0] = shape.grid, launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = shape.block, launch.block[1] = launch.block[2] = 1;
    launch.shared_bytes = shape.shared_bytes;
    launch.stream = stream;
    launch.attributes = attributes;
    if (shape.cluster > 1) add(cuda::kLaunchClusterDimension, shape.cluster, 1, 1);
    if (early) add(cuda::kLaunchProgrammaticSerialization, 1, 0, 0);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

 private:
  void add(int id, unsigned a, unsigned b, unsigned c) {
    CudaLaunchAttribute& attribute = attributes[launch.attribute_count++];
    attribute.id = id;
    attribute.value[0] = a, attribute.value[1] = b, attribute.value[2] = c;
  }
};

// 0 is for programs that read graphs by functions without kinds of edges.
constexpr const char* kEarly = "HIPOPS_CUDA_EARLY";

bool is_wanted() {
  const char* setting = std::getenv(kEarly);
  return setting == nullptr || std::strcmp(setting, "0") != 0;
}

}  // namespace

hipops_status CudaLauncher::check_setting() {
  const char* setting = std::getenv(kEarly);
  if (setting == nullptr || *setting == '\0' || !std::strcmp(setting, "0") || !std::strcmp(setting, "1"))
    return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s is \"%s\", expected 0 or 1", kEarly, setting);
}

CudaLauncher::CudaLauncher(const CudaLibrary& cuda)
    : cuda_(cuda), early_(cuda.launch_kernel_ex && cuda.kernel_get_attribute && cuda.func_load && is_wanted()) {}

CudaLauncher::~CudaLauncher() {
  for (Clusters *of_op = clusters_, *next; of_op; of_op = next) next = of_op->next, delete of_op;
}

CudaLauncher::Clusters::Clusters(const Op& of, Clusters* loaded_before) : op(of), next(loaded_before) {
  for (auto& of_device : most)
    for (auto& of_size : of_device)
      for (std::atomic<uint32_t>& clusters : of_size) clusters.store(kUnknown, std::memory_order_relaxed);
}

int CudaLauncher::look_up(int device, DeviceFacts* facts) const {
  constexpr int kOfKernels = 12288;  // kernels' own shared memory, and the driver's
  if (!cuda_.launch_kernel_ex || !cuda_.kernel_get_attribute || !cuda_.kernel_set_attribute) return 0;
  int bytes = 0, clusters = 0;
  if (int code = cuda_.device_get_attribute(&bytes, cuda::kAttributeSharedBytesOptIn, device)) return code;
  if (int code = cuda_.device_get_attribute(&clusters, cuda::kAttributeClusterLaunch, device)) return code;
  facts->launch_shared_bytes = bytes > kOfKernels ? bytes - kOfKernels : 0;
  facts->largest_cluster = clusters && cuda_.occupancy_max_active_clusters ? kLargestCluster : 1;
  return 0;
}

void CudaLauncher::prepare(int device, const DeviceFacts& facts, const Op& op, void* const* functions) {
  if (architecture_of(device, functions[0]) < kFirstArchitecture) early_.store(false, std::memory_order_relaxed);
  for (int i = 0; op.most_shared && facts.launch_shared_bytes > 0 && i < op.kernel_count; ++i) {
    const int64_t shared = std::min(op.most_shared(i, 0), facts.launch_shared_bytes);
    if (shared == 0) continue;
    const bool allowed = cuda_.kernel_set_attribute(cuda::kKernelMaxLaunchSharedBytes, static_cast<int>(shared),
                                                    functions[i], device) == 0;
    // If the driver refuses, it counts no such clusters.
    cuda_.kernel_set_attribute(cuda::kKernelLargeClustersAllowed, 1, functions[i], device);
    for (int b = 0; b < kBlocks; ++b) {
      const int64_t brought = std::min(op.most_shared(i, kClusterBlocks[b]), facts.launch_shared_bytes);
      if (brought == 0) continue;
      for (int size = 0; size < kSizes; ++size) {
        const bool may = allowed && facts.largest_cluster > 1;
        const LaunchShape shape = {kClusterSizes[size], kClusterBlocks[b], kClusterSizes[size],
                                   static_cast<uint32_t>(brought)};
        const uint32_t clusters = may ? count(device, functions[i], shape) : 0;
        std::atomic<uint32_t>& most = clusters_of(op).most[facts.ordinal][size][b];
        most.store(std::min(most.load(std::memory_order_relaxed), clusters), std::memory_order_relaxed);
      }
    }
  }
}

// 0: unknown.
int CudaLauncher::architecture_of(int device, void* function) const {
  int architecture = 0;
  const auto ask = cuda_.kernel_get_attribute;
  return ask && ask(&architecture, cuda::kKernelPtxVersion, function, device) == 0 ? architecture : 0;
}

// 0 if the driver refuses, or if the code's architecture has no clusters.
uint32_t CudaLauncher::count(int device, void* function, const LaunchShape& shape) const {
  int clusters = 0;
  if (architecture_of(device, function) < kFirstArchitecture) return 0;
  const Launch one(shape, false, nullptr);
  if (cuda_.occupancy_max_active_clusters(&clusters, function, &one.launch) != 0) return 0;
  return static_cast<uint32_t>(clusters);
}

// Runs under the lock of loading.
CudaLauncher::Clusters& CudaLauncher::clusters_of(const Op& op) {
  Clusters* const newest = clusters_.load(std::memory_order_relaxed);
  for (Clusters* of_op = newest; of_op; of_op = of_op->next)
    if (&of_op->op == &op) return *of_op;
  Clusters* const added = new Clusters(op, newest);
  clusters_.store(added, std::memory_order_release);
  return *added;
}

uint32_t CudaLauncher::most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block) const {
  for (const Clusters* of_op = clusters_.load(std::memory_order_acquire); of_op; of_op = of_op->next) {
    if (&of_op->op != &op) continue;
    for (int size = 0; size < kSizes; ++size)
      for (int i = 0; i < kBlocks; ++i) {
        if (cluster != kClusterSizes[size] || block > kClusterBlocks[i]) continue;
        const uint32_t most = of_op->most[ordinal][size][i].load(std::memory_order_relaxed);
        return most == kUnknown ? 0 : most;
      }
  }
  return 0;
}

int CudaLauncher::launch(void* function, const LaunchShape& shape, const void* args, void* stream) const {
  void* parameters[] = {const_cast<void*>(args)};
  const bool may = shape.begins_early || shape.grid <= kMostBlocksEarly;
  const bool early = may && early_.load(std::memory_order_relaxed);
  const Launch launch(shape, early, stream);
  if (launch.launch.attribute_count > 0)
    return cuda_.launch_kernel_ex(&launch.launch, function, parameters, nullptr);
  return cuda_.launch_kernel(function, shape.grid, 1, 1, shape.block, 1, 1, shape.shared_bytes, stream, parameters,
                             nullptr);
}

}  // namespace hipops
