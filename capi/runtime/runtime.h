// The interface to the GPU runtimes and the CPU executor. capi/<op>.cpp uses `Op` and `launch`; tests and tools use
// `Runtime`. No code outside this folder depends on which runtime is in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hipops/hipops.h"

namespace hipops {

// The facts of a device for plans. A copy allocates nothing.
struct DeviceNumbers {
  int ordinal = 0;
  int wave_size = 32;
  int largest_cluster = 1;          // blocks that can share a row
  int blocks_in_one = 1;            // blocks of a cluster that one larger block may replace: kBlocksInOne, or 1
  bool prefetches_rows = false;     // see device/nvidia/cluster.h
  bool adds_vectors = false;        // has atomic additions of vectors (atomic_add_vector)
  int64_t launch_shared_bytes = 0;  // most shared memory that a launch adds to the kernel's own, in a block
  int64_t own_shared_bytes = 0;     // most of a kernel's own shared memory, if launches add none
  int units = 1;       // compute units (AMD: workgroup processors on gfx10 and later), multiprocessors, or CPU threads
};

// Further facts, for messages and tools.
struct DeviceFacts : DeviceNumbers {
  std::string name;    // as "AMD Instinct MI300X"
  std::string target;  // as "gfx942", "sm_90", "cpu"
};

// An op's kernels in all forms. The build generates one for each op, in `all_images` (tools/cmake/registry.cmake).
// Kernel i of every form is kernel_names[i].
struct Image {
  const char* op;
  const unsigned char* hip_bundle;  // AMD code objects, up to hip_bundle_end (open_bundle). Null: not built
  const unsigned char* hip_bundle_end;
  const unsigned char* cuda_fatbin;
  const struct CpuKernel* cpu_wave32;  // a table of the kernels for the CPU. Null: not built
  const struct CpuKernel* cpu_wave64;

  // The image has both ends, not the size: a difference of addresses would be computed when the library is loaded.
  size_t hip_bundle_bytes() const { return static_cast<size_t>(hip_bundle_end - hip_bundle); }
};
extern const Image all_images[];
extern const int image_count;
const Image* find_image(const char* op);  // null: the build has no kernels of the op
extern const char* const hip_targets;         // as "gfx90a gfx942 ..."; "": not built
extern const char* const cuda_architectures;  // as "sm_80 sm_90 compute_120"

constexpr int kMaxDevices = 64;

// The data that a family of ops keeps for one op. The family derives a struct from this one, and recognises it by
// `family`, an address that only this family uses. The runtime reads neither.
struct FamilyData {
  const void* family;
};

// An op and its kernels: constant-initialised, in capi/<op>.cpp.
struct Op {
  const char* name;
  const char* const* kernel_names;
  int kernel_count;
  bool (*supports)(hipops_dtype dtype, hipops_dtype second);  // see hipops_supports
  // Most shared memory that launches bring to a kernel: without a cluster (block 0), or in clusters of blocks of
  // `block` work-items (0: it has no such launches). Null: launches of this op bring none.
  int64_t (*most_shared)(int kernel, uint32_t block) = nullptr;
  Op* const* also = nullptr;  // other ops whose kernels its calls launch, then null
  const FamilyData* family = nullptr;
  // Loaded functions by device: null until the op is loaded, then an array of kernel_count that is never freed.
  std::atomic<void* const*> functions[kMaxDevices] = {};
};

// The possible numbers of blocks in a cluster, up to kLargestCluster, and the most work-items of each block: a multiprocessor
// has room for 4, 3, 2 or 1 blocks of up to 512, of 128 registers a work-item.
constexpr uint32_t kClusterSizes[] = {2, 4, 8, 16}, kClusterBlocks[] = {128, 160, 256, 512, 1024};

struct LaunchShape {
  uint32_t grid, block;       // blocks, and work-items of each
  uint32_t cluster = 1;       // 1, or one of kClusterSizes; the grid is a multiple
  uint32_t shared_bytes = 0;  // of a block, in addition to the kernel's own
  bool begins_early = false;  // NVIDIA: also with more than kMostBlocksEarly blocks, because the kernel begins with
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
  // Loads `image` on the current device `ordinal`, and finds its kernels. functions[i] belongs to op.kernel_names[i];
  // null: not for this device. HIPOPS_NO_CODE_OBJECT: the image has no code for the device.
  virtual hipops_status load(int ordinal, const Image& image, const Op& op, void** functions) = 0;
  // A one-dimensional launch, in any shape that DeviceFacts allow. `args` is the kernel's one parameter; the call reads
  // it.
  virtual hipops_status launch(void* function, const LaunchShape& shape, const void* args, size_t bytes,
                               void* stream) = 0;
  // How many clusters of `cluster` blocks of `block` work-items run at a time: the least of the op's kernels. The op is
  // loaded. 0: none run.
  virtual uint32_t most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block);

  // In the child of a fork, which has only the calling thread: releases the locks and memory of other threads. False:
  // the runtime does not survive a fork, like GPU runtimes.
  virtual bool survive_fork() { return false; }

  // ---- For tests and tools only; a launch never calls these.
  virtual hipops_status device_count(int* count) = 0;
  virtual hipops_status set_device(int ordinal) = 0;
  virtual hipops_status allocate(size_t bytes, void** pointer) = 0;
  virtual hipops_status release(void* pointer) = 0;
  virtual hipops_status copy_to_device(void* target, const void* source, size_t bytes) = 0;  // returns when done
  virtual hipops_status copy_to_host(void* target, const void* source, size_t bytes) = 0;
  // Is in order with the other copies, and may return before it is done. The ranges do not overlap.
  virtual hipops_status copy_on_device(void* target, const void* source, size_t bytes) = 0;
  // Host memory with fast copies.
  virtual hipops_status allocate_on_host(size_t bytes, void** pointer) = 0;
  virtual hipops_status release_on_host(void* pointer) = 0;
  virtual hipops_status create_stream(void** stream) = 0;  // of the current device. NULL: the runtime has one stream
  virtual hipops_status destroy_stream(void* stream) = 0;
  virtual hipops_status synchronize() = 0;  // the current device's work, with its errors
};

// The failure of a launch whose shape the device does not have.
hipops_status refuse(const LaunchShape& shape);

// The runtime in use. The first call chooses it, by HIPOPS_BACKEND or automatically; later calls lock nothing.
hipops_status runtime(Runtime** out);

// On: each call of this thread returns HIPOPS_NO_DEVICE after the checks of its arguments, and chooses no runtime.
void check_only(bool is_on);

// Each makes its runtime, which is never freed. HIPOPS_NO_DEVICE: the message names the reason.
hipops_status open_hip(Runtime** out);
hipops_status open_cuda(Runtime** out);
hipops_status open_cpu(Runtime** out);  // reads the variables of cpu/settings.h

// Facts of the calling thread's current device. With an op, the message of a failure names it.
hipops_status device_facts(const DeviceFacts** facts);
hipops_status device_facts(const Op& op, const DeviceFacts** facts);

// Launches kernel `index` of `op` on the calling thread's current device. Loads the op at its first use there.
hipops_status launch(Op& op, int index, uint32_t grid, uint32_t block, const void* args, size_t bytes, void* stream);

// The same, for a current device that device_facts returned, without another call of the driver.
hipops_status launch(Op& op, const DeviceFacts& current, int index, const LaunchShape& shape, const void* args,
                     size_t bytes, void* stream);

// How many clusters run at a time on the current device. Loads the op at its first use there.
hipops_status most_clusters(Op& op, const DeviceFacts& current, uint32_t cluster, uint32_t block, uint32_t* most);

// Loads `op`, and the ops whose kernels it launches, on the calling thread's current device.
hipops_status load(Op& op);

}  // namespace hipops
