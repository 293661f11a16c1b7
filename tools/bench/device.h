// The device that a program measures.
#pragma once

#include <memory>
#include <string>

#include "runtime/tools/device_tools.h"

namespace hipops::bench {

// A runtime, its timing functions, and the program's only stream.
struct Device {
  Runtime* runtime = nullptr;
  std::unique_ptr<DeviceTools> tools;
  void* stream = nullptr;
};

struct RunInfo {
  std::string backend, device, target, driver, version, build;
};

// Opens the current device of a backend. On failure prints the reason, sets *exit_code and returns false. Opens the CPU
// only if `backend` names it; without a GPU, the message contains `why_no_cpu`.
bool open_device(const std::string& program, const std::string& why_no_cpu, const std::string& backend, Device* device,
                 RunInfo* info, int* exit_code);

}  // namespace hipops::bench
