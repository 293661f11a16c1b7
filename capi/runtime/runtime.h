// The seam to the GPU runtimes and the CPU executor. capi/<op>.cpp sees `Op` and `launch`; tests and tools see
// `Runtime`; nothing outside this folder knows which runtime runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hipops/hipops.h"

namespace hipops {

// What a launcher may base its choice of a variant on. A copy allocates nothing.
struct DeviceNumbers {
  int ordinal = 0;
  int wave_size = 32;
  int largest_cluster = 1;          // blocks that can share a row
  int blocks_in_one = 1;            // blocks that one of a clustered variant may stand for: kBlocksInOne, or itself
  bool prefetches_rows = false;     // as device/nvidia/cluster.h says
  bool adds_vectors = false;        // has atomic additions of vectors (atomic_add_vector)
  int64_t launch_shared_bytes = 0;  // shared memory that a launch may bring for each block, beside the kernel's own
  int64_t own_shared_bytes = 0;     // what kernels have of their own where they want all there is, and launches bring none
  int units = 1;       // compute units (AMD: workgroup processors on gfx10 and later), multiprocessors, or CPU threads
};

// And what else is known of a device.
struct DeviceFacts : DeviceNumbers {
  std::string name;    // as "AMD Instinct MI300X"
  std::string target;  // as "gfx942", "sm_90", "cpu"
};

// An op's kernels in all their forms, with static storage. The build generates these (tools/cmake/registry.cmake): one
// per op, in `all_images`. Kernel i of every form is kernel_names[i].
struct Image {
  const char* op;
  const unsigned char* hip_bundle;  // of AMD code objects, to its end: see open_bundle; null when built without
  const unsigned char* hip_bundle_end;
  const unsigned char* cuda_fatbin;
  const struct CpuKernel* cpu_wave32;  // table of the op's kernels compiled for the CPU, null when built without
  const struct CpuKernel* cpu_wave64;

  // From both ends, as a difference of addresses would have to be computed when the library is loaded.
  size_t hip_bundle_bytes() const { return static_cast<size_t>(hip_bundle_end - hip_bundle); }
};
extern const Image all_images[];
extern const int image_count;
const Image* find_image(const char* op);  // null where the build left the op's kernels out
extern const char* const hip_targets;         // as "gfx90a gfx942 ..."; "" when built without
extern const char* const cuda_architectures;  // as "sm_80 sm_90 compute_120"

constexpr int kMaxDevices = 64;

// What a family of ops knows of one of its ops. The family defines a struct that derives from this one, and recognises its
// own by `family`, an address of its own. The runtime reads neither.
struct FamilyData {
  const void* family;
};

// The launcher's handle on an op's kernels: constant-initialised, one per op, in capi/<op>.cpp.
struct Op {
  const char* name;
  const char* const* kernel_names;
  int kernel_count;
  bool (*supports)(hipops_dtype dtype, hipops_dtype second);  // see hipops_supports
  // Shared memory that launches of a kernel bring: alone (block 0), or in clusters of blocks of so many work-items, 0
  // where it is not launched in any. Null: none bring any.
  int64_t (*most_shared)(int kernel, uint32_t block) = nullptr;
  Op* also = nullptr;  // whose kernels its calls launch, too
  const FamilyData* family = nullptr;
  // Loaded functions by device: null until loaded, then an array of kernel_count that lives as long as the process.
  std::atomic<void* const*> functions[kMaxDevices] = {};
};

// Blocks of a cluster that launches may ask for, up to kLargestCluster, and work-items that each has at most.
constexpr uint32_t kClusterSizes[] = {2, 4, 8, 16}, kClusterBlocks[] = {256, 512};

struct LaunchShape {
  uint32_t grid, block;       // blocks, and work-items of each
  uint32_t cluster = 1;       // 1, or one of kClusterSizes; the grid is a multiple
  uint32_t shared_bytes = 0;  // brought beside the kernel's own
  bool begins_early = false;  // NVIDIA: even where there are many blocks (kMostBlocksEarly); the kernel begins with
                              // wait_for_launch_before
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual hipops_backend backend() const = 0;

  // The calling thread's current device (device 0 of the CPU runtime).
  virtual hipops_status current_device(int* ordinal) = 0;
  // Facts of a device: looked up once, then kept.
  virtual hipops_status facts(int ordinal, const DeviceFacts** facts) = 0;
  // Loads `image` on the current device `ordinal` and looks up its kernels. functions[i] belongs to op.kernel_names[i];
  // it is null where the device has no such kernel.
  // HIPOPS_NO_CODE_OBJECT where the image has nothing for that device.
  virtual hipops_status load(int ordinal, const Image& image, const Op& op, void** functions) = 0;
  // One-dimensional launch, in any shape that DeviceFacts allow; `args` is the kernel's one parameter, which is
  // read before this returns.
  virtual hipops_status launch(void* function, const LaunchShape& shape, const void* args, size_t bytes,
                               void* stream) = 0;
  // Clusters of so many blocks of `block` work-items that run at a time, whichever of the op's kernels they are, which is
  // loaded; 0 where none do.
  virtual uint32_t most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block);

  // In the child of a fork, where the calling thread is the only one: goes on with what other threads may have held.
  // False where it cannot, as GPU runtimes.
  virtual bool survive_fork() { return false; }

  // ---- For tests and tools only; a launch never calls these.
  virtual hipops_status device_count(int* count) = 0;
  virtual hipops_status set_device(int ordinal) = 0;
  virtual hipops_status allocate(size_t bytes, void** pointer) = 0;
  virtual hipops_status release(void* pointer) = 0;
  virtual hipops_status copy_to_device(void* target, const void* source, size_t bytes) = 0;  // returns when done
  virtual hipops_status copy_to_host(void* target, const void* source, size_t bytes) = 0;
  // In order with the other copies; may return before it is done. The two ranges are apart.
  virtual hipops_status copy_on_device(void* target, const void* source, size_t bytes) = 0;
  // Host memory that is quick to copy to and from.
  virtual hipops_status allocate_on_host(size_t bytes, void** pointer) = 0;
  virtual hipops_status release_on_host(void* pointer) = 0;
  virtual hipops_status create_stream(void** stream) = 0;  // of the current device; NULL where there is but one
  virtual hipops_status destroy_stream(void* stream) = 0;
  virtual hipops_status synchronize() = 0;  // the current device's work, with its errors
};

// A launch's failure where the device has no such shape.
hipops_status refuse(const LaunchShape& shape);

// The runtime in use; chooses it at first call (HIPOPS_BACKEND, or else automatically). Lock-free after that.
hipops_status runtime(Runtime** out);

// On: each call of this thread ends with HIPOPS_NO_DEVICE once its arguments are checked, and chooses no runtime.
void check_only(bool is_on);

// Each makes its runtime, or says why it can't (HIPOPS_NO_DEVICE). The object lives as long as the process.
hipops_status open_hip(Runtime** out);
hipops_status open_cuda(Runtime** out);
hipops_status open_cpu(Runtime** out);  // reads HIPOPS_CPU_WAVE (32, 64) and the others of cpu/settings.h

// Facts of the calling thread's current device; of a refusal, for which op.
hipops_status device_facts(const DeviceFacts** facts);
hipops_status device_facts(const Op& op, const DeviceFacts** facts);

// Launches kernel `index` of `op` on the calling thread's current device, loading the op there first if need be.
hipops_status launch(Op& op, int index, uint32_t grid, uint32_t block, const void* args, size_t bytes, void* stream);

// The same where the current device is known from device_facts, so that the driver isn't asked again.
hipops_status launch(Op& op, const DeviceFacts& current, int index, const LaunchShape& shape, const void* args,
                     size_t bytes, void* stream);

// Clusters that run at a time on the current device, for which the op is loaded if need be.
hipops_status most_clusters(Op& op, const DeviceFacts& current, uint32_t cluster, uint32_t block, uint32_t* most);

// Loads `op`, and what its calls launch beside it, on the calling thread's current device.
hipops_status load(Op& op);

}  // namespace hipops
