// The device that a program times on.
#pragma once

#include <memory>
#include <string>

#include "runtime/tools/device_tools.h"

namespace hipops::bench {

// A runtime, what times it, and the stream that all of this program's work goes to.
struct Device {
  Runtime* runtime = nullptr;
  std::unique_ptr<DeviceTools> tools;
  void* stream = nullptr;
};

struct RunInfo {
  std::string backend, device, target, driver, version, build;
};

// Opens the current device of a backend. False: *exit_code says how the program ends; why has been printed. The CPU is
// opened only if `backend` names it. Without a GPU, `why_no_cpu` goes into the message.
bool open_device(const std::string& program, const std::string& why_no_cpu, const std::string& backend, Device* device,
                 RunInfo* info, int* exit_code);

}  // namespace hipops::bench
