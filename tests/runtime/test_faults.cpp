// Each call of the stand-in libamdhip64 fails, in turn and with each error. hipops returns a status and a message with
// the runtime's code, leaks nothing, and succeeds the next time.
#include <malloc.h>

#include "catch.h"
#include "runtime/fake_code_object.h"
#include "runtime/fault_session.h"
#include "ops.h"
#include "runtime/standin_control.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// The errors of hip_runtime_api.h, HIP 5 to 7, and a number that is no error.
constexpr int kCodes[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   12,  13,   17,   21,   35,    46,  52,
                          53,  98,  100, 101, 200, 201, 202, 205, 206, 207, 208,  209,  210,  211,   212, 213,
                          214, 215, 216, 217, 218, 219, 300, 301, 302, 303, 304,  400,  401,  500,   600, 700,
                          701, 702, 704, 705, 708, 709, 710, 712, 713, 718, 719,  720,  801,  900,   901, 902,
                          903, 904, 905, 906, 907, 908, 909, 910, 911, 999, 1052, 1053, 1054, 123456};

struct Function {
  const char* name;
  bool tolerated;  // hipops works without this function
};
constexpr Function kFunctions[] = {
    {"hipInit", false},
    {"hipGetDeviceCount", false},
    {"hipGetDevice", false},
    {"hipSetDevice", false},
    {"hipDeviceGetName", false},
    {"hipDeviceGetAttribute", false},
    {"hipGetDevicePropertiesR0600", true},
    {"hipThreadExchangeStreamCaptureMode", true},
    {"hipModuleLoadData", false},
    {"hipModuleGetFunction", false},
    {"hipModuleLaunchKernel", false},
    {"hipMalloc", false},
    {"hipFree", false},
    {"hipMemcpy", false},
    {"hipHostMalloc", false},
    {"hipHostFree", false},
    {"hipStreamCreate", false},
    {"hipStreamDestroy", false},
    {"hipDeviceSynchronize", false},
};

// One op, whose bundle has only names.
Op& first_op() { return *all_ops[0]; }

void write_bundle(const TemporaryFolder& folder) {
  const Op& op = first_op();
  const std::vector<std::string> kernels(op.kernel_names, op.kernel_names + op.kernel_count);
  folder.write(std::string(op.name) + ".hipfb", fake_bundle({{"gfx942", fake_elf(kernels)}}));
}

hipops_status launch_first(void* target, void* source) {
  void* const arguments[] = {target, source};
  return launch(first_op(), 0, 3, 64, arguments, sizeof arguments, nullptr);
}

std::vector<Step> session() {
  static std::vector<unsigned char> data(256);
  return session_around(&data, launch_first);
}

Environment with_rule(const TemporaryFolder& folder, const std::string& rule) {
  return standin_environment({{"HIPOPS_CODE_OBJECT_DIR", folder.path()}, {"STANDIN_FAIL", rule}});
}

hipops_status status_of(const std::string& function, int code) {
  const bool starting = function == "hipInit" || function == "hipGetDeviceCount";
  if (starting && (code == 100 || code == 35)) return HIPOPS_NO_DEVICE;
  const bool unsuitable = code == 1 || code == 200 || code == 209 || code == 218 || code == 303;
  return function == "hipModuleLoadData" && unsuitable ? HIPOPS_NO_CODE_OBJECT : HIPOPS_RUNTIME_ERROR;
}

// The number of calls of each function in a session without failures.
std::map<std::string, int> calls_of_session(const TemporaryFolder& folder) {
  std::map<std::string, int> calls;
  for (const Function& function : kFunctions) {
    const std::string outcome = in_child(with_rule(folder, ""), [&] {
      EXPECT_EQUAL(run_session(session()).step, "");
      throw std::runtime_error(std::to_string(Standin().call_count(function.name)));
    });
    calls[function.name] = std::atoi(outcome.c_str());
    CAPTURE(outcome);
    CHECK(calls[function.name] > 0);
  }
  return calls;
}

void check_failure(const TemporaryFolder& folder, const Function& function, int call, int code) {
  const std::string number = std::to_string(code);
  INFO(function.name << ", call " << call << ", fails with " << number);
  check_in_child(with_rule(folder, std::string(function.name) + ":" + std::to_string(call) + ":" + number), [&] {
    const Refusal refusal = run_session(session());
    EXPECT_EQUAL(refusal.step.empty(), function.tolerated);
    if (!function.tolerated) {
      EXPECT_EQUAL(refusal.status, status_of(function.name, code));
      EXPECT_EQUAL(refusal.code, code);
      EXPECT_CONTAINS(refusal.message, std::string(function.name) + ": hipStandinError" + number + " (" + number +
                                           "): the stand-in's own words");
    }
    Standin standin;
    EXPECT_EQUAL(standin.pending_error(), 0);
    EXPECT_EQUAL(standin.live_modules(), 1);
    EXPECT_EQUAL(standin.live_allocations(), 0);
    // The second of two calls restores the mode. No call follows its failure.
    if (std::string(function.name) != "hipThreadExchangeStreamCaptureMode" || call % 2 != 0)
      EXPECT_EQUAL(standin.capture_mode(), 0);
  });
}

}  // namespace

TEST_CASE("the first call of each function fails with each error", "[faults]") {
  TemporaryFolder folder;
  write_bundle(folder);
  for (const Function& function : kFunctions)
    for (const int code : kCodes) check_failure(folder, function, 1, code);
}

TEST_CASE("each call of each function fails", "[faults]") {
  TemporaryFolder folder;
  write_bundle(folder);
  for (const auto& [name, count] : calls_of_session(folder))
    for (const Function& function : kFunctions)
      for (int call = 2; function.name == name && call <= count; ++call) check_failure(folder, function, call, 719);
}

TEST_CASE("if the undoing of a load fails, too, the message is about the first failure", "[faults]") {
  TemporaryFolder folder;
  write_bundle(folder);
  for (const int code : kCodes)
    check_in_child(with_rule(folder, "hipModuleGetFunction:1:500,hipModuleUnload:1:" + std::to_string(code)), [&] {
      const Refusal refusal = run_session(session());
      EXPECT_EQUAL(refusal.code, 500);
      EXPECT_CONTAINS(refusal.message, "hipModuleGetFunction: hipStandinError500 (500): ");
      EXPECT_EQUAL(Standin().pending_error(), 0);
    });
}

TEST_CASE("a call that always fails leaks nothing in a thousand times", "[faults]") {
  TemporaryFolder folder;
  write_bundle(folder);
  for (const char* function : {"hipInit", "hipGetDeviceCount", "hipGetDevice", "hipDeviceGetName", "hipModuleLoadData",
                               "hipModuleGetFunction", "hipModuleLaunchKernel"}) {
    INFO(function);
    check_in_child(with_rule(folder, std::string(function) + ":0:719"), [] {
      size_t before = 0;
      for (int i = 0; i < 1000; ++i) {
        EXPECT_EQUAL(launch_first(nullptr, nullptr), HIPOPS_RUNTIME_ERROR);
        EXPECT_EQUAL(hipops_last_runtime_error(), 719);
        if (i == 100) before = mallinfo2().uordblks;
      }
      // Memory that the allocator keeps counts as in use and varies, but by less than 16 bytes for each time.
      EXPECT(mallinfo2().uordblks < before + 8000);
      EXPECT(Standin().live_modules() <= 1);
    });
  }
}
