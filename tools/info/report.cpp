#include "info/report.h"

#include <cstdlib>

#include "info/code_choice.h"
#include "ops.h"
#include "parity/terminal.h"

extern char** environ;

namespace hipops::info {
namespace {

using parity::Colour;
using parity::paint;

std::string code_object_for(hipops_backend backend, const std::string& target) {
  const char* folder = std::getenv("HIPOPS_CODE_OBJECT_DIR");
  if (backend == HIPOPS_BACKEND_HIP && folder && *folder) return std::string("from ") + folder;
  if (backend == HIPOPS_BACKEND_HIP) return amd_choice(target, hip_targets);
  return backend == HIPOPS_BACKEND_CUDA ? cuda_choice(target, cuda_architectures) : "of the CPU";
}

// Loads the kernels of the first op that the library has.
hipops_status try_kernels(Runtime& runtime, int ordinal) {
  const Image& image = all_images[0];
  for (int i = 0; i < op_count; ++i) {
    if (std::string(all_ops[i]->name) != image.op) continue;
    std::vector<void*> functions(static_cast<size_t>(all_ops[i]->kernel_count));
    return runtime.load(ordinal, image, *all_ops[i], functions.data());
  }
  return HIPOPS_INTERNAL_ERROR;
}

Device look_at(Runtime& runtime, int ordinal) {
  Device device;
  const DeviceFacts* facts = nullptr;
  hipops_status status = runtime.set_device(ordinal);
  if (status == HIPOPS_SUCCESS) status = runtime.facts(ordinal, &facts);
  device.name = std::to_string(ordinal) + ": ";
  if (status == HIPOPS_SUCCESS) {
    device.name += facts->name + " (" + facts->target + "), " + std::to_string(facts->units) + " units, wave " +
                   std::to_string(facts->wave_size);
    device.code_object = code_object_for(runtime.backend(), facts->target);
    status = try_kernels(runtime, ordinal);
  }
  if (status != HIPOPS_SUCCESS) device.problem = hipops_last_error();
  return device;
}

Backend look_at(hipops_backend value, const char* name, hipops_status (*open)(Runtime**)) {
  Backend backend;
  backend.value = value;
  backend.name = name;
  Runtime* runtime = nullptr;
  int count = 0;
  hipops_status status = open(&runtime);
  if (status == HIPOPS_SUCCESS) status = runtime->device_count(&count);
  if (status != HIPOPS_SUCCESS) backend.problem = hipops_last_error();
  for (int ordinal = 0; ordinal < count; ++ordinal) backend.devices.push_back(look_at(*runtime, ordinal));
  return backend;
}

std::string device_text(const Device& device, bool colour) {
  const bool good = device.problem.empty();
  const std::string kernels = device.code_object.empty() ? "kernels load" : "kernels " + device.code_object;
  const std::string verdict = good ? kernels : device.problem;
  return "         " + device.name + "\n           " +
         paint(verdict, good ? Colour::kGreen : Colour::kRed, colour) + "\n";
}

std::string settings_text() {
  std::string text;
  for (char** entry = environ; *entry; ++entry)
    if (std::string(*entry).rfind("HIPOPS_", 0) == 0) text += (text.empty() ? "" : "\n") + std::string(*entry);
  return text.empty() ? "none of hipops' environment variables is set" : text;
}

}  // namespace

Report look() {
  Report report;
  report.backends = {look_at(HIPOPS_BACKEND_HIP, "hip", open_hip), look_at(HIPOPS_BACKEND_CUDA, "cuda", open_cuda),
                     look_at(HIPOPS_BACKEND_CPU, "cpu", open_cpu)};
  if (hipops_init(HIPOPS_BACKEND_AUTO) != HIPOPS_SUCCESS) report.problem = hipops_last_error();
  for (Backend& backend : report.backends) backend.in_use = backend.value == hipops_backend_in_use();
  return report;
}

std::string text(const Report& report, bool colour) {
  std::string text = paint(std::string("hipops ") + hipops_version(), Colour::kBold, colour) + "\nbuild    " +
                     parity::indented(hipops_build_info()) + "\nsettings " + parity::indented(settings_text()) + "\n";
  for (const Backend& backend : report.backends) {
    text += parity::left(backend.name, 9);
    text += !backend.problem.empty() ? paint("not usable: ", Colour::kYellow, colour) + backend.problem
            : backend.in_use         ? paint("usable, and what a program gets", Colour::kGreen, colour)
                                     : "usable";
    text += "\n";
    for (const Device& device : backend.devices) text += device_text(device, colour);
  }
  if (!report.problem.empty())
    text += paint("a program that asks for none of them gets: ", Colour::kRed, colour) + report.problem + "\n";
  return text;
}

}  // namespace hipops::info
