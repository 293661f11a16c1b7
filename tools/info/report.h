// The report of hipops-info.
#pragma once

#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::info {

struct Device {
  std::string name;         // as "0: AMD Instinct MI300X (gfx942), 304 units, wave 64"
  std::string target;       // as "gfx942"
  std::string code_object;  // "" without one
  std::string policy;       // as "the default policy"
  int ops = 0;              // number of ops whose kernels load
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;      // why the kernels of the first other op do not load, or ""
};

struct Backend {
  hipops_backend value;
  std::string name;
  bool in_use = false;          // a program would get this backend now
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;          // why it cannot be used, or ""
  bool has_runtime = true;      // the library of its runtime exists
  std::vector<Device> devices;
};

struct Report {
  std::string option = "auto";  // or the one backend of --backend
  std::vector<Backend> backends;
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;  // why a program that names no backend gets none, or ""
};

// Opens each backend, or the backend `option`, and loads all ops' kernels on each of its devices.
Report look(const std::string& option);

std::string text(const Report& report, bool colour);

}  // namespace hipops::info
