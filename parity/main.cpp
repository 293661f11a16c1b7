// hipops-parity: runs golden cases on the backend in use, prints a row per op and dtype, and ends with 0 if every
// number is right.
#include <fnmatch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "parity/golden_files.h"
#include "parity/number.h"
#include "parity/options.h"
#include "parity/report.h"
#include "parity/terminal.h"
#include "runtime/runtime.h"

namespace hipops::parity {
namespace {

constexpr uint64_t kLargeCaseBytes = uint64_t{1} << 30;

struct Selected {
  const OpEntry* op;
  const GoldenFile* file;
  const Case* test;
};

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

bool matches(const Options& options, const Case& test) {
  if (!options.dtype.empty() && options.dtype != dtype_name(test.dtype)) return false;
  return options.case_glob.empty() || fnmatch(options.case_glob.c_str(), test.name.c_str(), 0) == 0;
}

// By op, then by dtype, so that each row of the table is one stretch of cases.
std::vector<Selected> select(const Options& options, const std::vector<GoldenFile>& files) {
  std::vector<Selected> selected;
  for (const OpEntry& op : all_ops()) {
    for (const hipops_dtype dtype : op.dtypes) {
      for (const GoldenFile& file : files) {
        if (file.op != op.name) continue;
        for (const Case& test : file.cases) {
          if (test.dtype == dtype && matches(options, test)) selected.push_back({&op, &file, &test});
        }
      }
    }
  }
  return selected;
}

std::string case_shape(const Case& test) {
  if (!test.inputs.empty()) return shape_text(test.inputs.front().layout.shape);
  return test.outputs.empty() ? "" : shape_text(test.outputs.front().layout.shape);
}

void list(const std::vector<Selected>& selected) {
  for (const Selected& entry : selected) {
    std::printf("%s %s %s %s %s\n", entry.op->name, dtype_name(entry.test->dtype), entry.file->topic.c_str(),
                entry.test->name.c_str(), case_shape(*entry.test).c_str());
  }
}

std::string shell_quote(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::string command_for(const Options& options, const RunInfo& info, const Selected& entry) {
  std::string command = shell_quote(options.program) + " --backend " + info.backend;
  if (info.backend == "cpu" && (options.wave != 0 || from_environment("HIPOPS_CPU_WAVE"))) {
    command += " --wave " + std::to_string(info.wave);
  }
  if (options.guard != "zones") command += " --guard " + options.guard;
  command += std::string(" --op ") + entry.op->name + " --dtype " + dtype_name(entry.test->dtype) + " --case " +
             entry.test->name;
  if (!options.golden.empty() || from_environment("HIPOPS_GOLDEN")) command += " --golden " + shell_quote(info.golden);
  return command;
}

// Must come before the library's first use: it reads these once.
void set_environment(const Options& options) {
  if (options.wave != 0) setenv("HIPOPS_CPU_WAVE", std::to_string(options.wave).c_str(), 1);
  if (options.guard == "pages") setenv("HIPOPS_CPU_GUARD", "end", 1);
}

// Where the CPU runtime's guard pages are, whether by --guard or by the caller's environment.
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

int refuse_backend(const Options& options, hipops_status status) {
  std::fprintf(stderr, "hipops-parity: backend %s: %s: %s\n", options.backend.c_str(), hipops_status_string(status),
               hipops_last_error());
  if (status == HIPOPS_NO_DEVICE) return kExitNoDevice;
  return status == HIPOPS_INVALID_ARGUMENT ? kExitUsage : kExitMismatch;
}

hipops_status open(const Options& options, Runtime** opened, const DeviceFacts** facts) {
  hipops_status status = hipops_init(backend_of(options.backend));
  if (status == HIPOPS_SUCCESS) status = runtime(opened);
  if (status == HIPOPS_SUCCESS) status = device_facts(facts);
  return status;
}

CaseResult skip(const std::string& reason) {
  CaseResult result;
  result.verdict = CaseResult::Verdict::kSkipped;
  result.reasons = {reason};
  return result;
}

class Session {
 public:
  Session(const Options& options, Runtime& runtime, RunInfo info, Guard guard)
      : options_(options), runtime_(runtime), info_(std::move(info)), guard_(guard), colour_(colours_wanted()) {}

  void run(const std::vector<Selected>& selected) {
    print(header_text(info_, selected.size(), colour_));
    print(table_heading(colour_));
    std::fflush(stdout);  // a kernel may bring the process down
    Progress progress(selected.size());
    std::vector<CaseRecord> group;
    for (size_t i = 0; i < selected.size(); ++i) {
      const Selected& entry = selected[i];
      progress.show(i, std::string(entry.op->name) + " " + entry.test->name);
      group.push_back(run_one(entry));
      const bool last = i + 1 == selected.size() || selected[i + 1].op != entry.op ||
                        selected[i + 1].test->dtype != entry.test->dtype;
      if (!last) continue;
      progress.clear();
      finish_group(group);
      group.clear();
    }
    print("\n" + closing_line(count(records_), colour_));
  }

  const std::vector<CaseRecord>& records() const { return records_; }
  const RunInfo& info() const { return info_; }

 private:
  CaseRecord run_one(const Selected& entry) {
    CaseRecord record;
    record.op = entry.op->name;
    record.dtype = dtype_name(entry.test->dtype);
    record.topic = entry.file->topic;
    record.name = entry.test->name;
    record.shape = case_shape(*entry.test);
    record.command = command_for(options_, info_, entry);
    const bool asked_for = !options_.topic.empty() || !options_.case_glob.empty();
    if (case_bytes(*entry.test) > kLargeCaseBytes && !asked_for) {
      record.result = skip("takes more than 1 GiB; --topic " + record.topic + " runs it");
      return record;
    }
    set_crash_note("\nhipops-parity: died in " + record.op + " " + record.dtype + " " + record.topic + "/" +
                   record.name + "\nrun it alone: " + record.command + "\n");
    record.result = run_case(runtime_, *entry.op, *entry.test, guard_);
    set_crash_note("");
    return record;
  }

  void finish_group(const std::vector<CaseRecord>& group) {
    print(table_row(group, colour_));
    for (const CaseRecord& record : group) {
      if (options_.verbose) print(verbose_text(record, colour_));
      if (record.result.verdict == CaseResult::Verdict::kFailed) print(failure_text(record, colour_));
    }
    std::fflush(stdout);
    records_.insert(records_.end(), group.begin(), group.end());
  }

  const Options& options_;
  Runtime& runtime_;
  RunInfo info_;
  Guard guard_;
  bool colour_;
  std::vector<CaseRecord> records_;
};

bool write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) return true;
  std::fprintf(stderr, "hipops-parity: cannot write %s\n", path.c_str());
  return false;
}

int run(const Options& options, const std::string& golden, const std::vector<Selected>& selected) {
  set_environment(options);
  Runtime* opened = nullptr;
  const DeviceFacts* facts = nullptr;
  const hipops_status status = open(options, &opened, &facts);
  if (status != HIPOPS_SUCCESS) return refuse_backend(options, status);

  const Guard guard = guard_in_use(opened->backend());
  RunInfo info = {backend_name(opened->backend()),
                  facts->name,
                  facts->target,
                  facts->wave_size,
                  hipops_version(),
                  hipops_build_info(),
                  golden,
                  guard_name(guard)};
  Session session(options, *opened, std::move(info), guard);
  session.run(selected);
  const bool written = write_file(options.json, to_json(session.info(), session.records())) &&
                       write_file(options.junit, to_junit(session.info(), session.records()));
  if (count(session.records()).failed > 0) return kExitMismatch;
  if (count(session.records()).passed == 0) {
    std::fprintf(stderr, "hipops-parity: every selected case was skipped\n");
    return kExitUsage;
  }
  return written ? kExitPassed : kExitUsage;
}

int main_or_throw(int argc, char** argv) {
  Options options;
  int exit_code;
  if (!parse_options(argc, argv, &options, &exit_code)) return exit_code;
  const std::string golden = golden_directory(options.golden);
  const std::vector<GoldenFile> files = load_golden(golden, options.op, options.topic, all_ops());
  const std::vector<Selected> selected = select(options, files);
  if (selected.empty()) {
    std::fprintf(stderr, "hipops-parity: no case selected from %s\n", golden.c_str());
    return kExitUsage;
  }
  if (!options.list) return run(options, golden, selected);
  list(selected);
  return kExitPassed;
}

}  // namespace
}  // namespace hipops::parity

int main(int argc, char** argv) {
  try {
    return hipops::parity::main_or_throw(argc, argv);
  } catch (const hipops::parity::GoldenError& error) {
    std::fprintf(stderr, "hipops-parity: %s\n", error.what());
    return hipops::parity::kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-parity: %s\n", error.what());
    return hipops::parity::kExitUsage;
  }
}
