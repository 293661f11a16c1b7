#include "device.h"

#include <cstdio>
#include <cstdlib>

#include "parity/options.h"

namespace hipops::bench {
namespace {

hipops_status open(const std::string& backend, Device* device, RunInfo* info) {
  const DeviceFacts* facts = nullptr;
  if (hipops_status status = hipops_init(parity::backend_of(backend))) return status;
  if (hipops_status status = runtime(&device->runtime)) return status;
  if (hipops_status status = device_facts(&facts)) return status;
  if (hipops_status status = open_device_tools(&device->tools)) return status;
  if (hipops_status status = device->tools->create_stream(&device->stream)) return status;
  *info = {parity::backend_name(device->runtime->backend()),
           facts->name,
           facts->target,
           device->tools->driver(),
           hipops_version(),
           hipops_build_info()};
  return HIPOPS_SUCCESS;
}

bool is_cpu_by_default(const std::string& backend, const Device& device) {
  const char* named = std::getenv("HIPOPS_BACKEND");
  return device.runtime->backend() == HIPOPS_BACKEND_CPU && backend == "auto" &&
         (named == nullptr || std::string(named) != "cpu");
}

std::string why_not(hipops_status (*open)(Runtime**)) {
  Runtime* found = nullptr;
  return open(&found) == HIPOPS_SUCCESS ? "has a GPU by now" : hipops_last_error();
}

}  // namespace

bool open_device(const std::string& program, const std::string& why_no_cpu, const std::string& backend, Device* device,
                 RunInfo* info, int* exit_code) {
  if (hipops_status status = open(backend, device, info)) {
    *exit_code = parity::refuse_backend(program.c_str(), backend, status, hipops_last_error());
    return false;
  }
  if (!is_cpu_by_default(backend, *device)) return true;
  // Times of the CPU backend mean nothing, and cost minutes.
  const std::string hip = why_not(open_hip), cuda = why_not(open_cuda);
  std::fprintf(stderr, "%s: no GPU was found, and %s\nhip: %s\ncuda: %s\n", program.c_str(), why_no_cpu.c_str(),
               hip.c_str(), cuda.c_str());
  *exit_code = parity::kExitNoDevice;
  return false;
}

}  // namespace hipops::bench
