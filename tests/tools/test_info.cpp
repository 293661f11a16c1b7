// hipops-info, on a machine without GPUs and on a stand-in libamdhip64. And rules for all tools.

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "run.h"
#include "info/code_choice.h"
#include "parity/terminal.h"
#include "runtime/runtime.h"

using namespace hipops::info;
using namespace hipops_test;

namespace {

Run run(const std::string& tool, const std::string& arguments, const std::string& environment = "") {
  return run_command(environment + " '" HIPOPS_BIN "/" + tool + "' " + arguments);
}

// An environment that hides the runtimes of this machine.
const std::string kNoGpu = "HIPOPS_HIP_LIBRARY=none HIPOPS_CUDA_LIBRARY=none";
const std::string kStandin = "HIPOPS_HIP_LIBRARY='" HIPOPS_STANDIN "' HIPOPS_CUDA_LIBRARY=none STANDIN_ARCH=";

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("test_info." + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  const std::filesystem::path path_;
};

std::string first_target() {
  const std::string all = hipops::hip_targets;
  return all.substr(0, all.find(' '));
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const char* const kTools[] = {"hipops-parity", "hipops-bench", "hipops-tune", "hipops-inspect", "hipops-info", "hipops-fuzz"};

// A short run of each tool that opens a backend.
const std::pair<const char*, const char*> kBackendUsers[] = {
    {"hipops-parity", "--op softmax --topic smoke --backend "},
    {"hipops-bench", "--op softmax --dtype f32 --shape 4x4 --repeats 1 --backend "},
    {"hipops-tune", "--match softmax/f32/packed --most 1 --output - --backend "},
    {"hipops-fuzz", "--op softmax --count 1 --backend "},
    {"hipops-info", "--backend "}};

}  // namespace

TEST_CASE("an AMD device gets its own code object, or its family's", "[info]") {
  const std::string carried = "gfx90a gfx942 gfx1100 gfx9-generic gfx9-4-generic gfx10-3-generic gfx11-generic";
  CHECK(amd_choice("gfx942", carried) == "gfx942");
  CHECK(amd_choice("gfx950", carried) == "gfx9-4-generic");
  CHECK(amd_choice("gfx906", carried) == "gfx9-generic");
  CHECK(amd_choice("gfx1032", carried) == "gfx10-3-generic");
  CHECK(amd_choice("gfx1103", carried) == "gfx11-generic");
  CHECK(amd_choice("gfx908", carried) == "");
  CHECK(amd_choice("gfx1201", carried) == "");
  CHECK(amd_choice("gfx94", carried) == "");
}

TEST_CASE("an NVIDIA device gets machine code of its major version, or PTX", "[info]") {
  const std::string carried = "sm_80 sm_90 sm_100 sm_120 compute_80";
  CHECK(cuda_choice("sm_80", carried) == "sm_80");
  CHECK(cuda_choice("sm_89", carried) == "sm_80");
  CHECK(cuda_choice("sm_90", carried) == "sm_90");
  CHECK(cuda_choice("sm_103", carried) == "sm_100");
  CHECK(cuda_choice("sm_110", carried) == "compute_80");
  CHECK(cuda_choice("sm_75", carried) == "");
}

TEST_CASE("without a GPU hipops-info prints the reason, and the backend that programs get", "[info]") {
  const Run plain = run("hipops-info", "", kNoGpu);
  INFO(plain.words);
  CHECK(plain.exit_code == 0);
  CHECK(plain.prints("hip      not usable: HIPOPS_HIP_LIBRARY is \"none\""));
  CHECK(plain.prints("cuda     not usable: HIPOPS_CUDA_LIBRARY is \"none\""));
  CHECK(plain.prints("cpu      usable, and the backend that a program gets"));
  CHECK(plain.prints("HIPOPS_HIP_LIBRARY=none"));
  CHECK(run("hipops-info", "--backend hip", kNoGpu).exit_code == 77);
  CHECK(run("hipops-info", "--backend cpu", kNoGpu).exit_code == 0);
}

TEST_CASE("hipops-info --backend describes that backend alone, with advice", "[info]") {
  const auto answers = [](const std::string& backend, const std::string& environment, int exit_code,
                          const std::string& verdict) {
    const Run answer = run("hipops-info", "--backend " + backend, environment);
    INFO(answer.words);
    CHECK(answer.exit_code == exit_code);
    CHECK(answer.prints("hipops " + std::string(hipops_version()) + "\nbuild    "));
    for (const std::string other : {"hip", "cuda", "cpu"})
      CHECK(answer.prints("\n" + hipops::parity::left(other, 9)) == (other == backend));
    const std::string last = "\nverdict  " + backend + " " + verdict;
    CHECK(answer.words.find(last) == answer.words.rfind('\n', answer.words.size() - 2));
  };
  answers("hip", kNoGpu, 77,
          "cannot be used: unset HIPOPS_HIP_LIBRARY, or set it to the path of a libamdhip64 that loads");
  answers("cuda", kNoGpu, 77,
          "cannot be used: unset HIPOPS_CUDA_LIBRARY, or set it to the path of a libcuda that loads");
  answers("cpu", kNoGpu, 0, "can be used, on 1 of 1 devices");
  answers("cpu", kNoGpu + " HIPOPS_BACKEND=rocm", 0, "can be used, on 1 of 1 devices");
  answers("cpu", kNoGpu + " HIPOPS_CPU_WAVE=48", 2, "cannot be used: correct the setting that is named above");
  for (const std::string absent : {"none", "zero"})
    answers("hip", kStandin + absent, 77, "cannot be used: its runtime sees no GPU; correct the cause in the line above");
  answers("hip", kStandin + "gfx942 STANDIN_FAIL=hipGetDeviceCount:0:719", 1,
          "cannot be used: its runtime exists and fails; does rocminfo run?");
  const std::string folder = "HIPOPS_CODE_OBJECT_DIR=/nowhere ";
  answers("hip", folder + kStandin + "gfx942,gfx803", 77,
          "cannot be used: HIPOPS_CODE_OBJECT_DIR has no code objects for its devices");
  if (*hipops::hip_targets == '\0') {
    answers("hip", kStandin + "gfx942", 77, "cannot be used: hipops has to be built for gfx942 (HIPOPS_AMD_TARGETS)");
  } else {
    answers("hip", kStandin + "gfx803", 77, "cannot be used: hipops has to be built for gfx803 (HIPOPS_AMD_TARGETS)");
    answers("hip", kStandin + "gfx803," + first_target(), 0, "can be used, on 1 of 2 devices");
  }
  CHECK(run("hipops-info", "--backend auto", kNoGpu).words == run("hipops-info", "", kNoGpu).words);
  CHECK_FALSE(run("hipops-info", "", kNoGpu).prints("verdict"));
}

TEST_CASE("hipops-info prints why a program gets no backend", "[info]") {
  const Run unknown = run("hipops-info", "", kNoGpu + " HIPOPS_BACKEND=rocm");
  INFO(unknown.words);
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.prints("a program that names no backend gets: HIPOPS_BACKEND is \"rocm\", expected one of auto"));
  CHECK(run("hipops-info", "--backend cpu", kNoGpu + " HIPOPS_BACKEND=rocm").exit_code == 0);
}

TEST_CASE("hipops-info tries each device's kernels", "[info]") {
  const bool has_amd = *hipops::hip_targets != '\0';
  const std::string target = has_amd ? first_target() : "gfx1100";
  const Run good = run("hipops-info", "--backend hip", kStandin + target);
  INFO(good.words);
  CHECK(good.prints("0: Stand-in 0 (" + target + ")"));
  CHECK(good.exit_code == (has_amd ? 0 : 77));
  if (has_amd) CHECK(good.prints("kernels " + target + "\n"));
  const Run other = run("hipops-info", "--backend hip", kStandin + "gfx803");
  INFO(other.words);
  CHECK(other.exit_code == 77);
  CHECK(other.prints(has_amd ? "no code object for device 0, Stand-in 0 (gfx803)" : "built without AMD code objects"));
}

TEST_CASE("hipops-info counts the ops that have code objects", "[info]") {
  if (*hipops::hip_targets == '\0') return;
  const Folder folder;
  const std::string target = first_target();
  std::filesystem::create_directories(folder / target);
  std::filesystem::copy(HIPOPS_BIN "/../code-objects/" + target + "/softmax.co", folder / (target + "/softmax.co"));
  const std::string environment = kStandin + target + " HIPOPS_CODE_OBJECT_DIR='" + folder / "" + "'";
  const Run one = run("hipops-info", "--backend hip", environment);
  INFO(one.words);
  CHECK(one.exit_code == 0);
  CHECK(one.prints(", of 1 of " + std::to_string(hipops::image_count) + " ops; the first of the others: "));
  std::filesystem::remove(folder / (target + "/softmax.co"));
  const Run none = run("hipops-info", "--backend hip", environment);
  INFO(none.words);
  CHECK(none.exit_code == 77);
}

TEST_CASE("every tool ends in the same way if a backend fails", "[info]") {
  for (const auto& [tool, arguments] : kBackendUsers) {
    const auto refused = [tool = tool, arguments = arguments](const char* backend, const std::string& environment) {
      return run(tool, std::string(arguments) + backend, environment).exit_code;
    };
    INFO(tool);
    CHECK(refused("hip", kNoGpu) == 77);
    CHECK(refused("hip", kStandin + "none") == 77);
    CHECK(refused("hip", kStandin + "gfx942 STANDIN_FAIL=hipGetDeviceCount:0:719") == 1);
    CHECK(refused("cpu", "HIPOPS_CPU_THREADS=x") == 2);
    CHECK(refused("cpu", "HIPOPS_CPU_WAVE=48") == 2);
  }
}

TEST_CASE("every tool reports a file that cannot be written before its run, and ends with 2", "[info]") {
  const std::string parity = "--backend cpu --op softmax --topic smoke --dtype f32";
  const std::pair<std::string, std::string> runs[] = {
      {"hipops-parity", parity + " --json "},
      {"hipops-parity", parity + " --junit "},
      {"hipops-bench", "--backend cpu --op softmax --dtype f32 --shape 4x4 --repeats 1 --json "},
      {"hipops-tune", "--backend cpu --match softmax/f32/packed --most 1 --output "},
      {"hipops-inspect", "--op softmax --json "},
      {"hipops-fuzz", "--op softmax --count 1 --save "}};
  for (const auto& [tool, arguments] : runs) {
    const Run result = run(tool, arguments + "/dev/null/file");
    INFO(tool << ": " << result.words);
    CHECK(result.exit_code == 2);
    CHECK(result.prints("cannot write "));
    CHECK(result.prints("/dev/null/file"));
    CHECK_FALSE(result.prints("pass"));
    CHECK_FALSE(result.prints("softmax/f32/"));
  }
  CHECK(run("hipops-parity", parity + " --json /dev/full").exit_code == 2);
  // A run that fails does not change these.
  const Folder folder;
  std::ofstream(folder / "old.json") << "old";
  const std::string reports = "--json '" + folder / "old.json" + "' --junit '" + folder / "new.xml" + "'";
  CHECK(run("hipops-parity", "--backend hip " + reports, kNoGpu).exit_code == 77);
  CHECK(text_of(folder / "old.json") == "old");
  CHECK_FALSE(std::filesystem::exists(folder / "new.xml"));
}

TEST_CASE("a tool that is killed leaves the files as they were", "[info]") {
  const Folder folder;
  const std::string old = "'" + folder / "old.json" + "'", fresh = "'" + folder / "new.json" + "'";
  std::ofstream(folder / "old.json") << "old";
  // Each would run for minutes.
  const std::pair<const char*, std::string> runs[] = {
      {"hipops-tune", "--backend cpu --output " + fresh},
      {"hipops-tune", "--backend cpu --output " + old},
      {"hipops-bench", "--backend cpu --sweep --json " + fresh},
      {"hipops-parity", "--backend cpu --repeat 100000 --json " + old + " --junit " + fresh}};
  for (const auto& [tool, arguments] : runs) {
    const Run killed = run(tool, arguments, "timeout -s KILL 0.7");
    INFO(tool << " " << arguments << ": " << killed.words);
    CHECK(killed.exit_code == 128 + SIGKILL);
    CHECK(text_of(folder / "old.json") == "old");
    CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1);
  }
}

TEST_CASE("no tool ends with 0 if it cannot write to stdout", "[info]") {
  for (const std::string tool : kTools) {
    INFO(tool);
    CHECK(run(tool, "--version > /dev/full").exit_code == 2);
  }
  const Run listed = run("hipops-bench", "--list --op softmax 2>&1 > /dev/full");
  CHECK(listed.exit_code == 2);
  CHECK(run("hipops-info", "--backend hip > /dev/full", kNoGpu).exit_code == 77);
}

TEST_CASE("a report on stdout is alone there, and the table is on stderr", "[info]") {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err", inside = "cd '" + folder / "" + "' &&";
  const std::string apart = " > '" + out + "' 2> '" + err + "'";
  const std::string parity = "--backend cpu --op softmax --topic smoke --dtype f32 ";
  const std::string bench = "--backend cpu --op softmax --dtype f32 --repeats 1 ";
  struct Report {
    std::string tool, arguments, table;
  };
  std::vector<Report> reports = {
      {"hipops-parity", parity + "--json -", "passed"},
      {"hipops-parity", parity + "--verbose --json=-", "passed"},
      {"hipops-bench", bench + "--shape 4x4 --json -", "times in us"},
      {"hipops-bench", "--backend cpu --sweep --repeats 1 --match 'rms_norm/f32/1x127' --json -", "1 shapes"}};
  reports.push_back({"hipops-tune", "--backend cpu --match softmax/f32/packed --most 1 --output -", "kernels that neither uses"});
  if (*hipops::hip_targets != '\0')
    reports.push_back({"hipops-inspect", "--op softmax --kernel '*_f32_aligned_*' --json -", "VGPRs"});
  for (const Report& report : reports) {
    const Run done = run(report.tool, report.arguments + apart, inside);
    INFO(report.tool << " " << report.arguments << "\n" << text_of(out) << text_of(err));
    CHECK(done.exit_code == 0);
    CHECK_FALSE(nlohmann::json::parse(text_of(out)).empty());
    CHECK(text_of(err).find(report.table) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "-"));
  }
  CHECK(run("hipops-parity", parity + "--junit -" + apart, inside).exit_code == 0);
  CHECK(text_of(out).rfind("<?xml", 0) == 0);
  CHECK(text_of(err).find("passed") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "-"));
  // The earlier contents of stdout stay.
  std::ofstream(out) << "before\n";
  CHECK(run("hipops-parity", parity + "--json - >> '" + out + "' 2> '" + err + "'").exit_code == 0);
  CHECK(text_of(out).rfind("before\n{", 0) == 0);

  CHECK(run("hipops-parity", parity + "--json - --junit -").prints("--json and --junit are both -"));
  CHECK(run("hipops-parity", parity + "--json - > /dev/full").prints("cannot write stdout: "));
  CHECK(run("hipops-parity", parity + "--json - > /dev/full").exit_code == 2);
  CHECK(run("hipops-parity", parity + "--json - --junit '" + out + "' > '" + out + "'").exit_code == 2);
  const Run refused = run("hipops-parity", "--backend hip --json -" + apart, kNoGpu);
  CHECK(refused.exit_code == 77);
  CHECK(text_of(out).empty());
  const Run save_to_stdout = run("hipops-fuzz", "--op softmax --count 1 --save -");
  CHECK(save_to_stdout.exit_code == 2);
  CHECK(save_to_stdout.prints("--save is \"-\", expected a folder"));
}

TEST_CASE("hipops-fuzz fails also if it cannot save the case, and overwrites no file", "[info]") {
  if (*hipops::hip_targets == '\0') return;
  // The stand-in launches nothing, so that every result is wrong.
  const Folder folder;
  const std::string target = first_target();
  const auto fuzz = [&](const std::string& save) {
    const std::string arguments = "--backend hip --op softmax --elements 20 --count 5 --save '" + save + "'";
    return run("hipops-fuzz", arguments, kStandin + target);
  };
  const Run saved = fuzz(folder / "my finds");
  INFO(saved.words);
  CHECK(saved.exit_code == 1);
  CHECK(saved.prints("FAIL softmax, case "));
  CHECK(saved.prints("saved: hipops-parity --backend hip --golden '" + folder / "my finds" + "' --op softmax"));
  const std::string found = text_of(folder / "my finds/softmax/smoke.json");
  CHECK(saved.prints(found));
  std::ofstream(folder / "my finds/softmax/smoke.json") << "a golden file";
  const Run again = fuzz(folder / "my finds");
  INFO(again.words);
  CHECK(again.exit_code == 1);
  CHECK(again.prints("softmax/smoke.json: File exists"));
  CHECK(again.prints(found));
  CHECK(text_of(folder / "my finds/softmax/smoke.json") == "a golden file");
  std::ofstream(folder / "softmax") << "no folder";
  CHECK(fuzz(folder / "").exit_code == 1);
}

TEST_CASE("hipops-fuzz prints the variables of the environment that change it", "[info]") {
  const std::string few = "--op softmax --count 1";
  const Run plain = run("hipops-fuzz", few);
  INFO(plain.words);
  CHECK(plain.prints("hipops-fuzz --backend cpu --wave 32 --op softmax --seed 1 "));
  CHECK(plain.prints("wave 32: seed 1"));
  CHECK_FALSE(plain.prints("HIPOPS_CPU_SEED"));
  const Run set = run("hipops-fuzz", few, "HIPOPS_CPU_WAVE=64 HIPOPS_CPU_SEED=7");
  INFO(set.words);
  CHECK(set.prints("HIPOPS_CPU_SEED=7 "));
  CHECK(set.prints("--wave 64 "));
  CHECK(set.prints("wave 64: seed 1"));
  CHECK(run("hipops-fuzz", few + " --wave 32", "HIPOPS_CPU_WAVE=64").prints("wave 32: seed 1"));
}

TEST_CASE("without a GPU hipops-tune does not send its user to the CPU", "[info]") {
  for (const std::string backend : {"", " --backend auto"}) {
    const Run none = run("hipops-tune", "--output -" + backend, "HIPOPS_BACKEND= " + kNoGpu);
    INFO(none.words);
    CHECK(none.exit_code == 77);
    CHECK(none.prints("hipops-tune: no GPU was found, and a table of the cpu backend serves no GPU\nhip: "));
    CHECK_FALSE(none.prints("--backend cpu"));
  }
}

TEST_CASE("hipops-info prints the policy of row ops", "[info]") {
  const auto info_with = [](const std::string& file) { return run("hipops-info", "--backend cpu", "HIPOPS_TUNING_FILE=" + file); };
  CHECK(info_with("").prints("\n           row ops use the default policy\n"));
  CHECK(info_with(HIPOPS_TABLE).prints("row ops use " HIPOPS_TABLE ", measured on no device: "));
  const Run lost = info_with("/nowhere.json");
  CHECK(lost.exit_code == 0);
  CHECK(lost.prints("row ops use the default policy (HIPOPS_TUNING_FILE=/nowhere.json: it cannot be opened: No such file or directory; the default policy is used)\n"));
}

TEST_CASE("the tools have the same kinds of options and messages", "[info]") {
  for (const std::string tool : kTools) {
    const Run help = run(tool, "--help");
    INFO(help.words);
    CHECK(help.exit_code == 0);
    CHECK(help.prints("\nExamples:\n  " + tool));
    CHECK(help.prints("\nExit status:\n  0   "));
    CHECK(!help.prints("\033"));
    CHECK(!help.prints("Excludes:"));
    const Run version = run(tool, "--version");
    CHECK(version.exit_code == 0);
    CHECK(version.words == std::string("hipops ") + hipops_version() + "\n");
  }
  const Run absent = run("hipops-parity", "--backend hip", kNoGpu);
  INFO(absent.words);
  CHECK(absent.exit_code == 77);
  CHECK(absent.prints("hipops-info shows"));
  for (const std::string tool : {"hipops-parity", "hipops-fuzz"}) {
    const Run wrong = run(tool, "--backend cpu --op softmax", "HIPOPS_CPU_THREADS=x");
    INFO(wrong.words);
    CHECK(wrong.exit_code == 2);
    CHECK(wrong.prints("HIPOPS_CPU_THREADS is \"x\""));
  }
  CHECK(run("hipops-fuzz", "--first 18446744073709551615 --count 2").exit_code == 2);
  CHECK(run("hipops-fuzz", "--backend hip --wave 64").prints("--wave is for the cpu backend, not for hip"));
  CHECK(run("hipops-parity", "--wave 64", "HIPOPS_BACKEND=hip").prints("not for hip (HIPOPS_BACKEND)"));
  const Folder empty;
  for (const std::string listed : {"", " --list"}) {
    const Run none = run("hipops-parity", "--golden " + empty / "" + listed);
    INFO(none.words);
    CHECK(none.exit_code == 2);
    CHECK(none.prints("there are no golden files in "));
  }
  const Run nothing = run("hipops-inspect", "--target gfx1");
  INFO(nothing.words);
  CHECK(nothing.exit_code == 2);
  CHECK(nothing.prints("no kernel selected in the library; its targets: "));
}

TEST_CASE("the message about a wrong command line names the tool and the argument", "[info]") {
  // CLI11 writes the words between, and its releases differ.
  const auto refuses = [](const std::string& tool, const std::string& arguments, const std::string& words) {
    const Run refused = run(tool, arguments);
    INFO(tool << " " << arguments << ": " << refused.words);
    const std::string begin = tool + ": " + words, end = " (see " + tool + " --help)\n";
    CHECK(refused.exit_code == 2);
    CHECK(refused.words.compare(0, begin.size(), begin) == 0);
    CHECK(refused.words.find(end) == refused.words.size() - end.size());
  };
  for (const std::string tool : kTools) {
    refuses(tool, "--frob /nowhere -x", "unexpected argument --frob");
    refuses(tool, "--frob=3 --backend tpu", "unexpected argument --frob=3");
    refuses(tool, "--backend ''", "empty argument: --backend ''");  // "$UNSET"
    refuses(tool, "--backend= hip", "empty argument: --backend=");
    refuses(tool, "'' --version", "empty argument: ''");
  }
  refuses("hipops-parity", "first second", "unexpected argument first");
  refuses("hipops-fuzz", "-- --seed", "unexpected argument --seed");
  refuses("hipops-parity", "--json", "--json: 1 required");
  refuses("hipops-parity", "--json --list", "--json: expected a value, not --list");
  refuses("hipops-bench", "--shape --op softmax", "--shape: expected a value, not --op");
  refuses("hipops-info", "--backend hip --backend cuda", "--backend: ");
  refuses("hipops-parity", "--dtype f8", "--dtype: f8 not in {f32,");
  refuses("hipops-parity", "--wave 48", "--wave: 48 not in {32,64}");
  refuses("hipops-parity", "--threads 2.5", "--threads: Value 2.5 not in range ");
  refuses("hipops-fuzz", "--count 0", "--count: Value 0 not in range ");
  refuses("hipops-fuzz", "--seed=-1", "--seed: Value -1 not in range ");
  refuses("hipops-bench", "--shape 4x4 --permute 1,x", "Could not convert: --permute = ");
  refuses("hipops-parity", "--large --large-scale 24", "--large-scale: 24 is not a power of two from 1 to 65536");
  refuses("hipops-tune", "--backend cpu", "--output is required");
  refuses("hipops-tune", "--output x --most lots", "--most: ");
  refuses("hipops-inspect", "/nowhere.co", "FILE: File does not exist: /nowhere.co");
  refuses("hipops-parity", "--json x --list", "--list excludes --json");
  refuses("hipops-parity", "--large-scale 2", "--large-scale requires --large");
  CHECK(run("hipops-bench", "--list --op softmax --dtype f32 bf16 --").exit_code == 0);
}

TEST_CASE("a report that would be lost, or mixed with other output, is refused before the run", "[info]") {
  const Folder folder;
  const std::string file = folder / "report";
  const auto refuses = [](const std::string& tool, const std::string& options, const std::string& words) {
    const Run refused = run(tool, options);
    INFO(refused.words);
    CHECK(refused.exit_code == 2);
    CHECK(refused.prints(words));
  };
  refuses("hipops-parity", "--json " + file + " --junit " + file, "--json and --junit are both " + file);
  refuses("hipops-parity", "--list --json " + file, "--list excludes --json");
  refuses("hipops-bench", "--list --json " + file, "--list excludes --json");
  CHECK(!std::filesystem::exists(file));
  const std::string into_one = "--json " + file + " > " + file + " 2>&1";
  CHECK(run("hipops-parity", "--backend cpu --op softmax --topic smoke " + into_one).exit_code == 2);
  CHECK(text_of(file).find(file + ": stdout is the same file, expected another one") != std::string::npos);
}
