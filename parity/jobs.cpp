#include "parity/jobs.h"

#include <fnmatch.h>

#include <cstdlib>
#include <cstring>

#include "parity/golden_files.h"
#include "parity/large_cases.h"
#include "parity/number.h"

namespace hipops::parity {
namespace {

constexpr uint64_t kLargeCaseBytes = uint64_t{1} << 30;

bool is_selected(const Options& options, const std::string& op, hipops_dtype dtype, const std::string& name) {
  if (!options.op.empty() && options.op != op) return false;
  if (!options.dtype.empty() && options.dtype != dtype_name(dtype)) return false;
  return options.case_glob.empty() || fnmatch(options.case_glob.c_str(), name.c_str(), 0) == 0;
}

std::string case_shape(const Case& test) {
  if (!test.inputs.empty()) return shape_text(test.inputs.front().layout.shape);
  return test.outputs.empty() ? "" : shape_text(test.outputs.front().layout.shape);
}

bool from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// The caller's environment variables that affect kernels or the CPU runtime, without those that an option sets.
std::string environment_for(const Options& options, bool on_cpu) {
  std::string settings;
  for (const char* name : {"HIPOPS_TUNING_FILE", "HIPOPS_CPU_RACE", "HIPOPS_CPU_SEED", "HIPOPS_CPU_UNITS", "HIPOPS_CPU_GUARD"}) {
    if (!on_cpu && std::strncmp(name, "HIPOPS_CPU_", 11) == 0) continue;
    if (options.guard != "zones" && std::strcmp(name, "HIPOPS_CPU_GUARD") == 0) continue;  // set by that option
    if (from_environment(name)) settings += std::string(name) + "=" + shell_quote(std::getenv(name)) + " ";
  }
  return settings;
}

std::string command_for(const Options& options, const Device& device, const CaseRecord& record) {
  std::string command = environment_for(options, device.backend == "cpu");
  command += shell_quote(options.program) + " --backend " + device.backend;
  if (device.backend == "cpu" && (options.wave != 0 || from_environment("HIPOPS_CPU_WAVE"))) {
    command += " --wave " + std::to_string(device.wave);
  }
  if (options.large) command += " --large";
  if (options.large_scale != 1) command += " --large-scale " + std::to_string(options.large_scale);
  if (options.seed != 1) command += " --seed " + std::to_string(options.seed);
  if (options.repeat != 1) command += " --repeat " + std::to_string(options.repeat);
  if (options.threads != 1) command += " --threads " + std::to_string(options.threads);
  if (options.capture) command += " --capture";
  if (options.many_rows) command += " --many-rows";
  if (options.ordered) command += " --ordered";
  if (options.guard != "zones") command += " --guard " + options.guard;
  command += " --op " + record.op + " --dtype " + record.dtype + " --case " + record.name;
  if (!options.golden.empty() || (!options.large && from_environment("HIPOPS_GOLDEN")))
    command += " --golden " + shell_quote(golden_directory(options.golden));
  return command;
}

CaseResult skip(const std::string& reason) {
  CaseResult result;
  result.verdict = CaseResult::Verdict::kSkipped;
  result.reasons = {reason};
  return result;
}

// `all` are the selected cases. Runs case `index`.
CaseResult run_golden(const Options& options, const Device& device, const std::vector<ThreadCase>& all, size_t index,
                      const std::string& topic) {
  const OpEntry& op = *all[index].op;
  const Case& test = *all[index].test;
  const bool is_named = !options.topic.empty() || !options.case_glob.empty();
  if (case_bytes(test) > kLargeCaseBytes && !is_named)
    return skip("needs more than 1 GiB; --topic " + topic + " runs it");
  if (options.threads != 1)
    return run_on_threads(*device.runtime, company_of(all, index, options.threads), device.guard);
  if (options.capture) return capture_case(*device.runtime, op, test, device.guard, *device.graphs);
  if (options.repeat == 1) return run_case(*device.runtime, op, test, device.guard);
  return repeat_case(*device.runtime, op, test, device.guard, *device.streams, options.repeat);
}

// "", or the reason for which the options exclude a case.
std::string left_out(const Options& options, const Case& test) {
  if (options.repeat != 1 && !is_deterministic(test)) return "is not deterministic, which --repeat asks for";
  if (options.threads != 1 && case_bytes(test) > kLargeCaseBytes / options.threads)
    return "needs more than 1 GiB on all threads of --threads";
  return "";
}

Job job_of(const Options& options, const Device& device, const char* op, hipops_dtype dtype, const std::string& topic,
           const std::string& name, const std::string& shape, std::function<CaseResult()> run) {
  Job job;
  job.record.op = op;
  job.record.dtype = dtype_name(dtype);
  job.record.topic = topic;
  job.record.name = name;
  job.record.shape = shape;
  job.record.command = command_for(options, device, job.record);
  job.run = std::move(run);
  return job;
}

}  // namespace

std::vector<Job> golden_jobs(const Options& options, const std::vector<GoldenFile>& files, const Device& device) {
  std::vector<Job> jobs;
  const auto all = std::make_shared<std::vector<ThreadCase>>();
  for (const OpEntry& op : all_ops()) {
    if (!is_built(op)) continue;
    for (const hipops_dtype dtype : op.dtypes) {
      for (const GoldenFile& file : files) {
        if (file.op != op.name) continue;
        for (const Case& test : file.cases) {
          if (test.dtype != dtype || !is_selected(options, op.name, dtype, test.name)) continue;
          const std::string reason = left_out(options, test);
          std::function<CaseResult()> run = [reason] { return skip(reason); };
          if (reason.empty()) {
            run = [&options, &device, &file, all, index = all->size()] {
              return run_golden(options, device, *all, index, file.topic);
            };
            all->push_back({&op, &test});
          }
          jobs.push_back(job_of(options, device, op.name, dtype, file.topic, test.name, case_shape(test), run));
        }
      }
    }
  }
  return jobs;
}

std::vector<Job> large_jobs(const Options& options, const Device& device) {
  const std::vector<large::LargeCase> cases = large::large_cases(options.large_scale);
  std::vector<Job> jobs;
  for (const OpEntry& op : all_ops()) {
    if (!is_built(op)) continue;
    for (const hipops_dtype dtype : op.dtypes) {
      for (const large::LargeCase& test : cases) {
        if (test.op != op.name || test.dtype != dtype || !is_selected(options, op.name, dtype, test.name)) continue;
        const auto run = [&options, &device, test] {
          return large::run_large_case(*device.runtime, *device.staging, test, options.large_scale, options.seed);
        };
        jobs.push_back(
            job_of(options, device, op.name, dtype, "large", test.name, shape_text(test.shape), run));
      }
    }
  }
  return jobs;
}

}  // namespace hipops::parity
