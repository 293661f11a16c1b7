// hipops-fuzz: runs random cases of every op on a backend, and compares with the ops' definitions. The first failure
// ends the run, is made smaller, and is printed as a golden file.
#include <errno.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "fuzz/golden_text.h"
#include "fuzz/trial.h"
#include "parity/command_line.h"
#include "parity/options.h"
#include "parity/random_case.h"
#include "parity/terminal.h"

namespace hipops::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kShrinkRuns = 600;
constexpr const char* kTopic = "smoke";  // of the golden file: the format has no topic for random cases

struct Options {
  std::string program, backend = "cpu", op, guard = "zones", save;
  int wave = 0;  // not given
  uint64_t seed = 1, first = 0, count = 1000;
  int64_t elements = 4096;
};

void declare(CLI::App* app, Options* options) {
  app->add_option("--backend", options->backend, "cpu (without this), hip or cuda")
      ->check(CLI::IsMember({"cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app->add_option("--wave", options->wave, "wave size of the cpu backend: 32 or 64")
      ->check(CLI::IsMember({"32", "64"}))
      ->option_text("SIZE");
  app->add_option("--op", options->op, "only this op, as rms_norm")
      ->check(CLI::IsMember(parity::op_names()))
      ->option_text("OP");
  app->add_option("--seed", options->seed,
                  "of the cases, and on the cpu of the order of work-items and blocks\n(1); 0: one from the clock")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->option_text("SEED");
  app->add_option("--first", options->first, "number of the first case (0)")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->option_text("N");
  app->add_option("--count", options->count, "how many cases (1000)")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->option_text("N");
  app->add_option("--elements", options->elements, "that a tensor may have, more or less (4096)")
      ->check(CLI::Range(1, 1 << 24))
      ->option_text("N");
  app->add_option("--guard", options->guard,
                  "zones: patterns around every tensor; after, before: each tensor\nends, or begins, at an unmapped "
                  "page (cpu backend)")
      ->check(CLI::IsMember({"zones", "after", "before"}))
      ->option_text("KIND");
  app->add_option("--save", options->save,
                  "folder for the case that failed, which hipops-parity --golden runs;\nno file there is written over")
      ->option_text("DIR");
  app->footer(
      "The first case that fails is made small, printed as a golden file, and ends the run; so is the\n"
      "command that runs it alone.\n"
      "\n"
      "Examples:\n"
      "  hipops-fuzz\n"
      "  hipops-fuzz --wave 64 --guard after --seed 0 --count 20000\n"
      "  hipops-fuzz --backend hip --op softmax --save failed\n"
      "\n"
      "Exit status:\n"
      "  0   all pass\n"
      "  1   a case failed, or the runtime does at the start\n"
      "  2   bad usage, or a wrong setting\n"
      "  77  the backend is missing; hipops-info prints the reason");
}

// Whether the folder exists or can be created, and is writable.
bool is_writable_folder(const fs::path& path) {
  fs::path folder = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(folder, error) && folder != folder.parent_path()) folder = folder.parent_path();
  return fs::is_directory(folder, error) && access(folder.c_str(), W_OK | X_OK) == 0;
}

// "", or a message about the wrong option.
std::string problem_of(const Options& options) {
  const std::string elsewhere = " is for the cpu backend, not for " + options.backend;
  if (options.guard != "zones" && options.backend != "cpu") return "--guard" + elsewhere;
  if (options.wave != 0 && options.backend != "cpu") return "--wave" + elsewhere;
  if (options.first > UINT64_MAX - options.count) return "--first and --count reach over 2^64";
  if (!options.op.empty() && !parity::is_built(*parity::find_op(parity::all_ops(), options.op)))
    return parity::not_built(options.op);
  if (options.save == "-") return "--save is \"-\", expected a folder; the case is printed without it, too";
  if (!options.save.empty() && !is_writable_folder(options.save)) return "--save: cannot write to " + options.save;
  return "";
}

// Must precede the library's first use. An option overrides the caller's environment.
void set_environment(const Options& options) {
  if (options.wave != 0) setenv("HIPOPS_CPU_WAVE", std::to_string(options.wave).c_str(), 1);
  setenv("HIPOPS_CPU_SEED", std::to_string(options.seed).c_str(), 0);
  setenv("HIPOPS_CPU_RACE", "1", 0);
  if (options.guard != "zones") setenv("HIPOPS_CPU_GUARD", options.guard == "after" ? "end" : "begin", 1);
}

Setting setting_of(const Options& options) {
  Setting setting;
  for (const parity::OpEntry& op : parity::all_ops()) {
    if (parity::is_built(op) && (options.op.empty() || options.op == op.name)) setting.ops.push_back(op);
  }
  setting.backend = parity::backend_of(options.backend);
  setting.guard = options.guard == "after"    ? parity::Guard::kPageAfter
                  : options.guard == "before" ? parity::Guard::kPageBefore
                                              : parity::Guard::kZones;
  setting.seed = options.seed;
  setting.most_elements = options.elements;
  return setting;
}

// Reads the environment that set_environment has set.
std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// The backend and the device, as options of a command.
std::string place(const Options& options) {
  std::string text = " --backend " + options.backend;
  if (options.backend == "cpu") text += " --wave " + parity::shell_quote(environment_or("HIPOPS_CPU_WAVE", "32"));
  return text + (options.guard != "zones" ? " --guard " + options.guard : "");
}

// For a command: the table, the order of work-items unless --seed sets it, and the number of units for plans.
std::string order(const Options& options) {
  const std::string table = environment_or("HIPOPS_TUNING_FILE", "");
  const std::string tuned = table.empty() ? "" : "HIPOPS_TUNING_FILE=" + parity::shell_quote(table) + " ";
  if (options.backend != "cpu") return tuned;
  const std::string units = environment_or("HIPOPS_CPU_UNITS", ""), seed = environment_or("HIPOPS_CPU_SEED", "0");
  const std::string planned = units.empty() ? "" : "HIPOPS_CPU_UNITS=" + parity::shell_quote(units) + " ";
  return tuned + planned + (seed == std::to_string(options.seed) ? "" : "HIPOPS_CPU_SEED=" + parity::shell_quote(seed) + " ");
}

std::string command(const Options& options) {
  std::string text = order(options) + parity::shell_quote(options.program) + place(options);
  if (!options.op.empty()) text += " --op " + options.op;
  if (options.elements != Options().elements) text += " --elements " + std::to_string(options.elements);
  return text + " --seed " + std::to_string(options.seed);
}

// Never overwrites a file, which may be a golden file or another finding.
void save(const Options& options, const std::string& op, const Plan& plan, const std::string& text) {
  const fs::path file = fs::path(options.save) / op / (std::string(kTopic) + ".json");
  fs::create_directories(file.parent_path());
  if (fs::exists(file)) throw std::runtime_error(file.string() + ": " + std::strerror(EEXIST));
  if (!parity::OutputFile(file).write(text)) throw std::runtime_error(file.string());
  std::printf("saved: hipops-parity%s --golden %s --op %s%s%s\n", place(options).c_str(),
              parity::shell_quote(options.save).c_str(), op.c_str(), plan.as_many ? " --many-rows" : "",
              plan.ordered ? " --ordered" : "");
}

void show_small(const Options& options, const Setting& setting, const Trial& failed) {
  const parity::OpEntry& op = op_of(setting, failed.number);
  const Trial small = shrink_trial(setting, failed, kShrinkRuns);
  parity::GivenChoices choices(small.choices);
  parity::Case test = parity::random_case(choices, op, options.elements);
  test.name = "random_" + std::to_string(options.seed) + "_" + std::to_string(failed.number);
  const std::string text = golden_text(op, kTopic, test);
  std::printf("shrunk: %s\n%s", small.text.c_str(), text.c_str());
  if (small.beside_others) std::printf("hipops-parity passes this case alone: its rows fail beside extreme rows\n");
  if (!options.save.empty()) save(options, op.name, plan_of(setting, failed.number), text);
}

// A later error does not change the exit code of the failure.
int report_failure(const Options& options, const Setting& setting, const Trial& failed) {
  const parity::OpEntry& op = op_of(setting, failed.number);
  std::printf("FAIL %s, case %llu: %s\nagain: %s --first %llu --count 1\n", op.name,
              static_cast<unsigned long long>(failed.number), failed.text.c_str(), command(options).c_str(),
              static_cast<unsigned long long>(failed.number));
  std::fflush(stdout);
  try {
    show_small(options, setting, failed);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "hipops-fuzz: not %s: %s\n", options.save.empty() ? "shrunk" : "saved", problem.what());
  }
  return parity::kExitMismatch;
}

int main_or_throw(int argc, char** argv) {
  Options options;
  CLI::App app("Compares what hipops computes in random cases with a plain reference.", "hipops-fuzz");
  declare(&app, &options);
  int exit_code;
  if (!parity::parse_command_line(&app, argc, argv, &exit_code)) return exit_code;
  options.program = argv[0];
  if (const std::string problem = problem_of(options); !problem.empty()) {
    std::fprintf(stderr, "hipops-fuzz: %s\n", problem.c_str());
    return parity::kExitUsage;
  }
  if (options.seed == 0) {
    options.seed = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) >> 10;
  }
  set_environment(options);
  const Setting setting = setting_of(options);
  std::printf("%s --first %llu --count %llu\n", command(options).c_str(),
              static_cast<unsigned long long>(options.first), static_cast<unsigned long long>(options.count));
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const Trial trial = try_cases(setting, options.first, options.count);
  if (trial.ending == Ending::kNoBackend)
    return parity::refuse_backend("hipops-fuzz", options.backend, trial.status, trial.text);
  if (trial.ending != Ending::kPassed) return report_failure(options, setting, trial);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s: seed %llu: all %llu cases of %zu ops pass, and %llu rows have the same bits beside extreme rows (%.1f s)\n",
              trial.text.c_str(), static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(trial.passed),
              setting.ops.size(), static_cast<unsigned long long>(trial.rows), seconds);
  return parity::kExitPassed;
}

}  // namespace
}  // namespace hipops::fuzz

int main(int argc, char** argv) {
  try {
    return hipops::parity::after_printing(hipops::fuzz::main_or_throw(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hipops-fuzz: %s\n", error.what());
    return hipops::parity::kExitUsage;
  }
}
