// A stand-in libcuda on host memory with the functions that hipops calls. It executes nothing. It has one device, and
// STANDIN_FAIL and STANDIN_WORDS as in standin_amdhip/standin.h. Tests read its state with the functions at its end.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

enum Error {
  kSuccess = 0,
  kInvalidValue = 1,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidHandle = 400
};

std::mutex mutex;
std::map<std::string, int> calls;
std::set<void*> live;  // memory, streams, events, libraries and their kernels
bool initialized = false;
char context;
std::string order;  // of launches and waits
thread_local void* current = nullptr;

int ordered_failure(const std::string& function) {
  const int call = ++calls[function];
  const char* text = std::getenv("STANDIN_FAIL");
  std::stringstream rules(text ? text : "");
  for (std::string rule; std::getline(rules, rule, ',');) {
    int number = 0, error = 0;
    char name[64] = {};
    if (std::sscanf(rule.c_str(), "%63[^:]:%d:%d", name, &number, &error) != 3) std::abort();
    if (function == name && (number == 0 || number == call)) return error;
  }
  return kSuccess;
}

template <class Body>
int api(const char* function, Body body) {
  std::lock_guard<std::mutex> lock(mutex);
  if (int error = ordered_failure(function)) return error;
  return initialized || !std::strcmp(function, "cuInit") ? body() : static_cast<int>(kNotInitialized);
}

template <class Body>
int in_context(const char* function, Body body) {
  return api(function, [&]() -> int { return current == &context ? body() : static_cast<int>(kInvalidContext); });
}

template <class Pointer>
int make(Pointer* out, size_t bytes) {
  void* made = std::calloc(bytes + 1, 1);
  live.insert(made);
  *out = (Pointer)made;  // an address or a pointer
  return kSuccess;
}

int destroy(void* made) {
  if (!live.erase(made)) return kInvalidHandle;
  std::free(made);
  return kSuccess;
}

void note(const std::string& what) { order += (order.empty() ? "" : ", ") + what; }

std::string name_of(void* stream) { return std::to_string(reinterpret_cast<uintptr_t>(stream)); }

void* pointer(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

int copy(const char* function, void* target, const void* source, size_t bytes) {
  return in_context(function, [=] {
    std::memcpy(target, source, bytes);
    return kSuccess;
  });
}

}  // namespace

STANDIN_API int cuInit(unsigned flags) {
  return api("cuInit", [=] {
    initialized = flags == 0;
    return flags == 0 ? kSuccess : kInvalidValue;
  });
}
STANDIN_API int cuDeviceGetCount(int* count) {
  return api("cuDeviceGetCount", [=] { return *count = 1, kSuccess; });
}
STANDIN_API int cuDeviceGet(int* device, int ordinal) {
  return api("cuDeviceGet", [=] { return *device = 7, ordinal == 0 ? kSuccess : kInvalidDevice; });
}
STANDIN_API int cuDeviceGetName(char* name, int bytes, int device) {
  return api("cuDeviceGetName", [=] {
    std::snprintf(name, static_cast<size_t>(bytes), "Stand-in");
    return device == 7 ? kSuccess : kInvalidDevice;
  });
}
STANDIN_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return api("cuDeviceGetAttribute", [=] {
    *value = attribute == 10 ? 32 : 9;
    return device == 7 ? kSuccess : kInvalidDevice;
  });
}
STANDIN_API int cuCtxGetCurrent(void** out) {
  return api("cuCtxGetCurrent", [=] { return *out = current, kSuccess; });
}
STANDIN_API int cuCtxSetCurrent(void* next) {
  return api("cuCtxSetCurrent", [=] { return current = next, next == &context ? kSuccess : kInvalidContext; });
}
STANDIN_API int cuCtxGetDevice(int* device) {
  return in_context("cuCtxGetDevice", [=] { return *device = 7, kSuccess; });
}
STANDIN_API int cuCtxSynchronize() {
  return in_context("cuCtxSynchronize", [] { return kSuccess; });
}
STANDIN_API int cuDevicePrimaryCtxRetain(void** out, int device) {
  return api("cuDevicePrimaryCtxRetain", [=] { return *out = &context, device == 7 ? kSuccess : kInvalidDevice; });
}
STANDIN_API int cuLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  return in_context("cuLibraryLoadData", [=] { return code ? make(library, 0) : static_cast<int>(kInvalidValue); });
}
STANDIN_API int cuLibraryGetKernel(void** kernel, void* library, const char*) {
  return in_context("cuLibraryGetKernel",
                    [=] { return *kernel = library, live.count(library) ? kSuccess : kInvalidHandle; });
}
STANDIN_API int cuLibraryUnload(void* library) {
  return api("cuLibraryUnload", [=] { return destroy(library); });
}
STANDIN_API int cuKernelGetFunction(void** function, void* kernel) {
  return in_context("cuKernelGetFunction",
                    [=] { return *function = kernel, live.count(kernel) ? kSuccess : kInvalidHandle; });
}
STANDIN_API int cuFuncLoad(void* function) {
  return in_context("cuFuncLoad", [=] { return live.count(function) ? kSuccess : kInvalidHandle; });
}
STANDIN_API int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               void* stream, void**, void**) {
  return in_context("cuLaunchKernel", [=] {
    note("launch on " + name_of(stream));
    return live.count(function) ? kSuccess : kInvalidHandle;
  });
}
STANDIN_API int cuEventCreate(void** event, unsigned) {
  return in_context("cuEventCreate", [=] { return make(event, sizeof(void*)); });
}
STANDIN_API int cuEventDestroy_v2(void* event) {
  return api("cuEventDestroy", [=] { return destroy(event); });
}
STANDIN_API int cuEventRecord(void* event, void* stream) {
  return in_context("cuEventRecord", [=] {
    std::memcpy(event, &stream, sizeof stream);
    return kSuccess;
  });
}
STANDIN_API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return in_context("cuStreamWaitEvent", [=] {
    void* recorded = nullptr;
    std::memcpy(&recorded, event, sizeof recorded);
    note(name_of(stream) + " waits for " + name_of(recorded));
    return kSuccess;
  });
}
STANDIN_API int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  return in_context("cuMemAlloc", [=] { return make(address, bytes); });
}
STANDIN_API int cuMemFree_v2(uint64_t address) {
  return in_context("cuMemFree", [=] { return destroy(pointer(address)); });
}
STANDIN_API int cuMemcpyHtoD_v2(uint64_t target, const void* source, size_t bytes) {
  return copy("cuMemcpyHtoD", pointer(target), source, bytes);
}
STANDIN_API int cuMemcpyDtoH_v2(void* target, uint64_t source, size_t bytes) {
  return copy("cuMemcpyDtoH", target, pointer(source), bytes);
}
STANDIN_API int cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t bytes) {
  return copy("cuMemcpyDtoD", pointer(target), pointer(source), bytes);
}
STANDIN_API int cuMemAllocHost_v2(void** out, size_t bytes) {
  return in_context("cuMemAllocHost", [=] { return make(out, bytes); });
}
STANDIN_API int cuMemFreeHost(void* memory) {
  return in_context("cuMemFreeHost", [=] { return destroy(memory); });
}
STANDIN_API int cuStreamCreate(void** stream, unsigned) {
  return in_context("cuStreamCreate", [=] { return make(stream, 0); });
}
STANDIN_API int cuStreamDestroy_v2(void* stream) {
  return in_context("cuStreamDestroy", [=] { return destroy(stream); });
}
STANDIN_API int cuGetErrorName(int code, const char** name) {
  static thread_local char text[32];
  std::snprintf(text, sizeof text, "CUDA_STANDIN_%d", code);
  return *name = text, kSuccess;
}
STANDIN_API int cuGetErrorString(int code, const char** text) {
  if (std::getenv("STANDIN_WORDS")) return cuGetErrorName(code, text);
  return *text = "the stand-in's own words", kSuccess;
}
STANDIN_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return api("cuThreadExchangeStreamCaptureMode", [=] { return *mode = 0, kSuccess; });
}

STANDIN_API int standin_cuda_calls(const char* function) {
  std::lock_guard<std::mutex> lock(mutex);
  return calls[function];
}

// Launches and waits since it was last called.
STANDIN_API const char* standin_cuda_order() {
  static thread_local std::string text;
  std::lock_guard<std::mutex> lock(mutex);
  text.swap(order);
  order.clear();
  return text.c_str();
}

// The number of live memories, streams, events and libraries.
STANDIN_API int standin_cuda_live() {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<int>(live.size());
}
