// A libamdhip64 that lacks a function. If hipops requires the function, the message names it. Otherwise hipops works
// without it.
#include "catch.h"
#include "runtime/runtime.h"
#include "runtime/standin_control.h"
#include "runtime/without_symbol.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr const char* kRequired[] = {"hipInit",
                                     "hipGetDeviceCount",
                                     "hipGetDevice",
                                     "hipSetDevice",
                                     "hipDeviceGetName",
                                     "hipDeviceGetAttribute",
                                     "hipModuleLoadData",
                                     "hipModuleUnload",
                                     "hipModuleGetFunction",
                                     "hipModuleLaunchKernel",
                                     "hipMalloc",
                                     "hipFree",
                                     "hipMemcpy",
                                     "hipHostMalloc",
                                     "hipHostFree",
                                     "hipStreamCreate",
                                     "hipStreamDestroy",
                                     "hipDeviceSynchronize",
                                     "hipGetErrorName",
                                     "hipGetErrorString",
                                     "hipGetLastError"};
constexpr const char* kOptional[] = {"hipThreadExchangeStreamCaptureMode", "hipGetDevicePropertiesR0600",
                                     "hipGetDeviceProperties"};

}  // namespace

TEST_CASE("the message names a required function that is missing, and the library", "[symbols]") {
  TemporaryFolder folder;
  for (const char* symbol : kRequired) {
    const std::string path = without_symbol(folder, HIPOPS_STANDIN, symbol);
    INFO(symbol);
    check_in_child(standin_environment({}, path.c_str()), [&] {
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE);
        EXPECT_EQUAL(std::string(hipops_last_error()), path + " has no symbol " + symbol);
        EXPECT_EQUAL(hipops_last_runtime_error(), 0);
      }
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    });
  }
}

TEST_CASE("hipops works without a newer or optional function", "[symbols]") {
  TemporaryFolder folder;
  for (const char* symbol : kOptional) {
    const std::string path = without_symbol(folder, HIPOPS_STANDIN, symbol);
    INFO(symbol);
    check_in_child(standin_environment({}, path.c_str()), [] {
      const DeviceFacts* facts = nullptr;
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_SUCCESS);
      EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
    });
  }
}
