// hipops-parity: runs golden or large cases on the backend in use, and prints a row for each op and dtype. Exit code 0
// if every number is right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "parity/golden_files.h"
#include "parity/jobs.h"
#include "parity/other_ways.h"

namespace hipops::parity {
namespace {

void list(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    const CaseRecord& record = job.record;
    std::printf("%s %s %s %s %s\n", record.op.c_str(), record.dtype.c_str(), record.topic.c_str(), record.name.c_str(),
                record.shape.c_str());
  }
}

// Must precede the library's first use, which reads these once.
void set_environment(const Options& options) {
  if (options.wave != 0) setenv("HIPOPS_CPU_WAVE", std::to_string(options.wave).c_str(), 1);
  if (options.guard != "zones") setenv("HIPOPS_CPU_GUARD", options.guard == "after" ? "end" : "begin", 1);
}

// The places of the CPU runtime's guard pages, from --guard or the caller's environment.
Guard guard_in_use(hipops_backend backend) {
  const char* value = std::getenv("HIPOPS_CPU_GUARD");
  if (backend != HIPOPS_BACKEND_CPU || value == nullptr) return Guard::kZones;
  if (std::strcmp(value, "end") == 0) return Guard::kPageAfter;
  return std::strcmp(value, "begin") == 0 ? Guard::kPageBefore : Guard::kZones;
}

const char* guard_name(Guard guard) {
  return guard == Guard::kZones       ? "zones"
         : guard == Guard::kPageAfter ? "page after each tensor"
                                      : "page before each tensor";
}

// The settings that reproduce a failure.
std::string order_text(hipops_backend backend) {
  if (backend != HIPOPS_BACKEND_CPU) return "";
  const char *seed = std::getenv("HIPOPS_CPU_SEED"), *units = std::getenv("HIPOPS_CPU_UNITS");
  const bool shuffled = seed != nullptr && *seed != '\0' && std::strcmp(seed, "0") != 0;
  return (units == nullptr || *units == '\0' ? "" : std::string(", planned for HIPOPS_CPU_UNITS=") + units) +
         (shuffled ? std::string(", order shuffled by HIPOPS_CPU_SEED=") + seed : "");
}

hipops_status open(const Options& options, Device* device, const DeviceFacts** facts) {
  hipops_status status = hipops_init(backend_of(options.backend));
  if (status == HIPOPS_SUCCESS) status = runtime(&device->runtime);
  if (status == HIPOPS_SUCCESS) status = device_facts(facts);
  if (status != HIPOPS_SUCCESS) return status;
  device->backend = backend_name(device->runtime->backend());
  device->wave = (*facts)->wave_size;
  device->guard = guard_in_use(device->runtime->backend());
  if (options.repeat != 1) device->streams = std::make_unique<Streams>(*device->runtime);
  if (options.large) device->staging = std::make_unique<large::Staging>(*device->runtime);
  return HIPOPS_SUCCESS;
}

bool open_graphs(Device* device) {
  try {
    std::unique_ptr<DeviceTools> tools;
    expect_success(open_device_tools(&tools), "opening the runtime's graphs");
    device->graphs = std::make_unique<Graphs>(std::move(tools));
  } catch (const RuntimeFailure& failure) {
    std::fprintf(stderr, "hipops-parity: --capture: %s\n", failure.what());
  }
  return device->graphs != nullptr;
}

// The source of the right results.
std::string reference_text(const Options& options, const std::string& golden) {
  const std::string kernels = std::string(options.many_rows ? ", by the kernels for many rows" : "") +
                              (options.ordered ? ", indices ordered" : "");
  if (options.large) return "formulas (seed " + std::to_string(options.seed) + ")" + kernels;
  if (options.threads != 1) return golden + ", on " + std::to_string(options.threads) + " threads at once" + kernels;
  if (options.capture) return golden + ", captured and replayed" + kernels;
  return golden + (options.repeat == 1 ? "" : ", each " + std::to_string(options.repeat) + " times") + kernels;
}

int refuse_skipped(const std::vector<CaseRecord>& records) {
  std::fprintf(stderr, "hipops-parity: every selected case was skipped: %s\n",
               records.front().result.reasons.front().c_str());
  return kExitUsage;
}

int run(const Options& options, const std::string& golden, const std::vector<GoldenFile>& files) {
  set_environment(options);
  Device device;
  const DeviceFacts* facts = nullptr;
  const hipops_status status = open(options, &device, &facts);
  if (status != HIPOPS_SUCCESS) return refuse_backend("hipops-parity", options.backend, status, hipops_last_error());
  TemporaryOptions temporary;
  if (options.many_rows || options.ordered) set_other_ways(options.many_rows, options.ordered, &temporary.options);
  if (options.capture && !open_graphs(&device)) return kExitNoDevice;
  if (options.large && options.large_scale == 1 && device.backend == "cpu") {
    std::fprintf(stderr, "hipops-parity: --large: the backend is cpu, expected hip or cuda\n");
    return kExitUsage;
  }

  OutputFile json(options.json), junit(options.junit);
  Session session({device.backend, facts->name, facts->target, facts->wave_size, hipops_version(), hipops_build_info(),
                   reference_text(options, golden), guard_name(device.guard) + order_text(device.runtime->backend())},
                  options.verbose);
  session.run(options.large ? large_jobs(options, device) : golden_jobs(options, files, device));
  const bool has_json = json.write(to_json(session.info(), session.records()));
  const bool has_junit = junit.write(to_junit(session.info(), session.records()));
  if (count(session.records()).failed > 0) return kExitMismatch;
  if (count(session.records()).passed == 0) return refuse_skipped(session.records());
  return has_json && has_junit ? kExitPassed : kExitUsage;
}

int main_or_throw(int argc, char** argv) {
  Options options;
  int exit_code;
  if (!parse_options(argc, argv, &options, &exit_code)) return exit_code;
  if (!options.op.empty() && !is_built(*find_op(all_ops(), options.op))) {
    std::fprintf(stderr, "hipops-parity: %s\n", not_built(options.op).c_str());
    return kExitUsage;
  }
  const std::string golden = options.large ? "" : golden_directory(options.golden);
  std::vector<GoldenFile> files;
  if (!options.large) files = load_golden(golden, options.op, options.topic, all_ops());
  const std::vector<Job> jobs = options.large ? large_jobs(options, {}) : golden_jobs(options, files, {});
  if (jobs.empty()) {
    if (!options.large && files.empty())
      std::fprintf(stderr, "hipops-parity: there are no golden files%s in %s\n",
                   options.op.empty() && options.topic.empty() ? "" : " of that op and topic", golden.c_str());
    else
      std::fprintf(stderr, "hipops-parity: no case selected%s%s; --list shows the names\n",
                   options.large ? "" : " from ", golden.c_str());
    return kExitUsage;
  }
  if (!options.list) return run(options, golden, files);
  list(jobs);
  return kExitPassed;
}

}  // namespace
}  // namespace hipops::parity

int main(int argc, char** argv) {
  try {
    return hipops::parity::after_printing(hipops::parity::main_or_throw(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-parity: %s\n", error.what());
    return hipops::parity::kExitUsage;
  }
}
