// What hipops-info says.
#pragma once

#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::info {

struct Device {
  std::string name;         // as "0: AMD Instinct MI300X (gfx942), 304 units, wave 64"
  std::string target;       // as "gfx942"
  std::string code_object;  // "" where it has none
  std::string policy;       // as "the default policy"
  int ops = 0;              // whose kernels load
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;      // why the first of the others' do not; "" where all do
};

struct Backend {
  hipops_backend value;
  std::string name;
  bool in_use = false;          // the one that a program would get now
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;          // why it cannot be used; "" where it can
  bool has_runtime = true;      // the library of its runtime is there
  std::vector<Device> devices;
};

struct Report {
  std::string wanted = "auto";  // or the one backend that was asked about
  std::vector<Backend> backends;
  hipops_status status = HIPOPS_SUCCESS;
  std::string problem;  // why a program that does not ask for a backend gets none; "" where it gets one
};

// Opens each backend, or the one that is wanted, and tries all ops' kernels on each of its devices.
Report look(const std::string& wanted);

std::string text(const Report& report, bool colour);

}  // namespace hipops::info
