// Each call of the stand-in libcuda fails, in turn and with each error, as in test_faults.cpp.
#include <dlfcn.h>

#include <filesystem>

#include "catch.h"
#include "runtime/fault_session.h"
#include "runtime/runtime.h"
#include "runtime/without_symbol.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// The errors of cuda.h, CUDA 12 and 13, and a number that is no error.
constexpr int kCodes[] = {1,   2,   3,   4,   5,   34,  35,  46,  100, 101, 102, 200, 201, 202, 205, 206, 207,
                          208, 209, 210, 211, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225,
                          300, 301, 302, 303, 304, 400, 401, 402, 500, 600, 700, 701, 702, 703, 704, 705, 708,
                          709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 802, 803, 804,
                          805, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 911, 912, 913, 999, 123456};

struct Function {
  const char* name;
  int calls;       // of a session, at least
  bool tolerated;  // hipops works without this function
};
constexpr Function kFunctions[] = {
    {"cuInit", 1, false},
    {"cuDeviceGetCount", 1, false},
    {"cuDeviceGet", 1, false},
    {"cuDeviceGetName", 1, false},
    {"cuDeviceGetAttribute", 4, false},
    {"cuCtxGetCurrent", 2, false},
    {"cuCtxSetCurrent", 1, false},
    {"cuCtxGetDevice", 3, false},
    {"cuDevicePrimaryCtxRetain", 1, false},
    {"cuThreadExchangeStreamCaptureMode", 2, true},
    {"cuLibraryLoadData", 1, false},
    {"cuLibraryGetKernel", 2, false},
    {"cuKernelGetFunction", 2, false},
    {"cuFuncLoad", 2, false},
    {"cuLaunchKernel", 1, false},
    {"cuMemAlloc", 3, false},
    {"cuMemFree", 3, false},
    {"cuMemAllocHost", 1, false},
    {"cuMemFreeHost", 1, false},
    {"cuMemcpyHtoD", 1, false},
    {"cuMemcpyDtoD", 1, false},
    {"cuMemcpyDtoH", 1, false},
    {"cuStreamCreate", 1, false},
    {"cuStreamDestroy", 1, false},
    {"cuCtxSynchronize", 1, false},
};

constexpr const char* kRequired[] = {"cuInit",
                                     "cuDeviceGetCount",
                                     "cuDeviceGet",
                                     "cuDeviceGetName",
                                     "cuDeviceGetAttribute",
                                     "cuCtxGetCurrent",
                                     "cuCtxSetCurrent",
                                     "cuCtxGetDevice",
                                     "cuCtxSynchronize",
                                     "cuDevicePrimaryCtxRetain",
                                     "cuLibraryLoadData",
                                     "cuLibraryGetKernel",
                                     "cuLibraryUnload",
                                     "cuKernelGetFunction",
                                     "cuLaunchKernel",
                                     "cuMemAlloc_v2",
                                     "cuMemFree_v2",
                                     "cuMemcpyHtoD_v2",
                                     "cuMemcpyDtoH_v2",
                                     "cuMemcpyDtoD_v2",
                                     "cuMemAllocHost_v2",
                                     "cuMemFreeHost",
                                     "cuStreamCreate",
                                     "cuStreamDestroy_v2",
                                     "cuGetErrorName",
                                     "cuGetErrorString",
                                     "cuThreadExchangeStreamCaptureMode"};

Environment with_rule(const std::string& rule, const std::string& library = HIPOPS_STANDIN_CUDA) {
  return {{"HIPOPS_BACKEND", "cuda"}, {"HIPOPS_CUDA_LIBRARY", library}, {"STANDIN_FAIL", rule}};
}

// An image without code, because a build may have no code for NVIDIA. The stand-in does not read it.
hipops_status load_and_launch(void* target, void* source) {
  static const unsigned char code[1] = {};
  static const char* const kernels[] = {"one", "two"};
  static Op op = {"session", kernels, 2, nullptr, {}};
  static void* functions[2] = {};
  Image image = {};
  image.op = "session";
  image.cuda_fatbin = code;
  if (!functions[1]) {
    if (hipops_status status = runtime_in_use().load(0, image, op, functions)) {
      functions[1] = nullptr;
      return status;
    }
  }
  void* const arguments[] = {target, source};
  return runtime_in_use().launch(functions[0], {3, 64}, arguments, sizeof arguments, nullptr);
}

hipops_status status_of(const std::string& function, int code) {
  const bool starting = function == "cuInit" || function == "cuDeviceGetCount" || function == "cuDeviceGet";
  if (starting && (code == 100 || code == 34 || code == 803 || code == 804)) return HIPOPS_NO_DEVICE;
  const bool loading = function == "cuLibraryLoadData" || function == "cuLibraryGetKernel" ||
                       function == "cuKernelGetFunction" || function == "cuFuncLoad";
  return loading && (code == 200 || code == 209 || code == 222) ? HIPOPS_NO_CODE_OBJECT : HIPOPS_RUNTIME_ERROR;
}

template <class Function>
Function* of_standin(const char* name) {
  void* handle = dlopen(HIPOPS_STANDIN_CUDA, RTLD_LAZY | RTLD_NOLOAD);
  EXPECT(handle != nullptr);
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

int live() { return of_standin<int()>("standin_cuda_live")(); }
int calls(const char* function) { return of_standin<int(const char*)>("standin_cuda_calls")(function); }

void check_failure(const Function& function, int call, int code) {
  const std::string number = std::to_string(code);
  INFO(function.name << ", call " << call << ", fails with " << number);
  check_in_child(with_rule(std::string(function.name) + ":" + std::to_string(call) + ":" + number), [&] {
    std::vector<unsigned char> data(256);
    const Refusal refusal = run_session(session_around(&data, load_and_launch));
    EXPECT_EQUAL(refusal.step.empty(), function.tolerated);
    if (!function.tolerated) {
      EXPECT_EQUAL(refusal.status, status_of(function.name, code));
      EXPECT_EQUAL(refusal.code, code);
      EXPECT_CONTAINS(refusal.message, std::string(function.name) + ": CUDA_STANDIN_" + number + " (" + number +
                                           "): the stand-in's own words");
    }
    EXPECT_EQUAL(live(), 1);  // the library
  });
}

}  // namespace

TEST_CASE("the first call of each function of libcuda fails with each error", "[faults][cuda]") {
  for (const Function& function : kFunctions)
    for (const int code : kCodes) check_failure(function, 1, code);
}

TEST_CASE("an error of libcuda whose text is its name appears once in the message", "[faults][cuda]") {
  Environment environment = with_rule("cuInit:1:100");
  environment["STANDIN_WORDS"] = "name";
  check_in_child(environment, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CUDA), HIPOPS_NO_DEVICE);
    EXPECT_EQUAL(std::string(hipops_last_error()), HIPOPS_STANDIN_CUDA ": cuInit: CUDA_STANDIN_100 (100)");
  });
}

TEST_CASE("a failed call of libcuda names both copies if the process has two", "[faults][cuda]") {
  TemporaryFolder folder;
  const std::string other = folder.path() + "/libcuda.so.1";
  std::filesystem::copy_file(HIPOPS_STANDIN_CUDA, other);
  check_in_child(with_rule("cuInit:0:719"), [&] {
    EXPECT(dlopen(other.c_str(), RTLD_LAZY) != nullptr);
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CUDA), HIPOPS_RUNTIME_ERROR);
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
    EXPECT_CONTAINS(hipops_last_error(), "; this process has 2 copies of libcuda: hipops calls " HIPOPS_STANDIN_CUDA
                                         ", not " + other + "; ");
  });
}

TEST_CASE("later calls of each function of libcuda fail", "[faults][cuda]") {
  for (const Function& function : kFunctions)
    for (int call = 2; call <= function.calls; ++call) check_failure(function, call, 719);
}

TEST_CASE("a thread with a context costs one request for its device, until it drops the context", "[cuda]") {
  check_in_child(with_rule(""), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
    int ordinal = -1;
    const auto ask = [&] {
      ordinal = -1;
      EXPECT_EQUAL(runtime_in_use().current_device(&ordinal), HIPOPS_SUCCESS);
      EXPECT_EQUAL(ordinal, 0);
    };
    ask();  // finds no context, and makes the primary context current
    EXPECT_EQUAL(calls("cuCtxGetDevice"), 0);
    ask();
    EXPECT_EQUAL(calls("cuCtxGetCurrent"), 2);
    for (int i = 0; i < 10; ++i) ask();
    EXPECT_EQUAL(calls("cuCtxGetCurrent"), 2);
    EXPECT_EQUAL(calls("cuCtxGetDevice"), 11);

    of_standin<int(void*)>("cuCtxSetCurrent")(nullptr);
    ask();
    EXPECT_EQUAL(calls("cuCtxGetCurrent"), 3);
    ask();
    EXPECT_EQUAL(calls("cuCtxGetDevice"), 13);
    EXPECT_EQUAL(std::string(hipops_last_error()), std::string());
  });
}

TEST_CASE("the automatic choice uses the GPU runtime that the process has loaded", "[cuda]") {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/libcuda.so.1";
  std::filesystem::copy_file(HIPOPS_STANDIN_CUDA, path);
  const Environment both = {
      {"HIPOPS_BACKEND", ""}, {"HIPOPS_HIP_LIBRARY", HIPOPS_STANDIN}, {"HIPOPS_CUDA_LIBRARY", path}};
  for (const bool is_loaded : {false, true})
    check_in_child(both, [&] {
      if (is_loaded) EXPECT(dlopen(path.c_str(), RTLD_LAZY) != nullptr);
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
      EXPECT_EQUAL(hipops_backend_in_use(), is_loaded ? HIPOPS_BACKEND_CUDA : HIPOPS_BACKEND_HIP);
    });
}

TEST_CASE("the message names a required function that libcuda lacks", "[symbols][cuda]") {
  TemporaryFolder folder;
  for (const char* symbol : kRequired) {
    const std::string path = without_symbol(folder, HIPOPS_STANDIN_CUDA, symbol);
    INFO(symbol);
    check_in_child(with_rule("", path), [&] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CUDA), HIPOPS_NO_DEVICE);
      EXPECT_EQUAL(std::string(hipops_last_error()), path + " has no symbol " + symbol);
    });
  }
  const std::string path = without_symbol(folder, HIPOPS_STANDIN_CUDA, "cuFuncLoad");  // before CUDA 12.4
  check_in_child(with_rule("", path), [] {
    std::vector<unsigned char> data(256);
    EXPECT_EQUAL(run_session(session_around(&data, load_and_launch)).step, std::string());
  });
}
