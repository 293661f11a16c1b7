#include "info/report.h"

#include <cstdlib>

#include "info/code_choice.h"
#include "ops.h"
#include "parity/terminal.h"
#include "policy/policy.h"
#include "runtime/cuda_library.h"
#include "runtime/hip_library.h"

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

hipops_status load(Runtime& runtime, int ordinal, const Image& image) {
  for (int i = 0; i < op_count; ++i) {
    if (std::string(all_ops[i]->name) != image.op) continue;
    std::vector<void*> functions(static_cast<size_t>(all_ops[i]->kernel_count));
    return runtime.load(ordinal, image, *all_ops[i], functions.data());
  }
  return HIPOPS_INTERNAL_ERROR;
}

// Loads the kernels of every op of the library. A folder of code objects may lack some.
void try_kernels(Runtime& runtime, int ordinal, Device* device) {
  for (const Image* image = all_images; image < all_images + image_count; ++image) {
    const hipops_status status = load(runtime, ordinal, *image);
    if (status == HIPOPS_SUCCESS) ++device->ops;
    if (status == HIPOPS_SUCCESS || device->status != HIPOPS_SUCCESS) continue;
    device->status = status;
    device->problem = hipops_last_error();
  }
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
    device.target = facts->target;
    device.code_object = code_object_for(runtime.backend(), facts->target);
    const auto policy = read_policy_of(*facts);
    device.policy = policy->origin + (policy->complaint.empty() ? "" : " (" + policy->complaint + ")");
    try_kernels(runtime, ordinal, &device);
    return device;
  }
  device.status = status;
  device.problem = hipops_last_error();
  return device;
}

bool has_runtime(hipops_backend backend) {
  HipLibrary hip = {};
  CudaLibrary cuda = {};
  if (backend == HIPOPS_BACKEND_HIP) return open_hip_library(&hip) == HIPOPS_SUCCESS;
  return backend == HIPOPS_BACKEND_CPU || open_cuda_library(&cuda) == HIPOPS_SUCCESS;
}

Backend look_at(hipops_backend value, const char* name, hipops_status (*open)(Runtime**)) {
  Backend backend;
  backend.value = value;
  backend.name = name;
  Runtime* runtime = nullptr;
  int count = 0;
  hipops_status status = open(&runtime);
  if (status == HIPOPS_SUCCESS) status = runtime->device_count(&count);
  backend.status = status;
  if (status != HIPOPS_SUCCESS) {
    backend.problem = hipops_last_error();
    backend.has_runtime = has_runtime(value);
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) backend.devices.push_back(look_at(*runtime, ordinal));
  return backend;
}

std::string device_text(const Device& device, bool colour) {
  std::string verdict = device.code_object.empty() ? "kernels load" : "kernels " + device.code_object;
  Colour shade = device.ops > 0 ? Colour::kGreen : Colour::kRed;
  if (device.ops == 0) {
    verdict = device.problem;
  } else if (device.ops < image_count) {
    verdict += ", of " + std::to_string(device.ops) + " of " + std::to_string(image_count) +
               " ops; the first of the others: " + device.problem;
    shade = Colour::kYellow;
  }
  std::string text = "         " + device.name + "\n           " + paint(verdict, shade, colour) + "\n";
  if (device.ops > 0) text += "           row ops use " + device.policy + "\n";
  return text;
}

std::string settings_text() {
  std::string text;
  for (char** entry = environ; *entry; ++entry)
    if (std::string(*entry).rfind("HIPOPS_", 0) == 0) text += (text.empty() ? "" : "\n") + std::string(*entry);
  return text.empty() ? "none of hipops' environment variables is set" : text;
}

// Advice if the runtime's library is missing or useless.
std::string runtime_advice(const std::string& variable, const std::string& library, const std::string& source) {
  const char* named = std::getenv(variable.c_str());
  if (named && *named) return "unset " + variable + ", or set it to the path of a " + library + " that loads";
  return "install " + source + ", or have " + variable + " name the path of its " + library;
}

std::string device_advice(hipops_backend backend) {
  if (backend == HIPOPS_BACKEND_HIP)
    return "its runtime sees no GPU; correct the cause in the line above, until rocminfo lists one";
  if (backend == HIPOPS_BACKEND_CUDA)
    return "its runtime sees no GPU; nvidia-smi has to list one (in a container: --gpus all)";
  return "hipops has to be built with it (HIPOPS_CPU)";
}

std::string code_advice(const Backend& backend) {
  const char* folder = std::getenv("HIPOPS_CODE_OBJECT_DIR");
  const bool is_hip = backend.value == HIPOPS_BACKEND_HIP;
  if (is_hip && folder && *folder) return "HIPOPS_CODE_OBJECT_DIR has no code objects for its devices";
  std::string targets;
  for (const Device& device : backend.devices)
    if (targets.find(device.target) == std::string::npos) targets += (targets.empty() ? "" : ", ") + device.target;
  return "hipops has to be built for " + targets + (is_hip ? " (HIPOPS_AMD_TARGETS)" : " (HIPOPS_CUDA_ARCHITECTURES)");
}

// Advice if none of its devices can be used.
std::string advice(const Backend& backend) {
  const hipops_status status = backend.devices.empty() ? backend.status : backend.devices.front().status;
  if (status == HIPOPS_INVALID_ARGUMENT) return "correct the setting that is named above";
  if (status == HIPOPS_NO_CODE_OBJECT) return code_advice(backend);
  if (backend.has_runtime && (status == HIPOPS_NO_DEVICE || status == HIPOPS_SUCCESS))
    return device_advice(backend.value);
  if (backend.has_runtime) {
    const std::string fails = "its runtime exists and fails";
    if (backend.value == HIPOPS_BACKEND_CPU) return fails;
    return fails + "; does " + (backend.value == HIPOPS_BACKEND_HIP ? "rocminfo" : "nvidia-smi") + " run?";
  }
  return backend.value == HIPOPS_BACKEND_HIP
             ? runtime_advice("HIPOPS_HIP_LIBRARY", "libamdhip64", "the HIP runtime, of ROCm 5 or later")
             : runtime_advice("HIPOPS_CUDA_LIBRARY", "libcuda", "NVIDIA's driver, of CUDA 12.0 or later");
}

std::string verdict_text(const Backend& backend, bool colour) {
  int good = 0;
  for (const Device& device : backend.devices) good += device.ops > 0;
  const std::string text = backend.name + (good > 0 ? " can be used, on " + std::to_string(good) + " of " +
                                                          std::to_string(backend.devices.size()) + " devices"
                                                    : " cannot be used: " + advice(backend));
  return "verdict  " + paint(text, good > 0 ? Colour::kGreen : Colour::kRed, colour) + "\n";
}

}  // namespace

Report look(const std::string& option) {
  const struct {
    hipops_backend value;
    const char* name;
    hipops_status (*open)(Runtime** out);
  } all[] = {{HIPOPS_BACKEND_HIP, "hip", open_hip},
             {HIPOPS_BACKEND_CUDA, "cuda", open_cuda},
             {HIPOPS_BACKEND_CPU, "cpu", open_cpu}};
  Report report;
  report.option = option;
  for (const auto& [value, name, open] : all)
    if (option == "auto" || option == name) report.backends.push_back(look_at(value, name, open));
  if (option != "auto") return report;
  report.status = hipops_init(HIPOPS_BACKEND_AUTO);
  if (report.status != HIPOPS_SUCCESS) report.problem = hipops_last_error();
  for (Backend& backend : report.backends) backend.in_use = backend.value == hipops_backend_in_use();
  return report;
}

std::string text(const Report& report, bool colour) {
  std::string text = paint(std::string("hipops ") + hipops_version(), Colour::kBold, colour) + "\nbuild    " +
                     parity::indented(hipops_build_info()) + "\nsettings " + parity::indented(settings_text()) + "\n";
  for (const Backend& backend : report.backends) {
    text += parity::left(backend.name, 9);
    text += !backend.problem.empty() ? paint("not usable: ", Colour::kYellow, colour) + backend.problem
            : backend.in_use         ? paint("usable, and the backend that a program gets", Colour::kGreen, colour)
                                     : "usable";
    text += "\n";
    for (const Device& device : backend.devices) text += device_text(device, colour);
    if (report.option != "auto") text += verdict_text(backend, colour);
  }
  if (!report.problem.empty())
    text += paint("a program that names no backend gets: ", Colour::kRed, colour) + report.problem + "\n";
  return text;
}

}  // namespace hipops::info
