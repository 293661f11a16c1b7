#include "parity/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "parity/command_line.h"
#include "parity/golden.h"
#include "parity/large_cases.h"
#include "parity/number.h"
#include "parity/ops.h"

namespace hipops::parity {
namespace {

// Some backends have no choice of wave size and no guard pages.
bool expect_cpu(Options* options, const char* option) {
  const char* named = std::getenv("HIPOPS_BACKEND");
  const bool by_environment = options->backend == "auto" && named != nullptr && *named != '\0';
  std::string backend = by_environment ? named : options->backend;
  if (backend == "auto") backend = "cpu";
  if (backend == "cpu") {
    options->backend = backend;
    return true;
  }
  std::fprintf(stderr, "hipops-parity: %s is for the cpu backend, not for %s%s\n", option, backend.c_str(),
               by_environment ? " (HIPOPS_BACKEND)" : "");
  return false;
}

std::string is_scale(const std::string& text) {
  const int64_t scale = std::strtoll(text.c_str(), nullptr, 10);
  if (std::to_string(scale) == text && scale > 0 && scale <= large::kGreatestScale && (scale & (scale - 1)) == 0)
    return "";
  return text + " is not a power of two from 1 to " + std::to_string(large::kGreatestScale);
}

void declare(CLI::App* app, Options* options) {
  app->add_option("--backend", options->backend, "auto, cpu, hip or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "hip", "cuda"}))
      ->option_text("BACKEND");
  app->add_option("--op", options->op, "only this op, as rms_norm")
      ->check(CLI::IsMember(op_names()))
      ->option_text("OP");
  app->add_option("--dtype", options->dtype, "only cases of this dtype, as bf16")
      ->check(CLI::IsMember(dtype_names()))
      ->option_text("DTYPE");
  app->add_option("--case", options->case_glob, "only cases whose name matches this pattern (*, ?, [...])")
      ->option_text("PATTERN");
  app->add_option("--topic", options->topic, "only this topic, as smoke")
      ->check(CLI::IsMember(all_topics()))
      ->option_text("TOPIC");
  app->add_option("--wave", options->wave, "wave size of the cpu backend: 32 or 64")
      ->check(CLI::IsMember({"32", "64"}))
      ->option_text("SIZE");
  app->add_option("--guard", options->guard,
                  "zones: patterns around every tensor; after, before: each tensor\nends, or begins, at an unmapped page "
                  "(cpu backend)")
      ->check(CLI::IsMember({"zones", "after", "before"}))
      ->option_text("KIND");
  app->add_option("--golden", options->golden, "folder of the golden files (also: HIPOPS_GOLDEN)")->option_text("DIR");
  CLI::Option* list =
      app->add_flag("--list", options->list,
                    "list the cases (op, dtype, topic, name, shape) and run none; not with\n--json, --junit");
  app->add_option("--json", options->json, "write every result to this file; -: to stdout, and the table to\nstderr")->excludes(list)->option_text("FILE");
  app->add_option("--junit", options->junit, "write every result to this file as JUnit XML; - as above")
      ->excludes(list)
      ->option_text("FILE");
  app->add_option("--repeat", options->repeat,
                  "run each case that is deterministic this often, on other streams\nand with other grids: all runs "
                  "must give the same bits")
      ->check(CLI::Range(2, 1000000))
      ->option_text("TIMES");
  app->add_option("--threads", options->threads,
                  "run cases on this many threads at once, each on a stream\nof its own, and on all devices "
                  "in turn; not with --repeat")
      ->check(CLI::Range(2, 1000))
      ->option_text("COUNT");
  app->add_flag("--many-rows", options->many_rows,
                "have row ops choose kernels as for many rows, index_add as for\nmany indices, gather, index_select, upsampling and "
                "copies as for\nlarge tensors, also where there are few, or small ones");
  app->add_flag("--ordered", options->ordered,
                "have index_add order its indices wherever there is a workspace,\nalso where there are few, and look them through by each block\nelsewhere");
  app->add_flag("--capture", options->capture,
                "capture each case in a graph before its data is there, and replay\nthat with changing data; not with "
                "--repeat, --threads");
  CLI::Option* large = app->add_flag(
      "--large", options->large,
      "instead of the golden cases, those past 2^31 elements and 4 GiB:\nfor a GPU with 48 GiB of memory or more; "
      "not with --topic, --golden,\n--guard, --repeat, --threads, --capture");
  app->add_option("--large-scale", options->large_scale,
                  "with --large: divides the sizes by this power of two, so that\ntests can run its cases without a GPU")
      ->check(is_scale)
      ->needs(large)
      ->option_text("SCALE");
  app->add_option("--seed", options->seed, "with --large: of the places that are checked at random")
      ->needs(large)
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->option_text("SEED");
  for (const char* other : {"--topic", "--golden", "--guard", "--repeat", "--threads", "--capture"})
    large->excludes(app->get_option(other));
  for (const char* other : {"--repeat", "--threads"}) app->get_option("--capture")->excludes(app->get_option(other));
  app->get_option("--threads")->excludes(app->get_option("--repeat"));
  app->add_flag("--verbose", options->verbose, "a line for each case");
  app->footer(
      "Cases of more than 1 GiB are skipped unless --topic or --case asks for them; those of\n"
      "--large where the device's memory does not do.\n"
      "\n"
      "Examples:\n"
      "  hipops-parity\n"
      "  hipops-parity --backend cpu --wave 64 --op softmax --dtype bf16 --case 'exact_*'\n"
      "  hipops-parity --backend hip --junit parity.xml\n"
      "  hipops-parity --backend hip --repeat 100\n"
      "\n"
      "Exit status:\n"
      "  0   all pass\n"
      "  1   a mismatch, or the runtime fails at the start\n"
      "  2   bad usage, a wrong setting, a bad golden file, a file that cannot be written, or no\n"
      "      selected case that was not skipped\n"
      "  77  the backend is missing, or has no graphs to capture");
}

}  // namespace

bool parse_options(int argc, char** argv, Options* options, int* exit_code) {
  CLI::App app("Compares what hipops computes with golden files.", "hipops-parity");
  declare(&app, options);
  if (!parse_command_line(&app, argc, argv, exit_code)) return false;
  options->program = argv[0];
  if (!options->json.empty() && options->json == options->junit) {
    std::fprintf(stderr, "hipops-parity: --json and --junit are both %s, expected a file for each\n",
                 options->json.c_str());
    return false;
  }
  if (options->wave != 0 && !expect_cpu(options, "--wave")) return false;
  return options->guard == "zones" || expect_cpu(options, "--guard");
}

hipops_backend backend_of(const std::string& name) {
  if (name == "cpu") return HIPOPS_BACKEND_CPU;
  if (name == "hip") return HIPOPS_BACKEND_HIP;
  if (name == "cuda") return HIPOPS_BACKEND_CUDA;
  return HIPOPS_BACKEND_AUTO;
}

const char* backend_name(hipops_backend backend) {
  if (backend == HIPOPS_BACKEND_CPU) return "cpu";
  if (backend == HIPOPS_BACKEND_HIP) return "hip";
  if (backend == HIPOPS_BACKEND_CUDA) return "cuda";
  return "auto";
}

int exit_code_of(hipops_status status) {
  if (status == HIPOPS_NO_DEVICE) return kExitNoDevice;
  return status == HIPOPS_INVALID_ARGUMENT ? kExitUsage : kExitMismatch;
}

int refuse_backend(const char* program, const std::string& backend, hipops_status status, const std::string& why) {
  std::fprintf(stderr, "%s: backend %s: %s: %s\nhipops-info shows what can be used here\n", program, backend.c_str(),
               hipops_status_string(status), why.c_str());
  return exit_code_of(status);
}

}  // namespace hipops::parity
