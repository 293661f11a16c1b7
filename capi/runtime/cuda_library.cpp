#include "runtime/cuda_library.h"

namespace hipops {
namespace {

constexpr const char* kSonames[] = {"libcuda.so.1", nullptr};
constexpr LibrarySearch kSearch = {"libcuda", "HIPOPS_CUDA_LIBRARY", kSonames};

}  // namespace

hipops_status open_cuda_library(CudaLibrary* out) {
  if (hipops_status status = open_shared_object(kSearch, &out->object)) return status;
  Binder bind(out->object);
  bind.required("cuInit", &out->init);
  bind.required("cuDeviceGetCount", &out->device_get_count);
  bind.required("cuDeviceGet", &out->device_get);
  bind.required("cuDeviceGetName", &out->device_get_name);
  bind.required("cuDeviceGetAttribute", &out->device_get_attribute);
  bind.required("cuCtxGetCurrent", &out->ctx_get_current);
  bind.required("cuCtxSetCurrent", &out->ctx_set_current);
  bind.required("cuCtxGetDevice", &out->ctx_get_device);
  bind.required("cuCtxSynchronize", &out->ctx_synchronize);
  bind.required("cuDevicePrimaryCtxRetain", &out->device_primary_ctx_retain);
  bind.required("cuLibraryLoadData", &out->library_load_data);
  bind.required("cuLibraryGetKernel", &out->library_get_kernel);
  bind.required("cuLibraryUnload", &out->library_unload);
  bind.required("cuKernelGetFunction", &out->kernel_get_function);
  bind.required("cuLaunchKernel", &out->launch_kernel);
  bind.required("cuMemAlloc_v2", &out->mem_alloc);
  bind.required("cuMemFree_v2", &out->mem_free);
  bind.required("cuMemcpyHtoD_v2", &out->memcpy_host_to_device);
  bind.required("cuMemcpyDtoH_v2", &out->memcpy_device_to_host);
  bind.required("cuMemcpyDtoD_v2", &out->memcpy_device_to_device);
  bind.required("cuMemAllocHost_v2", &out->mem_alloc_host);
  bind.required("cuMemFreeHost", &out->mem_free_host);
  bind.required("cuStreamCreate", &out->stream_create);
  bind.required("cuStreamDestroy_v2", &out->stream_destroy);
  bind.required("cuGetErrorName", &out->get_error_name);
  bind.required("cuGetErrorString", &out->get_error_string);
  bind.required("cuThreadExchangeStreamCaptureMode", &out->exchange_capture_mode);
  bind.optional("cuFuncLoad", &out->func_load);
  bind.optional("cuLaunchKernelEx", &out->launch_kernel_ex);
  bind.optional("cuOccupancyMaxActiveClusters", &out->occupancy_max_active_clusters);
  bind.optional("cuKernelGetAttribute", &out->kernel_get_attribute);
  bind.optional("cuKernelSetAttribute", &out->kernel_set_attribute);
  return bind.status();
}

}  // namespace hipops
