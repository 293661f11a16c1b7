#include "runtime/tools/device_tools.h"

#include "runtime/guarded.h"

namespace hipops {

hipops_status open_device_tools(std::unique_ptr<DeviceTools>* tools) {
  Runtime* in_use = nullptr;
  int ordinal = 0;
  if (hipops_status status = runtime(&in_use)) return status;
  if (hipops_status status = in_use->current_device(&ordinal))
    return status;  // makes one current, where that is to be done
  return guarded([&]() -> hipops_status {
    if (in_use->backend() != HIPOPS_BACKEND_CPU) return open_gpu_tools(in_use->backend(), tools);
    *tools = cpu_tools();
    return HIPOPS_SUCCESS;
  });
}

}  // namespace hipops
