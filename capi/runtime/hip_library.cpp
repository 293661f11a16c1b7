#include "runtime/hip_library.h"

namespace hipops {
namespace {

// Not "libamdhip64.so": that is the development package's link, to any version.
constexpr const char* kSonames[] = {"libamdhip64.so.10", "libamdhip64.so.9", "libamdhip64.so.8", "libamdhip64.so.7",
                                    "libamdhip64.so.6",  "libamdhip64.so.5", nullptr};
constexpr LibrarySearch kSearch = {"libamdhip64", "HIPOPS_HIP_LIBRARY", kSonames};

}  // namespace

hipops_status open_hip_library(HipLibrary* out) {
  if (hipops_status status = open_shared_object(kSearch, &out->object)) return status;
  Binder bind(out->object);
  bind.required("hipInit", &out->init);
  bind.required("hipGetDeviceCount", &out->get_device_count);
  bind.required("hipGetDevice", &out->get_device);
  bind.required("hipSetDevice", &out->set_device);
  bind.required("hipDeviceGetName", &out->device_get_name);
  bind.required("hipDeviceGetAttribute", &out->device_get_attribute);
  bind.required("hipModuleLoadData", &out->module_load_data);
  bind.required("hipModuleUnload", &out->module_unload);
  bind.required("hipModuleGetFunction", &out->module_get_function);
  bind.required("hipModuleLaunchKernel", &out->module_launch_kernel);
  bind.required("hipMalloc", &out->malloc);
  bind.required("hipFree", &out->free);
  bind.required("hipMemcpy", &out->memcpy);
  bind.required("hipHostMalloc", &out->host_malloc);
  bind.required("hipHostFree", &out->host_free);
  bind.required("hipStreamCreate", &out->stream_create);
  bind.required("hipStreamDestroy", &out->stream_destroy);
  bind.required("hipDeviceSynchronize", &out->device_synchronize);
  bind.required("hipGetErrorName", &out->get_error_name);
  bind.required("hipGetErrorString", &out->get_error_string);
  bind.required("hipGetLastError", &out->get_last_error);
  bind.optional("hipThreadExchangeStreamCaptureMode", &out->exchange_capture_mode);
  bind.optional("hipGetDevicePropertiesR0600", &out->get_device_properties);
  if (!out->get_device_properties) bind.optional("hipGetDeviceProperties", &out->get_device_properties);
  return bind.status();
}

}  // namespace hipops
