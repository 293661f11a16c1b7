// libamdhip64, found at run time: entry points with the same signature since HIP 5. They are declared by hand, because
// the headers of one release would tie the library to that release.
#pragma once

#include <cstddef>

#include "runtime/shared_object.h"

namespace hipops {

struct HipLibrary {
  SharedObject object;

  int (*init)(unsigned flags);
  int (*get_device_count)(int* count);
  int (*get_device)(int* ordinal);
  int (*set_device)(int ordinal);
  int (*device_get_name)(char* name, int bytes, int ordinal);
  int (*device_get_attribute)(int* value, int attribute, int ordinal);
  int (*module_load_data)(void** module, const void* image);
  int (*module_unload)(void* module);
  int (*module_get_function)(void** function, void* module, const char* name);
  int (*module_launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                              void** parameters, void** extra);
  int (*malloc)(void** pointer, size_t bytes);
  int (*free)(void* pointer);
  int (*memcpy)(void* target, const void* source, size_t bytes, int kind);
  int (*host_malloc)(void** pointer, size_t bytes, unsigned flags);
  int (*host_free)(void* pointer);
  int (*stream_create)(void** stream);
  int (*stream_destroy)(void* stream);
  int (*device_synchronize)();
  const char* (*get_error_name)(int code);
  const char* (*get_error_string)(int code);
  int (*get_last_error)();

  // Null: the release lacks it.
  int (*exchange_capture_mode)(int* mode);
  // Fills a struct whose layout depends on the release; hipGetDevicePropertiesR0600 if the release has it.
  int (*get_device_properties)(void* properties, int ordinal);
};

// Values from hip_runtime_api.h, unchanged since HIP 5.0.
namespace hip {
constexpr int kInvalidValue = 1;
constexpr int kInvalidImage = 200;
constexpr int kNoBinaryForGpu = 209;
constexpr int kInvalidKernelFile = 218;
constexpr int kSharedObjectInitFailed = 303;
constexpr int kInsufficientDriver = 35;
constexpr int kNoDevice = 100;
constexpr int kAttributeMultiprocessorCount = 63;
constexpr int kAttributeWarpSize = 87;
constexpr int kMemcpyHostToDevice = 1;
constexpr int kMemcpyDeviceToHost = 2;
constexpr int kMemcpyDeviceToDevice = 3;
constexpr int kCaptureModeRelaxed = 2;
}  // namespace hip

hipops_status open_hip_library(HipLibrary* out);

}  // namespace hipops
