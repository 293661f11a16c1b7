// A stand-in libamdhip64 on host memory: see standin.h. It detects wrong calls of HIP: it checks handles, devices,
// pointers, sizes and the layout of bundles.
//
// It is built three times: with all functions; with STANDIN_WITHOUT_LAUNCH, which lacks a function that hipops needs;
// and with STANDIN_HIP5, which lacks the functions that are newer than HIP 5.0 or optional.
#include "standin.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "code_object.h"

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

enum Error {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevicePointer = 17,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kCaptureUnsupported = 900,
};

struct Module;

struct Function {
  std::string name;
  Module* module;
};

struct Module {
  int device;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Rule {
  std::string function;
  int call;  // 0: every one
  int error;
};

struct State {
  std::mutex mutex;
  std::vector<std::string> devices;
  bool refuses = false;  // as HIP does without a device
  int no_entry = kNoBinaryForGpu;
  std::map<std::string, int> calls;
  std::map<std::string, int> calls_for_rules;
  std::vector<Rule> rules;
  std::map<void*, std::unique_ptr<Module>> modules;
  std::set<void*> functions;
  std::map<char*, size_t> allocations;
  std::set<void*> host_allocations;
  std::map<void*, std::unique_ptr<char>> streams;
  void (*observer)(const StandinLaunch*) = nullptr;
  bool capturing = false;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = text.find(separator, begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void add_rules(State& state, const char* text) {
  for (const std::string& rule : split(text ? text : "", ',')) {
    std::vector<std::string> parts = split(rule, ':');
    if (parts.size() != 3) {
      std::fprintf(stderr, "standin: rule \"%s\", expected FUNCTION:CALL:ERROR\n", rule.c_str());
      std::abort();
    }
    state.calls_for_rules[parts[0]] = 0;
    state.rules.push_back({parts[0], std::atoi(parts[1].c_str()), std::atoi(parts[2].c_str())});
  }
}

// Never destroyed: threads may still call while the process ends.
State& state() {
  static State* instance = [] {
    auto* made = new State;
    const char* arch = std::getenv("STANDIN_ARCH");
    made->refuses = arch && !std::strcmp(arch, "none");
    if (!made->refuses && (!arch || std::strcmp(arch, "zero") != 0)) made->devices = split(arch ? arch : "gfx942", ',');
    add_rules(*made, std::getenv("STANDIN_FAIL"));
    if (const char* error = std::getenv("STANDIN_NO_ENTRY")) made->no_entry = std::atoi(error);
    return made;
  }();
  return *instance;
}

thread_local int current = 0;
thread_local int last_error = 0;
thread_local int capture_mode = 0;

// The error of a rule for this call of `function`, or 0.
int ordered_failure(State& s, const char* function) {
  ++s.calls[function];
  const int call = ++s.calls_for_rules[function];
  for (const Rule& rule : s.rules)
    if (rule.function == function && (rule.call == 0 || rule.call == call)) return rule.error;
  return kSuccess;
}

// Each HIP function begins with this. It counts the call, fails if a rule requires it, and keeps the error for the
// thread.
template <class Body>
int api(const char* function, Body body) {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  int error = ordered_failure(s, function);
  if (error == kSuccess) error = body(s);
  if (error != kSuccess) last_error = error;
  return error;
}

bool is_device(const State& s, int ordinal) { return ordinal >= 0 && static_cast<size_t>(ordinal) < s.devices.size(); }

bool is_rdna(const std::string& arch) { return arch.compare(0, 4, "gfx1") == 0; }

// The allocation holds all of [pointer, pointer + bytes).
bool is_device_memory(const State& s, const void* pointer, size_t bytes) {
  const char* at = static_cast<const char*>(pointer);
  for (const auto& allocation : s.allocations)
    if (at >= allocation.first && at + bytes <= allocation.first + allocation.second) return true;
  return false;
}

int properties(void* out, int ordinal, size_t offset, size_t size) {
  State& s = state();
  if (!out) return kInvalidValue;
  if (!is_device(s, ordinal)) return kInvalidDevice;
  std::memset(out, 0, size);
  std::snprintf(static_cast<char*>(out) + offset, 256, "%s:sramecc+:xnack-", s.devices[ordinal].c_str());
  std::snprintf(static_cast<char*>(out), 256, "Stand-in gfx GPU");  // a name that may confuse a parser
  return kSuccess;
}

}  // namespace

STANDIN_API int hipInit(unsigned flags) {
  return api("hipInit", [&](State& s) { return flags ? kInvalidValue : s.refuses ? kNoDevice : kSuccess; });
}

STANDIN_API int hipGetDeviceCount(int* count) {
  return api("hipGetDeviceCount", [&](State& s) {
    if (!count) return kInvalidValue;
    *count = static_cast<int>(s.devices.size());
    return s.refuses ? kNoDevice : kSuccess;
  });
}

STANDIN_API int hipGetDevice(int* ordinal) {
  return api("hipGetDevice", [&](State&) {
    if (!ordinal) return kInvalidValue;
    *ordinal = current;
    return kSuccess;
  });
}

STANDIN_API int hipSetDevice(int ordinal) {
  return api("hipSetDevice", [&](State& s) {
    if (!is_device(s, ordinal)) return kInvalidDevice;
    current = ordinal;
    return kSuccess;
  });
}

STANDIN_API int hipDeviceGetName(char* name, int bytes, int ordinal) {
  return api("hipDeviceGetName", [&](State& s) {
    if (!name || bytes < 1) return kInvalidValue;
    if (!is_device(s, ordinal)) return kInvalidDevice;
    std::snprintf(name, static_cast<size_t>(bytes), "Stand-in %d", ordinal);
    return kSuccess;
  });
}

// The attributes have the numbers of hip_runtime_api.h. The wave size is 64 before gfx10, and 32 from gfx10 on. Each
// device has another number of units.
STANDIN_API int hipDeviceGetAttribute(int* value, int attribute, int ordinal) {
  return api("hipDeviceGetAttribute", [&](State& s) {
    if (!value) return kInvalidValue;
    if (!is_device(s, ordinal)) return kInvalidDevice;
    if (attribute != 63 && attribute != 87) return kInvalidValue;
    *value = attribute == 63 ? 100 + ordinal : is_rdna(s.devices[ordinal]) ? 32 : 64;
    return kSuccess;
  });
}

#ifdef STANDIN_HIP5
STANDIN_API int hipGetDeviceProperties(void* out, int ordinal) {
  return api("hipGetDeviceProperties", [&](State&) { return properties(out, ordinal, 396, 792); });
}
#else
// In later releases the old name keeps the old layout. hipops must not use it there.
STANDIN_API int hipGetDeviceProperties(void*, int) {
  return api("hipGetDeviceProperties", [](State&) { return kInvalidValue; });
}

STANDIN_API int hipGetDevicePropertiesR0600(void* out, int ordinal) {
  return api("hipGetDevicePropertiesR0600", [&](State&) { return properties(out, ordinal, 1160, 1472); });
}

STANDIN_API int hipThreadExchangeStreamCaptureMode(int* mode) {
  return api("hipThreadExchangeStreamCaptureMode", [&](State&) {
    if (!mode || *mode < 0 || *mode > 2) return kInvalidValue;
    std::swap(*mode, capture_mode);
    return kSuccess;
  });
}
#endif

STANDIN_API int hipModuleLoadData(void** out, const void* image) {
  return api("hipModuleLoadData", [&](State& s) -> int {
    if (!out || !image) return kInvalidValue;
    if (!is_device(s, current)) return kInvalidDevice;
    if (s.capturing && capture_mode != 2) return kCaptureUnsupported;
    std::vector<std::string> kernels;
    const Outcome outcome = find_kernels(static_cast<const unsigned char*>(image), s.devices[current], &kernels);
    if (outcome == Outcome::kMalformed) return kInvalidImage;
    if (outcome == Outcome::kNoEntry) return s.no_entry;
    auto module = std::make_unique<Module>();
    module->device = current;
    for (const std::string& kernel : kernels)
      module->functions[kernel] = std::unique_ptr<Function>(new Function{kernel, module.get()});
    *out = module.get();
    s.modules[*out] = std::move(module);
    return kSuccess;
  });
}

STANDIN_API int hipModuleUnload(void* module) {
  return api("hipModuleUnload", [&](State& s) {
    auto found = s.modules.find(module);
    if (found == s.modules.end()) return kInvalidHandle;
    for (const auto& function : found->second->functions) s.functions.erase(function.second.get());
    s.modules.erase(found);
    return kSuccess;
  });
}

STANDIN_API int hipModuleGetFunction(void** out, void* module, const char* name) {
  return api("hipModuleGetFunction", [&](State& s) {
    if (!out || !name) return kInvalidValue;
    auto found = s.modules.find(module);
    if (found == s.modules.end()) return kInvalidHandle;
    auto function = found->second->functions.find(name);
    if (function == found->second->functions.end()) return kNotFound;
    *out = function->second.get();
    s.functions.insert(*out);
    return kSuccess;
  });
}

#ifndef STANDIN_WITHOUT_LAUNCH
STANDIN_API int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                      void* stream, void** parameters, void** extra) {
  return api("hipModuleLaunchKernel", [&](State& s) {
    if (!s.functions.count(function)) return kInvalidHandle;
    const auto* handle = static_cast<const Function*>(function);
    if (handle->module->device != current) return kInvalidHandle;
    if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z) return kInvalidValue;
    if (1ull * block_x * block_y * block_z > 1024 || 1ull * grid_x * block_x > 0xffffffffull) return kInvalidValue;
    if (!parameters || !parameters[0] || extra) return kInvalidValue;
    const StandinLaunch launch = {handle->name.c_str(), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                  shared_bytes,         stream,                   parameters[0],
                                  extra,                current};
    if (s.observer) s.observer(&launch);
    return kSuccess;
  });
}
#endif

STANDIN_API int hipMalloc(void** pointer, size_t bytes) {
  return api("hipMalloc", [&](State& s) {
    if (!pointer) return kInvalidValue;
    auto* memory = static_cast<char*>(std::aligned_alloc(256, (bytes / 256 + 1) * 256));
    if (!memory) return kOutOfMemory;
    s.allocations[memory] = bytes;
    *pointer = memory;
    return kSuccess;
  });
}

STANDIN_API int hipFree(void* pointer) {
  return api("hipFree", [&](State& s) {
    if (!pointer) return kSuccess;
    if (!s.allocations.erase(static_cast<char*>(pointer))) return kInvalidDevicePointer;
    std::free(pointer);
    return kSuccess;
  });
}

STANDIN_API int hipMemcpy(void* target, const void* source, size_t bytes, int kind) {
  return api("hipMemcpy", [&](State& s) {
    if (kind != 1 && kind != 2 && kind != 3) return kInvalidValue;
    if (kind != 2 && !is_device_memory(s, target, bytes)) return kInvalidDevicePointer;
    if (kind != 1 && !is_device_memory(s, source, bytes)) return kInvalidDevicePointer;
    std::memcpy(target, source, bytes);
    return kSuccess;
  });
}

STANDIN_API int hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return api("hipHostMalloc", [&](State& s) {
    if (!pointer || flags != 0) return kInvalidValue;
    *pointer = std::malloc(bytes);
    if (!*pointer) return kOutOfMemory;
    s.host_allocations.insert(*pointer);
    return kSuccess;
  });
}

STANDIN_API int hipHostFree(void* pointer) {
  return api("hipHostFree", [&](State& s) {
    if (!s.host_allocations.erase(pointer)) return kInvalidValue;
    std::free(pointer);
    return kSuccess;
  });
}

STANDIN_API int hipStreamCreate(void** stream) {
  return api("hipStreamCreate", [&](State& s) {
    if (!stream) return kInvalidValue;
    auto made = std::make_unique<char>();
    *stream = made.get();
    s.streams[*stream] = std::move(made);
    return kSuccess;
  });
}

STANDIN_API int hipStreamDestroy(void* stream) {
  return api("hipStreamDestroy", [&](State& s) { return s.streams.erase(stream) ? kSuccess : kInvalidHandle; });
}

STANDIN_API int hipDeviceSynchronize() {
  return api("hipDeviceSynchronize", [](State&) { return kSuccess; });
}

STANDIN_API const char* hipGetErrorName(int code) {
  static thread_local char name[32];
  std::snprintf(name, sizeof name, "hipStandinError%d", code);
  return name;
}

STANDIN_API const char* hipGetErrorString(int code) {
  return std::getenv("STANDIN_WORDS") ? hipGetErrorName(code) : "the stand-in's own words";
}

STANDIN_API int hipGetLastError() {
  int error = last_error;
  last_error = kSuccess;
  return error;
}

STANDIN_API int standin_call_count(const char* function) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().calls[function];
}

STANDIN_API void standin_reset() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().calls.clear();
  state().calls_for_rules.clear();
  state().rules.clear();
  state().observer = nullptr;
}

STANDIN_API void standin_fail(const char* rules) {
  std::lock_guard<std::mutex> lock(state().mutex);
  add_rules(state(), rules);
}

STANDIN_API void standin_observe(void (*observer)(const StandinLaunch* launch)) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().observer = observer;
}

STANDIN_API int standin_live_modules() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return static_cast<int>(state().modules.size());
}

STANDIN_API int standin_live_allocations() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return static_cast<int>(state().allocations.size());
}

STANDIN_API int standin_pending_error() { return last_error; }

STANDIN_API void standin_capturing(int capturing) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().capturing = capturing != 0;
}

STANDIN_API int standin_capture_mode() { return capture_mode; }
