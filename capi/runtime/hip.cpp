// AMD GPUs through libamdhip64. cuda.cpp has the same structure.
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/core/launch_contract.h"
#include "tensor/error_state.h"
#include "runtime/bundle.h"
#include "runtime/code_object.h"
#include "runtime/guarded.h"
#include "runtime/hip_absence.h"
#include "runtime/hip_library.h"
#include "runtime/runtime.h"

namespace hipops {
namespace {

// Whether each work-item of a block of 1024 can have 128 registers: not on gfx9 before gfx90a. In kernels,
// few_registers is the same rule. Both treat unknown gfx9 targets as targets with few registers.
bool has_many_registers(const std::string& target) {
  const bool is_gfx9 = target.rfind("gfx9", 0) == 0;
  return target.rfind("gfx", 0) == 0 && (!is_gfx9 || target == "gfx90a" || target == "gfx942" || target == "gfx950");
}

// While this exists, a thread that captures a graph may load modules.
class CaptureRelaxed {
 public:
  explicit CaptureRelaxed(const HipLibrary& hip) : hip_(hip), exchanged_(exchange()) {}
  ~CaptureRelaxed() {
    if (exchanged_) exchange();
  }
  CaptureRelaxed(const CaptureRelaxed&) = delete;
  CaptureRelaxed& operator=(const CaptureRelaxed&) = delete;

 private:
  bool exchange() {
    if (!hip_.exchange_capture_mode) return false;
    if (hip_.exchange_capture_mode(&mode_) == 0) return true;
    hip_.get_last_error();
    return false;
  }

  const HipLibrary& hip_;
  int mode_ = hip::kCaptureModeRelaxed;
  const bool exchanged_;
};

// Finds the target in a properties struct of unknown layout: the first "gfx" with hexadecimal digits, up to the end of
// the string or to a feature, as in "gfx90a:sramecc+:xnack-".
std::string find_target(const char* bytes, size_t size) {
  for (size_t begin = 0; begin + 4 < size; ++begin) {
    if (std::memcmp(bytes + begin, "gfx", 3) != 0) continue;
    size_t end = begin + 3;
    while (end < size && bytes[end] && std::strchr("0123456789abcdef", bytes[end])) ++end;
    if (end > begin + 3 && end < size && (bytes[end] == '\0' || bytes[end] == ':'))
      return std::string(bytes + begin, end - begin);
  }
  return {};
}

class HipRuntime final : public Runtime {
 public:
  explicit HipRuntime(HipLibrary library) : hip_(std::move(library)) {}

  // HIPOPS_NO_DEVICE: the machine has no AMD GPU.
  hipops_status start();

  hipops_backend backend() const override { return HIPOPS_BACKEND_HIP; }
  hipops_status current_device(int* ordinal) override;
  hipops_status facts(int ordinal, const DeviceFacts** facts) override;
  hipops_status load(int ordinal, const Image& image, const Op& op, void** functions) override;
  hipops_status launch(void* function, const LaunchShape& shape, const void* args, size_t bytes,
                       void* stream) override;
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
  hipops_status load_refused(int code, const DeviceFacts& device, const Op& op, const CodeObjectFile& file) const;
  hipops_status look_up(int ordinal, DeviceFacts* facts) const;
  std::string target_of(int ordinal) const;
  hipops_status load_file(const char* folder, const DeviceFacts& device, const Op& op, void** functions);
  hipops_status load_embedded(const Image& image, const DeviceFacts& device, const Op& op, void** functions);
  hipops_status load_module(const unsigned char* code, const DeviceFacts& device, const Op& op,
                            const CodeObjectFile& file, void** functions) const;

  const HipLibrary hip_;
  std::mutex mutex_;  // guards the fields below
  std::atomic<const DeviceFacts*> facts_[kMaxDevices] = {};
  // The runtime may read from these after it has loaded them.
  std::vector<CodeObjectFile> kept_;
  std::map<const Image*, Bundle> bundles_;
};

// The runtime keeps the error for the thread, too. It is cleared, so that a framework in the same process does not find
// it.
hipops_status HipRuntime::checked(int code, const char* call) const {
  if (code == 0) return HIPOPS_SUCCESS;
  hip_.get_last_error();
  return fail_call_of(hip_.object, call, code, hip_.get_error_name(code), hip_.get_error_string(code));
}

// The count is first: without a GPU it returns hipErrorNoDevice in every release, but hipInit of HIP 5 returns
// hipErrorInvalidDevice.
hipops_status HipRuntime::start() {
  int count = 0;
  if (int code = hip_.get_device_count(&count)) return start_refused(code, "hipGetDeviceCount");
  if (count < 1)
    return fail(HIPOPS_NO_DEVICE, "%s has no device; %s", hip_.object.path.c_str(), why_no_amd_device().c_str());
  if (int code = hip_.init(0)) return start_refused(code, "hipInit");
  return HIPOPS_SUCCESS;
}

hipops_status HipRuntime::start_refused(int code, const char* call) const {
  hipops_status status = checked(code, call);
  if (code == hip::kNoDevice || code == hip::kInsufficientDriver) status = HIPOPS_NO_DEVICE;
  if (code != hip::kNoDevice) return fail_in_context(status, "%s: ", hip_.object.path.c_str());
  return fail_with_code(status, code, "%s: %s; %s", hip_.object.path.c_str(), hipops_last_error(),
                        why_no_amd_device().c_str());
}

hipops_status HipRuntime::current_device(int* ordinal) { return checked(hip_.get_device(ordinal), "hipGetDevice"); }

hipops_status HipRuntime::facts(int ordinal, const DeviceFacts** facts) {
  if (ordinal < 0 || ordinal >= kMaxDevices)
    return fail(HIPOPS_INVALID_ARGUMENT, "device %d, expected one of 0 to %d", ordinal, kMaxDevices - 1);
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

hipops_status HipRuntime::look_up(int ordinal, DeviceFacts* facts) const {
  char name[256] = {};
  facts->ordinal = ordinal;
  if (hipops_status status = checked(hip_.device_get_name(name, sizeof name - 1, ordinal), "hipDeviceGetName"))
    return status;
  facts->name = name;
  int code = hip_.device_get_attribute(&facts->units, hip::kAttributeMultiprocessorCount, ordinal);
  if (code == 0) code = hip_.device_get_attribute(&facts->wave_size, hip::kAttributeWarpSize, ordinal);
  if (hipops_status status = checked(code, "hipDeviceGetAttribute")) return status;
  facts->target = target_of(ordinal);
  facts->own_shared_bytes = kStaticSharedBytes;
  facts->blocks_in_one = has_many_registers(facts->target) ? kBlocksInOne : 1;
  return HIPOPS_SUCCESS;
}

// Serves messages, file names and has_many_registers, so an unknown target is no failure.
std::string HipRuntime::target_of(int ordinal) const {
  constexpr size_t kRoom = 16384;  // ten times the largest struct of any release
  if (!hip_.get_device_properties) return {};
  std::vector<char> properties(kRoom);
  if (hip_.get_device_properties(properties.data(), ordinal) != 0) {
    hip_.get_last_error();
    return {};
  }
  return find_target(properties.data(), kRoom);
}

hipops_status HipRuntime::load(int ordinal, const Image& image, const Op& op, void** functions) {
  const DeviceFacts* device = nullptr;
  if (hipops_status status = facts(ordinal, &device)) return status;
  const char* folder = secure_getenv("HIPOPS_CODE_OBJECT_DIR");
  return folder && *folder ? load_file(folder, *device, op, functions) : load_embedded(image, *device, op, functions);
}

hipops_status HipRuntime::load_file(const char* folder, const DeviceFacts& device, const Op& op, void** functions) {
  CodeObjectFile file;
  if (hipops_status status = read_code_object(folder, device.target, op.name, &file)) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  kept_.reserve(kept_.size() + 1);  // before the module is loaded: after that nothing may throw
  if (hipops_status status = load_module(file.bytes.get(), device, op, file, functions)) return status;
  kept_.push_back(std::move(file));
  return HIPOPS_SUCCESS;
}

// Unpacks the bundle once for all devices, and keeps it if one of them loads it.
hipops_status HipRuntime::load_embedded(const Image& image, const DeviceFacts& device, const Op& op,
                                        void** functions) {
  if (!image.hip_bundle) return fail(HIPOPS_NO_CODE_OBJECT, "%s: hipops was built without AMD code objects", op.name);
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, fresh] = bundles_.try_emplace(&image);
  hipops_status status = fresh ? open_bundle(image, &entry->second) : HIPOPS_SUCCESS;
  if (status == HIPOPS_SUCCESS) status = load_module(entry->second.bytes, device, op, {}, functions);
  if (status != HIPOPS_SUCCESS && fresh) bundles_.erase(entry);
  return status;
}

// The runtime gets the whole bundle, and picks the entry for its device, exact or generic.
hipops_status HipRuntime::load_module(const unsigned char* code, const DeviceFacts& device, const Op& op,
                                      const CodeObjectFile& file, void** functions) const {
  CaptureRelaxed relaxed(hip_);
  void* module = nullptr;
  if (int refusal = hip_.module_load_data(&module, code)) return load_refused(refusal, device, op, file);
  for (int i = 0; i < op.kernel_count; ++i) {
    functions[i] = nullptr;
    int refusal = hip_.module_get_function(&functions[i], module, op.kernel_names[i]);
    if (refusal == 0) continue;
    hipops_status status = checked(refusal, "hipModuleGetFunction");
    if (hip_.module_unload(module) != 0) hip_.get_last_error();
    const std::string source = file.bytes ? " of " + file.path : std::string();
    return fail_in_context(status, "%s: kernel %s%s: ", op.name, op.kernel_names[i], source.c_str());
  }
  return HIPOPS_SUCCESS;
}

hipops_status HipRuntime::load_refused(int code, const DeviceFacts& device, const Op& op,
                                       const CodeObjectFile& file) const {
  const hipops_status status = checked(code, "hipModuleLoadData");
  // kInvalidValue: newer releases return it for a bundle in which no exact target fits.
  const bool unsuitable = code == hip::kNoBinaryForGpu || code == hip::kInvalidImage ||
                          code == hip::kInvalidKernelFile || code == hip::kSharedObjectInitFailed ||
                          code == hip::kInvalidValue;
  if (!unsuitable) return fail_in_context(status, "%s: ", op.name);
  const std::string refusal = hipops_last_error();
  const std::string source = file.bytes ? file.path + " has " : std::string();
  const std::string carried = file.bytes ? std::string() : std::string("; hipops carries ") + hip_targets;
  const char* target = device.target.empty() ? "unknown target" : device.target.c_str();
  return fail_with_code(HIPOPS_NO_CODE_OBJECT, code, "%s: %sno code object for device %d, %s (%s): %s%s", op.name,
                        source.c_str(), device.ordinal, device.name.c_str(), target, refusal.c_str(), carried.c_str());
}

hipops_status HipRuntime::launch(void* function, const LaunchShape& shape, const void* args, size_t, void* stream) {
  if (shape.cluster != 1 || shape.shared_bytes != 0) return refuse(shape);
  void* parameters[] = {const_cast<void*>(args)};
  return checked(
      hip_.module_launch_kernel(function, shape.grid, 1, 1, shape.block, 1, 1, 0, stream, parameters, nullptr),
      "hipModuleLaunchKernel");
}

hipops_status HipRuntime::device_count(int* count) {
  return checked(hip_.get_device_count(count), "hipGetDeviceCount");
}

hipops_status HipRuntime::set_device(int ordinal) { return checked(hip_.set_device(ordinal), "hipSetDevice"); }

hipops_status HipRuntime::allocate(size_t bytes, void** pointer) {
  *pointer = nullptr;
  return bytes == 0 ? HIPOPS_SUCCESS : checked(hip_.malloc(pointer, bytes), "hipMalloc");
}

hipops_status HipRuntime::release(void* pointer) {
  return pointer ? checked(hip_.free(pointer), "hipFree") : HIPOPS_SUCCESS;
}

hipops_status HipRuntime::copy_to_device(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  return checked(hip_.memcpy(target, source, bytes, hip::kMemcpyHostToDevice), "hipMemcpy");
}

hipops_status HipRuntime::copy_to_host(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  return checked(hip_.memcpy(target, source, bytes, hip::kMemcpyDeviceToHost), "hipMemcpy");
}

hipops_status HipRuntime::copy_on_device(void* target, const void* source, size_t bytes) {
  if (bytes == 0) return HIPOPS_SUCCESS;
  return checked(hip_.memcpy(target, source, bytes, hip::kMemcpyDeviceToDevice), "hipMemcpy");
}

hipops_status HipRuntime::allocate_on_host(size_t bytes, void** pointer) {
  return checked(hip_.host_malloc(pointer, bytes, 0), "hipHostMalloc");
}

hipops_status HipRuntime::release_on_host(void* pointer) {
  return checked(hip_.host_free(pointer), "hipHostFree");
}

hipops_status HipRuntime::create_stream(void** stream) {
  return checked(hip_.stream_create(stream), "hipStreamCreate");
}

hipops_status HipRuntime::destroy_stream(void* stream) {
  return checked(hip_.stream_destroy(stream), "hipStreamDestroy");
}

hipops_status HipRuntime::synchronize() { return checked(hip_.device_synchronize(), "hipDeviceSynchronize"); }

std::mutex opening;
HipRuntime* opened = nullptr;

hipops_status open_once(Runtime** out) {
  std::lock_guard<std::mutex> lock(opening);
  if (!opened) {
    HipLibrary library = {};
    if (hipops_status status = open_hip_library(&library)) return status;
    auto runtime = std::make_unique<HipRuntime>(std::move(library));
    if (hipops_status status = runtime->start()) return status;
    opened = runtime.release();
  }
  *out = opened;
  return HIPOPS_SUCCESS;
}

}  // namespace

hipops_status open_hip(Runtime** out) {
  return guarded([&] { return open_once(out); });
}

}  // namespace hipops
