// libcuda, found at run time. It is declared by hand, so a build of hipops needs no CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/shared_object.h"

namespace hipops {

using CudaAddress = unsigned long long;  // CUdeviceptr

struct CudaLaunchAttribute {  // CUlaunchAttribute
  int id;
  int padding;
  unsigned value[16];
};

struct CudaLaunch {  // CUlaunchConfig
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void* stream;
  CudaLaunchAttribute* attributes;
  unsigned attribute_count;
};

// cuda.h maps plain names to the symbols that end in _v2.
struct CudaLibrary {
  SharedObject object;

  int (*init)(unsigned flags);
  int (*device_get_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_get_name)(char* name, int bytes, int device);
  int (*device_get_attribute)(int* value, int attribute, int device);
  int (*ctx_get_current)(void** context);
  int (*ctx_set_current)(void* context);
  int (*ctx_get_device)(int* device);
  int (*ctx_synchronize)();
  int (*device_primary_ctx_retain)(void** context, int device);
  int (*library_load_data)(void** library, const void* code, int* jit_options, void** jit_values, unsigned jit_count,
                           int* options, void** values, unsigned count);
  int (*library_get_kernel)(void** kernel, void* library, const char* name);
  int (*library_unload)(void* library);
  int (*kernel_get_function)(void** function, void* kernel);
  int (*launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                       void** extra);
  int (*mem_alloc)(CudaAddress* address, size_t bytes);
  int (*mem_free)(CudaAddress address);
  int (*memcpy_host_to_device)(CudaAddress target, const void* source, size_t bytes);
  int (*memcpy_device_to_host)(void* target, CudaAddress source, size_t bytes);
  int (*memcpy_device_to_device)(CudaAddress target, CudaAddress source, size_t bytes);
  int (*mem_alloc_host)(void** pointer, size_t bytes);
  int (*mem_free_host)(void* pointer);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_destroy)(void* stream);
  int (*get_error_name)(int code, const char** name);
  int (*get_error_string)(int code, const char** text);
  int (*exchange_capture_mode)(int* mode);

  // Null: older than CUDA 12.4.
  int (*func_load)(void* function);
  // Null: the driver has no clusters.
  int (*launch_kernel_ex)(const CudaLaunch* launch, void* function, void** parameters, void** extra);
  int (*occupancy_max_active_clusters)(int* clusters, void* function, const CudaLaunch* launch);
  int (*kernel_get_attribute)(int* value, int attribute, void* kernel, int device);
  int (*kernel_set_attribute)(int attribute, int value, void* kernel, int device);
};

// Values from cuda.h.
namespace cuda {
constexpr int kStubLibrary = 34;
constexpr int kNoDevice = 100;
constexpr int kInvalidImage = 200;
constexpr int kInvalidContext = 201;
constexpr int kNoBinaryForGpu = 209;
constexpr int kUnsupportedPtxVersion = 222;
constexpr int kSystemDriverMismatch = 803;
constexpr int kCompatNotSupportedOnDevice = 804;
constexpr int kAttributeWarpSize = 10;
constexpr int kAttributeMultiprocessorCount = 16;
constexpr int kAttributeComputeCapabilityMajor = 75;
constexpr int kAttributeComputeCapabilityMinor = 76;
constexpr int kAttributeSharedBytesOptIn = 97;
constexpr int kAttributeClusterLaunch = 120;
constexpr int kKernelPtxVersion = 5;
constexpr int kKernelMaxLaunchSharedBytes = 8;
constexpr int kKernelLargeClustersAllowed = 14;  // of more than 8 blocks
constexpr int kLaunchClusterDimension = 4;
constexpr int kLaunchProgrammaticSerialization = 6;
constexpr int kCaptureModeRelaxed = 2;
}  // namespace cuda

hipops_status open_cuda_library(CudaLibrary* out);

}  // namespace hipops
