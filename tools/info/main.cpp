// hipops-info: describes the library, and the backends and devices of this machine.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "info/report.h"
#include "parity/command_line.h"
#include "parity/options.h"
#include "parity/terminal.h"

namespace hipops::info {
namespace {

int exit_code_of(const Device& device) {
  if (device.ops > 0) return parity::kExitPassed;
  return device.status == HIPOPS_NO_CODE_OBJECT ? parity::kExitNoDevice : parity::exit_code_of(device.status);
}

// The status of a backend: good if one of its devices is good. Otherwise the status of the first device, or of the
// backend itself.
int exit_code_of(const Backend& backend) {
  if (backend.status != HIPOPS_SUCCESS) return parity::exit_code_of(backend.status);
  int first = parity::kExitNoDevice;
  for (const Device& device : backend.devices) {
    const int exit_code = exit_code_of(device);
    if (exit_code == parity::kExitPassed) return exit_code;
    if (&device == &backend.devices.front()) first = exit_code;
  }
  return first;
}

// The exit code, by the backend of --backend. Without that option any good backend is enough, otherwise the backend in
// use decides.
int exit_code_of(const Report& report) {
  if (report.option != "auto") return exit_code_of(report.backends.front());
  if (report.status != HIPOPS_SUCCESS) return parity::exit_code_of(report.status);
  int found = parity::kExitNoDevice;
  for (const Backend& backend : report.backends) {
    const int exit_code = exit_code_of(backend);
    if (exit_code == parity::kExitPassed) return exit_code;
    if (backend.in_use) found = exit_code;
  }
  return found;
}

int run(int argc, char** argv) {
  std::string option = "auto";
  CLI::App app("Prints the targets of hipops, and the runtimes and devices of this machine with their code objects.",
               "hipops-info");
  app.add_option("--backend", option,
                 "only this backend, with advice if it cannot be used:\nauto (all), cpu, hip or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app.footer(
      "Examples:\n"
      "  hipops-info\n"
      "  hipops-info --backend hip && run-on-the-gpu\n"
      "  HIPOPS_HIP_LIBRARY=/opt/rocm/lib/libamdhip64.so hipops-info\n"
      "\n"
      "Exit status:\n"
      "  0   kernels load on a device, of the backend of --backend\n"
      "  1   on none, because the runtime fails\n"
      "  2   bad usage, or a wrong setting\n"
      "  77  there is none");
  int exit_code;
  if (!parity::parse_command_line(&app, argc, argv, &exit_code)) return exit_code;
  const Report report = look(option);
  std::fputs(text(report, parity::colours_wanted()).c_str(), stdout);
  return exit_code_of(report);
}

}  // namespace
}  // namespace hipops::info

int main(int argc, char** argv) {
  try {
    return hipops::parity::after_printing(hipops::info::run(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-info: %s\n", error.what());
    return hipops::parity::kExitMismatch;
  }
}
