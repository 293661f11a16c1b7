// hipops-info: what this library is, and what it finds on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "info/report.h"
#include "parity/options.h"
#include "parity/terminal.h"

namespace hipops::info {
namespace {

bool is_good(const Backend& backend) {
  return backend.problem.empty() && std::any_of(backend.devices.begin(), backend.devices.end(),
                                                [](const Device& device) { return device.problem.empty(); });
}

int run(int argc, char** argv) {
  std::string wanted = "auto";
  CLI::App app("Says what hipops is built for and what it finds here: runtimes, devices, and the code object of each.",
               "hipops-info");
  app.set_version_flag("--version", std::string("hipops ") + hipops_version());
  app.add_option("--backend", wanted, "ask whether this one can be used: auto, cpu, hip or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app.footer(
      "Examples:\n"
      "  hipops-info\n"
      "  hipops-info --backend hip && run-on-the-gpu\n"
      "  HIPOPS_HIP_LIBRARY=/opt/rocm/lib/libamdhip64.so hipops-info\n"
      "\n"
      "Exit status:\n"
      "  0   there is a device whose kernels load, of the backend asked for\n"
      "  2   bad usage\n"
      "  77  there is none");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? parity::kExitPassed : parity::kExitUsage;
  }
  const Report report = look();
  std::fputs(text(report, parity::colours_wanted()).c_str(), stdout);
  for (const Backend& backend : report.backends)
    if ((wanted == "auto" ? report.problem.empty() : wanted == backend.name) && is_good(backend))
      return parity::kExitPassed;
  return parity::kExitNoDevice;
}

}  // namespace
}  // namespace hipops::info

int main(int argc, char** argv) {
  try {
    return hipops::info::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-info: %s\n", error.what());
    return hipops::parity::kExitMismatch;
  }
}
