// NVIDIA GPUs through libcuda. hip.cpp has the same structure.
#include <memory>
#include <mutex>

#include "tensor/error_state.h"
#include "runtime/cuda_launcher.h"
#include "runtime/cuda_library.h"
#include "runtime/guarded.h"
#include "runtime/runtime.h"

namespace hipops {
namespace {

CudaAddress address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// While this exists, a thread that captures a graph may load libraries.
class CaptureRelaxed {
 public:
  explicit CaptureRelaxed(const CudaLibrary& cuda) : cuda_(cuda), exchanged_(cuda.exchange_capture_mode(&mode_) == 0) {}
  ~CaptureRelaxed() {
    if (exchanged_) cuda_.exchange_capture_mode(&mode_);
  }
  CaptureRelaxed(const CaptureRelaxed&) = delete;
  CaptureRelaxed& operator=(const CaptureRelaxed&) = delete;

 private:
  const CudaLibrary& cuda_;
  int mode_ = cuda::kCaptureModeRelaxed;
  const bool exchanged_;
};

class CudaRuntime final : public Runtime {
 public:
  explicit CudaRuntime(CudaLibrary library) : cuda_(std::move(library)), launcher_(cuda_) {}

  // HIPOPS_NO_DEVICE: the machine has no NVIDIA GPU.
  hipops_status start();

  hipops_backend backend() const override { return HIPOPS_BACKEND_CUDA; }
  hipops_status current_device(int* ordinal) override;
  hipops_status facts(int ordinal, const DeviceFacts** facts) override;
  hipops_status load(int ordinal, const Image& image, const Op& op, void** functions) override;
  hipops_status launch(void* function, const LaunchShape& shape, const void* args, size_t bytes,
                       void* stream) override;
  uint32_t most_clusters(const Op& op, int ordinal, uint32_t cluster, uint32_t block) override {
    return launcher_.most_clusters(op, ordinal, cluster, block);
  }
  hipops_status device_count(int* count) override;
  hipops_status set_device(int ordinal) override;
  hipops_status allocate(size_t bytes, void** pointer) override;
  hipops_status release(void* pointer) override;
  hipops_status copy_to_device(void* target, const void* source, size_t bytes) override;
  hipops_status copy_to_host(void* target, const void* source, size_t bytes) override;
  hipops_status copy_on_device(void* target, const void* source, size_t bytes) override;
  hipops_status allocate_on_host(size_t bytes, void** pointer) override;
  hipops_status release_on_host(void* pointer) override;
  hipops_status create_stream(void** stream) override;
  hipops_status destroy_stream(void* stream) override;
  hipops_status synchronize() override;

 private:
  hipops_status checked(int code, const char* call) const;
  hipops_status start_refused(int code, const char* call) const;
  hipops_status load_refused(int code, const char* call, const DeviceFacts& device, const Op& op,
                             const char* kernel) const;
  hipops_status look_up(int ordinal, DeviceFacts* facts) const;
  int find_kernel(void* library, const char* name, void** kernel, const char** call) const;
  hipops_status make_current(int ordinal);
  hipops_status with_context();

  const CudaLibrary cuda_;
  CudaLauncher launcher_;
  int count_ = 0;
  int devices_[kMaxDevices] = {};  // by ordinal
  std::mutex mutex_;               // guards the fields below
  std::atomic<const DeviceFacts*> facts_[kMaxDevices] = {};
  void* contexts_[kMaxDevices] = {};  // primary contexts after their first use; never released
};

hipops_status CudaRuntime::checked(int code, const char* call) const {
  if (code == 0) return HIPOPS_SUCCESS;
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuda_.get_error_name(code, &name) != 0) name = nullptr;
  if (cuda_.get_error_string(code, &text) != 0) text = nullptr;
  return fail_call_of(cuda_.object, call, code, name, text);
}

hipops_status CudaRuntime::start() {
  if (int code = cuda_.init(0)) return start_refused(code, "cuInit");
  if (int code = cuda_.device_get_count(&count_)) return start_refused(code, "cuDeviceGetCount");
  if (count_ < 1) return fail(HIPOPS_NO_DEVICE, "%s has no device", cuda_.object.path.c_str());
  for (int i = 0; i < count_ && i < kMaxDevices; ++i)
    if (int code = cuda_.device_get(&devices_[i], i)) return start_refused(code, "cuDeviceGet");
  return HIPOPS_SUCCESS;
}

hipops_status CudaRuntime::start_refused(int code, const char* call) const {
  hipops_status status = checked(code, call);
  if (code == cuda::kNoDevice || code == cuda::kStubLibrary || code == cuda::kSystemDriverMismatch ||
      code == cuda::kCompatNotSupportedOnDevice)
    status = HIPOPS_NO_DEVICE;
  return fail_in_context(status, "%s: ", cuda_.object.path.c_str());
}

// A thread without a context gets the primary context of device 0, like in the CUDA runtime.
hipops_status CudaRuntime::current_device(int* ordinal) {
  // cuCtxGetDevice fails in a thread without a context, and tools that watch the driver report the failure. A thread
  // that had a context mostly keeps it, so later calls need one call of the driver.
  static thread_local bool had_context = false;
  int device = 0;
  int code = had_context ? cuda_.ctx_get_device(&device) : cuda::kInvalidContext;
  if (code == cuda::kInvalidContext) {
    void* context = nullptr;
    if (hipops_status status = checked(cuda_.ctx_get_current(&context), "cuCtxGetCurrent")) return status;
    if (!context) {
      *ordinal = 0;
      return make_current(0);
    }
    had_context = true;
    code = cuda_.ctx_get_device(&device);
  }
  if (hipops_status status = checked(code, "cuCtxGetDevice")) return status;
  const int known = count_ < kMaxDevices ? count_ : kMaxDevices;
  for (*ordinal = 0; *ordinal < known; ++*ordinal)
    if (devices_[*ordinal] == device) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "the current device is %d, expected one of the first %d", device, known);
}

hipops_status CudaRuntime::make_current(int ordinal) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ordinal < 0 || ordinal >= count_ || ordinal >= kMaxDevices)
    return fail(HIPOPS_INVALID_ARGUMENT, "device %d, expected one of 0 to %d", ordinal, count_ - 1);
  void** context = &contexts_[ordinal];
  if (!*context) {
    int code = cuda_.device_primary_ctx_retain(context, devices_[ordinal]);
    if (code != 0) *context = nullptr;
    if (hipops_status status = checked(code, "cuDevicePrimaryCtxRetain")) return status;
  }
  return checked(cuda_.ctx_set_current(*context), "cuCtxSetCurrent");
}

hipops_status CudaRuntime::with_context() {
  int ordinal = 0;
  return current_device(&ordinal);
}

hipops_status CudaRuntime::facts(int ordinal, const DeviceFacts** facts) {
  if (ordinal < 0 || ordinal >= count_ || ordinal >= kMaxDevices)
    return fail(HIPOPS_INVALID_ARGUMENT, "device %d, expected one of 0 to %d", ordinal, count_ - 1);
  *facts = facts_[ordinal].load(std::memory_order_acquire);
  if (*facts) return HIPOPS_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex_);
  *facts = facts_[ordinal].load(std::memory_order_acquire);
  if (*facts) return HIPOPS_SUCCESS;
  auto found = std::make_unique<DeviceFacts>();
  if (hipops_status status = look_up(ordinal, found.get())) return status;
  *facts = found.release();
  facts_[ordinal].store(*facts, std::memory_order_release);
  return HIPOPS_SUCCESS;
}

hipops_status CudaRuntime::look_up(int ordinal, DeviceFacts* facts) const {
  const int device = devices_[ordinal];
  char name[256] = {};
  facts->ordinal = ordinal;
  if (hipops_status status = checked(cuda_.device_get_name(name, sizeof name - 1, device), "cuDeviceGetName"))
    return status;
  facts->name = name;
  int major = 0, minor = 0;
  int code = cuda_.device_get_attribute(&facts->units, cuda::kAttributeMultiprocessorCount, device);
  if (code == 0) code = cuda_.device_get_attribute(&facts->wave_size, cuda::kAttributeWarpSize, device);
  if (code == 0) code = cuda_.device_get_attribute(&major, cuda::kAttributeComputeCapabilityMajor, device);
  if (code == 0) code = cuda_.device_get_attribute(&minor, cuda::kAttributeComputeCapabilityMinor, device);
  if (code == 0) code = launcher_.look_up(device, facts);
  facts->prefetches_rows = true;
  facts->adds_vectors = major >= 9;
  if (hipops_status status = checked(code, "cuDeviceGetAttribute")) return status;
  facts->target = "sm_" + std::to_string(major) + std::to_string(minor);
  return HIPOPS_SUCCESS;
}

// A library, unlike a module, belongs to no context: its kernels launch in the calling thread's context.
hipops_status CudaRuntime::load(int ordinal, const Image& image, const Op& op, void** functions) {
  const DeviceFacts* device = nullptr;
  if (hipops_status status = facts(ordinal, &device)) return status;
  if (!image.cuda_fatbin) return fail(HIPOPS_NO_CODE_OBJECT, "%s: hipops was built without CUDA code", op.name);
  CaptureRelaxed relaxed(cuda_);
  void* library = nullptr;
  if (int refusal = cuda_.library_load_data(&library, image.cuda_fatbin, nullptr, nullptr, 0, nullptr, nullptr, 0))
    return load_refused(refusal, "cuLibraryLoadData", *device, op, "all");
  for (int i = 0; i < op.kernel_count; ++i) {
    const char* call = "";
    int refusal = find_kernel(library, op.kernel_names[i], &functions[i], &call);
    if (refusal == 0) continue;
    cuda_.library_unload(library);
    return load_refused(refusal, call, *device, op, op.kernel_names[i]);
  }
  launcher_.prepare(devices_[ordinal], *device, op, functions);
  return HIPOPS_SUCCESS;
}

// The driver loads lazily. cuKernelGetFunction makes it load now, into the current context; the first launch may be
// part of a graph capture. The call also fails if no code in the library suits the device.
int CudaRuntime::find_kernel(void* library, const char* name, void** kernel, const char** call) const {
  void* function = nullptr;
  *call = "cuLibraryGetKernel";
  if (int code = cuda_.library_get_kernel(kernel, library, name)) return code;
  *call = "cuKernelGetFunction";
  if (int code = cuda_.kernel_get_function(&function, *kernel)) return code;
  *call = "cuFuncLoad";
  return cuda_.func_load ? cuda_.func_load(function) : 0;
}

hipops_status CudaRuntime::load_refused(int code, const char* call, const DeviceFacts& device, const Op& op,
                                        const char* kernel) const {
  const hipops_status status = checked(code, call);
  const bool unsuitable =
      code == cuda::kNoBinaryForGpu || code == cuda::kInvalidImage || code == cuda::kUnsupportedPtxVersion;
  if (!unsuitable) return fail_in_context(status, "%s: kernel %s: ", op.name, kernel);
  const std::string refusal = hipops_last_error();
  return fail_with_code(HIPOPS_NO_CODE_OBJECT, code, "%s: no code for device %d, %s (%s): %s; hipops carries %s",
                        op.name, device.ordinal, device.name.c_str(), device.target.c_str(), refusal.c_str(),
                        cuda_architectures);
}

hipops_status CudaRuntime::launch(void* function, const LaunchShape& shape, const void* args, size_t, void* stream) {
  return checked(launcher_.launch(function, shape, args, stream), "cuLaunchKernel");
}

hipops_status CudaRuntime::device_count(int* count) {
  *count = count_;
  return HIPOPS_SUCCESS;
}

hipops_status CudaRuntime::set_device(int ordinal) { return make_current(ordinal); }

hipops_status CudaRuntime::allocate(size_t bytes, void** pointer) {
  CudaAddress memory = 0;
  *pointer = nullptr;
  if (bytes == 0) return HIPOPS_SUCCESS;
  if (hipops_status status = with_context()) return status;
  if (hipops_status status = checked(cuda_.mem_alloc(&memory, bytes), "cuMemAlloc")) return status;
  *pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
  return HIPOPS_SUCCESS;
}

hipops_status CudaRuntime::release(void* pointer) {
  if (!pointer) return HIPOPS_SUCCESS;
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.mem_free(address(pointer)), "cuMemFree");
}

hipops_status CudaRuntime::copy_to_device(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.memcpy_host_to_device(address(target), source, bytes), "cuMemcpyHtoD");
}

hipops_status CudaRuntime::copy_to_host(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.memcpy_device_to_host(target, address(source), bytes), "cuMemcpyDtoH");
}

hipops_status CudaRuntime::copy_on_device(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.memcpy_device_to_device(address(target), address(source), bytes), "cuMemcpyDtoD");
}

hipops_status CudaRuntime::allocate_on_host(size_t bytes, void** pointer) {
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.mem_alloc_host(pointer, bytes), "cuMemAllocHost");
}

hipops_status CudaRuntime::release_on_host(void* pointer) {
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.mem_free_host(pointer), "cuMemFreeHost");
}

// Null-stream copies wait for such a stream.
hipops_status CudaRuntime::create_stream(void** stream) {
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.stream_create(stream, 0), "cuStreamCreate");
}

hipops_status CudaRuntime::destroy_stream(void* stream) {
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.stream_destroy(stream), "cuStreamDestroy");
}

hipops_status CudaRuntime::synchronize() {
  if (hipops_status status = with_context()) return status;
  return checked(cuda_.ctx_synchronize(), "cuCtxSynchronize");
}

std::mutex opening;
CudaRuntime* opened = nullptr;

hipops_status open_once(Runtime** out) {
  std::lock_guard<std::mutex> lock(opening);
  if (!opened) {
    CudaLibrary library = {};
    if (hipops_status status = open_cuda_library(&library)) return status;
    if (hipops_status status = CudaLauncher::check_setting()) return status;  // only with a driver
    auto runtime = std::make_unique<CudaRuntime>(std::move(library));
    if (hipops_status status = runtime->start()) return status;
    opened = runtime.release();
  }
  *out = opened;
  return HIPOPS_SUCCESS;
}

}  // namespace

hipops_status open_cuda(Runtime** out) {
  return guarded([&] { return open_once(out); });
}

}  // namespace hipops
