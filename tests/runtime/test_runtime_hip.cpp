// The hip runtime with the stand-in libamdhip64: its calls and their arguments, and the result of each failure.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#include "machine_code/amd_kernels.h"
#include "catch.h"
#include "runtime/fake_code_object.h"
#include "ops.h"
#include "runtime/bundle.h"
#include "runtime/code_object.h"
#include "runtime/hip_absence.h"
#include "runtime/runtime.h"
#include "runtime/standin_amdhip/code_object.h"
#include "runtime/standin_control.h"

using namespace hipops;
using namespace hipops_test;

namespace {

struct Arguments {
  float* y;
  int64_t rows;
  double eps;
};

std::vector<std::string> kernels_of(const Op& op) {
  const std::set<std::string> names = amd_kernels(op);
  return {names.begin(), names.end()};
}

// Bundles with names and no code, for every op and `targets`, so that a build without code objects can test their
// loading.
void write_bundles(const TemporaryFolder& folder, const std::vector<std::string>& targets) {
  for (int i = 0; i < op_count; ++i) {
    std::vector<std::pair<std::string, Bytes>> entries;
    for (const std::string& target : targets) entries.push_back({target, fake_elf(kernels_of(*all_ops[i]))});
    folder.write(std::string(all_ops[i]->name) + ".hipfb", fake_bundle(entries));
  }
}

Environment with_folder(const TemporaryFolder& folder, Environment more = {}, const char* library = HIPOPS_STANDIN) {
  more["HIPOPS_CODE_OBJECT_DIR"] = folder.path();
  return standin_environment(more, library);
}

hipops_status launch_first(uint32_t grid = 3, uint32_t block = 64) {
  const Arguments arguments = {nullptr, 1, 1e-5};
  return launch(*all_ops[0], 0, grid, block, &arguments, sizeof arguments, nullptr);
}

StandinLaunch seen;
Arguments seen_arguments;
std::string seen_kernel;

void remember(const StandinLaunch* launch) {
  seen = *launch;
  seen_kernel = launch->kernel;
  seen_arguments = *static_cast<const Arguments*>(launch->arguments);
}

void expect_refused(hipops_status got, hipops_status status, int code, const std::string& message) {
  EXPECT_EQUAL(got, status);
  EXPECT_CONTAINS(hipops_last_error(), message);
  EXPECT_EQUAL(hipops_last_runtime_error(), code);
}

Runtime& in_use() {
  Runtime* found = nullptr;
  EXPECT_EQUAL(runtime(&found), HIPOPS_SUCCESS);
  return *found;
}

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

}  // namespace

TEST_CASE("a launch reaches the driver with its shape and arguments", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx90a", "gfx942"});
  check_in_child(with_folder(folder), [] {
    Standin standin;
    standin.observe(remember);
    float y = 0;
    int stream = 0;
    Op& op = *all_ops[0];
    for (int kernel = 0; kernel < op.kernel_count; ++kernel) {
      const Arguments arguments = {&y, 1000 + kernel, 0.25};
      EXPECT_EQUAL(launch(op, kernel, 7, 256, &arguments, sizeof arguments, &stream), HIPOPS_SUCCESS);
      EXPECT_EQUAL(seen_kernel, std::string(op.kernel_names[kernel]));
      EXPECT_EQUAL(seen_arguments.y, &y);
      EXPECT_EQUAL(seen_arguments.rows, 1000 + kernel);
      EXPECT_EQUAL(seen_arguments.eps, 0.25);
      EXPECT(seen.grid[0] == 7 && seen.grid[1] == 1 && seen.grid[2] == 1);
      EXPECT(seen.block[0] == 256 && seen.block[1] == 1 && seen.block[2] == 1);
      EXPECT_EQUAL(seen.shared_bytes, 0u);
      EXPECT_EQUAL(seen.stream, static_cast<void*>(&stream));
    }
    EXPECT_EQUAL(standin.call_count("hipModuleLoadData"), 1);
    EXPECT_EQUAL(standin.call_count("hipModuleLaunchKernel"), static_cast<int>(amd_kernels(op).size()));
    EXPECT_EQUAL(std::string(hipops_last_error()), "");
  });
}

TEST_CASE("a launch of a loaded op makes no unneeded call", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    Standin standin;
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(standin.live_modules(), op_count);
    standin.reset();
    standin.fail("hipMalloc:0:2,hipModuleLoadData:0:900,hipDeviceSynchronize:0:900,hipMemcpy:0:900");
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
    for (int i = 0; i < 10; ++i) EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
    for (const char* absent : {"hipMalloc", "hipModuleLoadData", "hipDeviceSynchronize", "hipMemcpy", "hipGetLastError",
                               "hipDeviceGetAttribute", "hipSetDevice", "hipThreadExchangeStreamCaptureMode"})
      EXPECT_EQUAL(standin.call_count(absent), 0);
    EXPECT_EQUAL(standin.call_count("hipGetDevice"), 10 + op_count + 1);  // once for the device's policy
  });
}

TEST_CASE("a call of an op requests the current device once, for any number of kernels", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    Standin standin;
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
    const auto check = [&](int kernels, const std::function<hipops_status()>& call) {
      EXPECT_EQUAL(call(), HIPOPS_SUCCESS);  // looks up the device's facts
      standin.reset();
      EXPECT_EQUAL(call(), HIPOPS_SUCCESS);
      EXPECT_EQUAL(standin.call_count("hipModuleLaunchKernel"), kernels);
      EXPECT_EQUAL(standin.call_count("hipGetDevice"), 1);
    };
    // The stand-in executes nothing, so the tensors need no memory.
    const auto at = [](uintptr_t terabytes) { return reinterpret_cast<void*>(terabytes << 40); };
    for (const auto& [cols, kernels] : {std::pair<int64_t, int>{4096, 1}, {1 << 20, 2}}) {
      const hipops_tensor x = {at(1), HIPOPS_F32, 2, {2, cols}, {cols, 1}},
                          y = {at(2), HIPOPS_F32, 2, {2, cols}, {cols, 1}};
      check(kernels, [&] { return hipops_rms_norm(&y, nullptr, &x, nullptr, 1e-5, 0, nullptr); });
      check(1, [&] { return hipops_strided_copy(&y, &x, nullptr); });
    }
    const hipops_tensor y = {at(1), HIPOPS_F32, 2, {16384, 256}, {256, 1}},
                        x = {at(2), HIPOPS_F32, 2, {262144, 256}, {256, 1}},
                        index = {at(3), HIPOPS_I64, 1, {262144}, {1}},
                        indices = {at(3), HIPOPS_I64, 2, {262144, 256}, {256, 1}};
    int64_t bytes = 0;
    EXPECT_EQUAL(hipops_index_add_workspace_bytes(&y, &x, &index, 0, &bytes), HIPOPS_SUCCESS);
    check(3, [&] { return hipops_index_add(&y, &x, &index, 0, at(4), bytes, nullptr, nullptr); });
    EXPECT_EQUAL(hipops_scatter_add_workspace_bytes(&y, &x, &indices, 0, 0, &bytes), HIPOPS_SUCCESS);
    check(1, [&] { return hipops_scatter_add(&y, &x, &indices, 0, 0, at(4), bytes, nullptr, nullptr); });
    const uint32_t flags = HIPOPS_DETERMINISTIC;
    EXPECT_EQUAL(hipops_scatter_workspace_bytes(&y, &x, &indices, 0, flags, &bytes), HIPOPS_SUCCESS);
    check(3, [&] { return hipops_scatter(&y, &x, &indices, 0, flags, at(4), bytes, nullptr, nullptr); });
  });
}

// Each launch of a graph costs some 4 us on HIP.
TEST_CASE("a call launches as few kernels as its budget says, on CDNA and RDNA", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942", "gfx1100"});
  for (const char* target : {"gfx942", "gfx1100"}) {
    check_in_child(with_folder(folder, {{"STANDIN_ARCH", target}}), [] {
      Standin standin;
      EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
      // The stand-in executes nothing, so the tensors need no memory. Each is a terabyte from the next.
      uintptr_t memory = 0;
      const auto tensor = [&](hipops_dtype dtype, std::vector<int64_t> shape) {
        return hipops_contiguous(reinterpret_cast<void*>(++memory << 40), dtype, static_cast<int32_t>(shape.size()), shape.data());
      };
      const auto at_most = [&](int budget, hipops_status status) {
        EXPECT_EQUAL(status, HIPOPS_SUCCESS);
        EXPECT(standin.call_count("hipModuleLaunchKernel") >= 1);
        EXPECT(standin.call_count("hipModuleLaunchKernel") <= budget);
        standin.reset();
      };
      standin.reset();
      const struct {
        int64_t rows, cols;
        int budget;  // a row that is split is reduced, then written
      } norms[] = {{1, 4096, 1}, {32, 8192, 1}, {16384, 4096, 1}, {16384, 4097, 1}, {1000000, 10, 1}, {1, 131072, 2}, {7, 1000003, 2}};
      for (const auto& norm : norms) {
        const hipops_tensor x = tensor(HIPOPS_BF16, {norm.rows, norm.cols}), y = tensor(HIPOPS_BF16, {norm.rows, norm.cols}),
                            h = tensor(HIPOPS_BF16, {norm.rows, norm.cols}), weight = tensor(HIPOPS_BF16, {norm.cols});
        at_most(norm.budget, hipops_rms_norm(&y, nullptr, &x, &weight, 1e-5, 0, nullptr));
        at_most(norm.budget, hipops_layer_norm(&y, nullptr, nullptr, &x, &weight, &weight, 1e-5, 0, nullptr));
        at_most(norm.budget, hipops_softmax(&y, &x, 0, nullptr));
        at_most(norm.budget, hipops_fused_add_rms_norm(&y, &h, nullptr, &x, &h, &weight, 1e-5, 0, nullptr));
        at_most(1, hipops_strided_copy(&y, &x, nullptr));
      }
      for (const int64_t tokens : {1, 4096}) {
        const hipops_tensor x = tensor(HIPOPS_BF16, {1, 32, tokens, 128}), y = tensor(HIPOPS_BF16, {1, 32, tokens, 128}),
                            table = tensor(HIPOPS_F32, {tokens, 64});
        at_most(1, hipops_rope(&y, &x, &table, &table, nullptr, nullptr));
      }
      const struct {
        int64_t sources, destinations, cols;
        int in_order, in_any_order, kept;  // index_add; scatter_add with a workspace; scatter, the last source of each element
      } sums[] = {{1, 4096, 256, 1, 3, 3}, {262144, 16384, 256, 3, 3, 3}, {262144, 64, 256, 4, 3, 3}, {2000000, 10000000, 16, 10, 5, 3}};
      for (const auto& sum : sums) {
        const hipops_tensor y = tensor(HIPOPS_BF16, {sum.destinations, sum.cols}), x = tensor(HIPOPS_BF16, {sum.sources, sum.cols}),
                            index = tensor(HIPOPS_I64, {sum.sources}), indices = tensor(HIPOPS_I64, {sum.sources, sum.cols}),
                            rows = tensor(HIPOPS_BF16, {sum.sources, sum.cols});
        void* workspace = reinterpret_cast<void*>(++memory << 40);
        int64_t bytes = 0;
        EXPECT_EQUAL(hipops_index_add_workspace_bytes(&y, &x, &index, 0, &bytes), HIPOPS_SUCCESS);
        at_most(sum.in_order, hipops_index_add(&y, &x, &index, 0, bytes ? workspace : nullptr, bytes, nullptr, nullptr));
        EXPECT_EQUAL(hipops_scatter_add_workspace_bytes(&y, &x, &indices, 0, 0, &bytes), HIPOPS_SUCCESS);
        at_most(sum.in_any_order, hipops_scatter_add(&y, &x, &indices, 0, 0, bytes ? workspace : nullptr, bytes, nullptr, nullptr));
        const uint32_t flags = HIPOPS_DETERMINISTIC;
        EXPECT_EQUAL(hipops_scatter_workspace_bytes(&y, &x, &indices, 0, flags, &bytes), HIPOPS_SUCCESS);
        at_most(sum.kept, hipops_scatter(&y, &x, &indices, 0, flags, bytes ? workspace : nullptr, bytes, nullptr, nullptr));
        at_most(1, hipops_index_select(&rows, &y, &index, 0, nullptr, nullptr));
        at_most(1, hipops_gather(&rows, &y, &indices, 0, nullptr, nullptr));
      }
    });
  }
}

TEST_CASE("hipops_prepare loads the one op that is named", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    EXPECT_EQUAL(hipops_prepare(all_ops[op_count - 1]->name), HIPOPS_SUCCESS);
    EXPECT_EQUAL(Standin().live_modules(), 1);
    EXPECT(all_ops[op_count - 1]->functions[0].load() != nullptr);
  });
}

TEST_CASE("device facts", "[hip]") {
  struct Case {
    const char* arch;
    int wave_size, blocks_in_one;
  };
  // hipops assumes nothing about an unknown gfx9.
  const Case cases[] = {{"gfx942", 64, 2},  {"gfx90a", 64, 2},  {"gfx950", 64, 2}, {"gfx1100", 32, 2},
                        {"gfx1201", 32, 2}, {"gfx908", 64, 1}, {"gfx941", 64, 1}};
  for (const char* library : {HIPOPS_STANDIN, HIPOPS_STANDIN_HIP5})
    for (const Case& each : cases)
      check_in_child(standin_environment({{"STANDIN_ARCH", each.arch}}, library), [&] {
        const DeviceFacts* facts = nullptr;
        EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
        EXPECT_EQUAL(facts->ordinal, 0);
        EXPECT_EQUAL(facts->wave_size, each.wave_size);
        EXPECT_EQUAL(facts->blocks_in_one, each.blocks_in_one);
        EXPECT_EQUAL(facts->units, 100);
        EXPECT_EQUAL(facts->name, "Stand-in 0");
        EXPECT_EQUAL(facts->target, each.arch);
        const DeviceFacts* again = nullptr;
        EXPECT_EQUAL(device_facts(&again), HIPOPS_SUCCESS);
        EXPECT_EQUAL(again, facts);
        EXPECT_EQUAL(Standin(library).call_count("hipDeviceGetName"), 1);
      });
}

TEST_CASE("an unknown target is no failure", "[hip]") {
  const Environment broken = standin_environment({{"STANDIN_FAIL", "hipGetDevicePropertiesR0600:0:1"}});
  check_in_child(broken, [] {
    const DeviceFacts* facts = nullptr;
    EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
    EXPECT_EQUAL(facts->target, "");
    EXPECT_EQUAL(Standin().pending_error(), 0);
    EXPECT_EQUAL(std::string(hipops_last_error()), "");
  });
}

TEST_CASE("each device loads for itself", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942", "gfx1100"});
  check_in_child(with_folder(folder, {{"STANDIN_ARCH", "gfx942,gfx1100"}}), [] {
    Standin standin;
    standin.observe(remember);
    int count = 0;
    EXPECT_EQUAL(in_use().device_count(&count), HIPOPS_SUCCESS);
    EXPECT_EQUAL(count, 2);
    for (int device : {0, 1, 0, 1}) {
      const DeviceFacts* facts = nullptr;
      EXPECT_EQUAL(in_use().set_device(device), HIPOPS_SUCCESS);
      EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
      EXPECT_EQUAL(facts->units, 100 + device);
      EXPECT_EQUAL(facts->wave_size, device == 0 ? 64 : 32);
      EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
      EXPECT_EQUAL(seen.device, device);
    }
    EXPECT_EQUAL(standin.live_modules(), 2);
    expect_refused(in_use().set_device(2), HIPOPS_RUNTIME_ERROR, 101, "hipSetDevice: ");
  });
}

TEST_CASE("a device past the largest supported number is refused", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  std::string devices = "gfx942";
  for (int i = 1; i < kMaxDevices + 1; ++i) devices += ",gfx942";
  check_in_child(with_folder(folder, {{"STANDIN_ARCH", devices}}), [] {
    const DeviceFacts* facts = nullptr;
    EXPECT_EQUAL(in_use().set_device(kMaxDevices - 1), HIPOPS_SUCCESS);
    EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(in_use().set_device(kMaxDevices), HIPOPS_SUCCESS);
    expect_refused(launch_first(), HIPOPS_INVALID_ARGUMENT, 0,
                   std::string(all_ops[0]->name) + ": the current device is 64, expected one of 0 to 63");
    expect_refused(device_facts(&facts), HIPOPS_INVALID_ARGUMENT, 0, "64");
    expect_refused(in_use().facts(kMaxDevices, &facts), HIPOPS_INVALID_ARGUMENT, 0, "64");
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_INVALID_ARGUMENT);
  });
}

TEST_CASE("each call fails in turn with its status and code, leaks nothing, and succeeds the next time", "[hip]") {
  struct Case {
    const char* function;
    int code;
    hipops_status status;
  };
  const Case cases[] = {
      {"hipInit", 100, HIPOPS_NO_DEVICE},
      {"hipInit", 35, HIPOPS_NO_DEVICE},
      {"hipInit", 999, HIPOPS_RUNTIME_ERROR},
      {"hipGetDeviceCount", 100, HIPOPS_NO_DEVICE},
      {"hipGetDeviceCount", 3, HIPOPS_RUNTIME_ERROR},
      {"hipGetDevice", 709, HIPOPS_RUNTIME_ERROR},
      {"hipDeviceGetName", 101, HIPOPS_RUNTIME_ERROR},
      {"hipDeviceGetAttribute", 1, HIPOPS_RUNTIME_ERROR},
      {"hipModuleLoadData", 209, HIPOPS_NO_CODE_OBJECT},
      {"hipModuleLoadData", 200, HIPOPS_NO_CODE_OBJECT},
      {"hipModuleLoadData", 218, HIPOPS_NO_CODE_OBJECT},
      {"hipModuleLoadData", 303, HIPOPS_NO_CODE_OBJECT},
      {"hipModuleLoadData", 1, HIPOPS_NO_CODE_OBJECT},
      {"hipModuleLoadData", 2, HIPOPS_RUNTIME_ERROR},
      {"hipModuleGetFunction", 500, HIPOPS_RUNTIME_ERROR},
      {"hipModuleGetFunction", 1, HIPOPS_RUNTIME_ERROR},
      {"hipModuleLaunchKernel", 719, HIPOPS_RUNTIME_ERROR},
      {"hipModuleLaunchKernel", 1, HIPOPS_RUNTIME_ERROR},
  };
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  for (const Case& each : cases) {
    INFO(each.function << " returns " << each.code);
    const std::string rule = std::string(each.function) + ":1:" + std::to_string(each.code);
    check_in_child(with_folder(folder, {{"STANDIN_FAIL", rule}}), [&] {
      Standin standin;
      const std::string words =
          each.function + (": hipStandinError" + std::to_string(each.code)) + " (" + std::to_string(each.code) + "): ";
      expect_refused(launch_first(), each.status, each.code, words);
      EXPECT_EQUAL(standin.pending_error(), 0);
      EXPECT_EQUAL(standin.capture_mode(), 0);
      const bool loaded = std::string(each.function) == "hipModuleLaunchKernel";
      EXPECT_EQUAL(standin.live_modules(), loaded ? 1 : 0);
      EXPECT_EQUAL(all_ops[0]->functions[0].load() != nullptr, loaded);
      const std::string before = hipops_last_error();
      EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
      EXPECT_EQUAL(std::string(hipops_last_error()), before);
      EXPECT_EQUAL(standin.live_modules(), 1);
    });
  }
}

TEST_CASE("an error whose text is its name appears once in the message", "[hip]") {
  check_in_child(standin_environment({{"STANDIN_FAIL", "hipInit:1:999"}, {"STANDIN_WORDS", "name"}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_RUNTIME_ERROR, 999, "");
    EXPECT_EQUAL(std::string(hipops_last_error()), HIPOPS_STANDIN ": hipInit: hipStandinError999 (999)");
  });
}

TEST_CASE("if the runtime sees no GPU, the message names the possible causes", "[hip]") {
  check_in_child(standin_environment({{"STANDIN_ARCH", "none"}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE, 100,
                   "(100): the stand-in's own words; " + why_no_amd_device());
    EXPECT_CONTAINS(hipops_last_error(), "/dev/kfd");
  });
  check_in_child(standin_environment({{"STANDIN_ARCH", "zero"}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE, 0, "has no device; " + why_no_amd_device());
  });
}

TEST_CASE("the files of AMD's driver are missing, not accessible, or good", "[hip]") {
  TemporaryFolder folder;
  const std::string dev = folder.path(), kfd = dev + "/kfd", node = dev + "/dri/renderD", first = node + "128",
                    second = node + "129";
  const std::string groups =
      " is there, but this user may not read and write it: that usually takes the groups render and video";
  const auto expect_reason = [&](const std::string& words) {
    check_in_child({{"ROCR_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", "3"}}, [&] {
      if (geteuid() == 0) EXPECT_EQUAL(setresuid(65534, 65534, 65534), 0);  // root may do all
      EXPECT_CONTAINS(why_no_amd_device(dev), words);
    });
  };
  REQUIRE(chmod(dev.c_str(), 0755) == 0);
  expect_reason(kfd + " is not there: the amdgpu driver is not loaded, or this is a container that lacks --device=/dev/kfd "
             "--device=/dev/dri");
  folder.write("dxg", {});
  expect_reason(kfd + " is not there: this is WSL");
  REQUIRE(std::remove((dev + "/dxg").c_str()) == 0);
  folder.write("kfd", {});
  REQUIRE(chmod(kfd.c_str(), 0400) == 0);
  expect_reason(kfd + groups);
  REQUIRE(chmod(kfd.c_str(), 0666) == 0);
  expect_reason(kfd + " is there, but no " + dev + "/dri/renderD*");
  folder.write("dri/card0", {});
  expect_reason("but no " + dev + "/dri/renderD*");
  for (const std::string& file : {second, first}) {
    folder.write(file.substr(dev.size() + 1), {});
    REQUIRE(chmod(file.c_str(), 0400) == 0);
  }
  expect_reason(first + groups);
  REQUIRE(chmod(second.c_str(), 0666) == 0);
  expect_reason("this user may use " + kfd + " and " + second + ", and HIP_VISIBLE_DEVICES is \"3\": rocminfo says");
}

TEST_CASE("the automatic choice fails if hip exists and fails to start", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  const Environment environment = {{"STANDIN_FAIL", "hipInit:1:999"}, {"HIPOPS_BACKEND", "auto"}, {"HIPOPS_CUDA_LIBRARY", "none"}};
  check_in_child(with_folder(folder, environment), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_RUNTIME_ERROR, 999, "hipInit: hipStandinError999 (999)");
    EXPECT_CONTAINS(hipops_last_error(), "does not pass over");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_HIP);
  });
}

TEST_CASE("a later kernel's lookup that fails undoes the load", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  const Op& op = *all_ops[0];
  REQUIRE(op.kernel_count > 1);
  const std::string rule = "hipModuleGetFunction:" + std::to_string(amd_kernels(op).size()) + ":1";
  check_in_child(with_folder(folder, {{"STANDIN_FAIL", rule}}), [&] {
    const std::string last = op.kernel_names[op.kernel_count - 1];
    expect_refused(launch_first(), HIPOPS_RUNTIME_ERROR, 1, std::string(op.name) + ": kernel " + last + " of ");
    EXPECT_EQUAL(Standin().live_modules(), 0);
    EXPECT(op.functions[0].load() == nullptr);
  });
}

TEST_CASE("a code object without one of the op's kernels is refused by name", "[hip]") {
  TemporaryFolder folder;
  const Op& op = *all_ops[0];
  std::vector<std::string> kernels = kernels_of(op);
  const std::string absent = kernels.back();
  kernels.pop_back();
  const std::string file = "gfx942/" + std::string(op.name) + ".co";
  folder.write(file, fake_elf(kernels));
  check_in_child(with_folder(folder), [&] {
    expect_refused(launch_first(), HIPOPS_RUNTIME_ERROR, 500, "kernel " + absent + " of ");
    expect_refused(launch_first(), HIPOPS_RUNTIME_ERROR, 500, file + ": hipModuleGetFunction: ");
  });
}

TEST_CASE("a launch that is refused names the op and the kernel", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    const Op& op = *all_ops[0];
    const std::string who = std::string(op.name) + ": kernel " + op.kernel_names[0] + ": hipModuleLaunchKernel: ";
    expect_refused(launch_first(1, 2048), HIPOPS_RUNTIME_ERROR, 1, who);
    EXPECT_EQUAL(Standin().pending_error(), 0);
  });
}

TEST_CASE("a failed call names both copies of the runtime if the process has two", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  const std::string wheel = folder.path() + "/libamdhip64-0a1b2c3d.so.6", system = folder.path() + "/libamdhip64.so.7";
  for (const std::string& copy : {wheel, system}) std::filesystem::copy_file(HIPOPS_STANDIN, copy);
  const auto expect_copies = [](const std::string& words) {
    expect_refused(launch_first(), HIPOPS_RUNTIME_ERROR, 719, ": hipModuleLaunchKernel: hipStandinError719 (719): ");
    EXPECT_CONTAINS(hipops_last_error(), "the stand-in's own words" + words);
  };
  const auto with = [&](const std::string& library) {
    return with_folder(folder, {{"STANDIN_FAIL", "hipModuleLaunchKernel:0:719"}}, library.c_str());
  };
  const auto of_two = [](const std::string& called, const std::string& other) {
    return "; this process has 2 copies of libamdhip64: hipops calls " + called + ", not " + other +
           "; streams and memory of one are unknown to the others (HIPOPS_HIP_LIBRARY can name the copy to call)";
  };
  for (const auto& [first, second] : {std::pair(wheel, system), std::pair(system, wheel)})
    check_in_child(with(""), [&, first = first, second = second] {  // the copy that was loaded first
      for (const std::string& copy : {first, second}) EXPECT(dlopen(copy.c_str(), RTLD_LAZY) != nullptr);
      expect_copies(of_two(first, second));
    });
  check_in_child(with(system), [&] {
    EXPECT(dlopen(wheel.c_str(), RTLD_LAZY) != nullptr);
    expect_copies(of_two(system, wheel));
    EXPECT(dlopen(HIPOPS_STANDIN, RTLD_LAZY) != nullptr);
    expect_copies("; this process has 3 copies of libamdhip64: hipops calls " + system + ", not " + wheel + ", ");
  });
  check_in_child(with(system), [&] {
    expect_copies("");
    EXPECT(std::string(hipops_last_error()).find("copies") == std::string::npos);
  });
}

TEST_CASE("a launch of an impossible shape never reaches the driver", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    Standin standin;
    expect_refused(launch_first(0, 64), HIPOPS_INTERNAL_ERROR, 0, "0 blocks of 64");
    expect_refused(launch_first(64, 0), HIPOPS_INTERNAL_ERROR, 0, "64 blocks of 0");
    expect_refused(launch_first(1u << 24, 256), HIPOPS_INTERNAL_ERROR, 0, "16777216 blocks of 256");
    EXPECT_EQUAL(launch_first((1u << 24) - 1, 256), HIPOPS_SUCCESS);
    Op& op = *all_ops[0];
    for (int index : {-1, op.kernel_count})
      expect_refused(launch(op, index, 1, 64, &op, sizeof op, nullptr), HIPOPS_INTERNAL_ERROR, 0, "kernel ");
    EXPECT_EQUAL(standin.call_count("hipModuleLaunchKernel"), 1);
  });
}

TEST_CASE("threads that need an op at the same time load it once", "[hip][threads]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  for (int round = 0; round < 5; ++round)
    check_in_child(with_folder(folder), [] {
      constexpr int kThreads = 16;
      Standin standin;
      std::atomic<int> ready{0}, succeeded{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&] {
          for (++ready; ready < kThreads;) std::this_thread::yield();
          if (launch_first() == HIPOPS_SUCCESS) ++succeeded;
        });
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQUAL(succeeded.load(), kThreads);
      EXPECT_EQUAL(standin.call_count("hipModuleLoadData"), 1);
      EXPECT_EQUAL(standin.call_count("hipModuleLaunchKernel"), kThreads);
    });
}

TEST_CASE("when the first of many loads fails, the others succeed", "[hip][threads]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder, {{"STANDIN_FAIL", "hipModuleLoadData:1:2"}}), [] {
    constexpr int kThreads = 16;
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        if (launch_first() != HIPOPS_SUCCESS && hipops_last_runtime_error() == 2) ++failed;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQUAL(failed.load(), 1);
    EXPECT_EQUAL(Standin().live_modules(), 1);
  });
}

TEST_CASE("a library that lacks a function is refused by path and symbol", "[hip]") {
  check_in_child(standin_environment({}, HIPOPS_STANDIN_WITHOUT_LAUNCH), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE, 0,
                   HIPOPS_STANDIN_WITHOUT_LAUNCH " has no symbol hipModuleLaunchKernel");
  });
}

TEST_CASE("HIP 5, without the functions that came later", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder, {}, HIPOPS_STANDIN_HIP5), [] { EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS); });
}

TEST_CASE("a load during a graph capture relaxes the capture mode, and restores it", "[hip]") {
  TemporaryFolder folder;
  write_bundles(folder, {"gfx942"});
  check_in_child(with_folder(folder), [] {
    Standin standin;
    standin.capturing(1);
    EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(standin.capture_mode(), 0);
  });
  check_in_child(with_folder(folder, {}, HIPOPS_STANDIN_HIP5), [] {
    Standin standin(HIPOPS_STANDIN_HIP5);
    standin.capturing(1);
    expect_refused(launch_first(), HIPOPS_RUNTIME_ERROR, 900, "hipModuleLoadData");
    standin.capturing(0);
    EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
  });
}

TEST_CASE("memory for tests and tools", "[hip]") {
  check_in_child(standin_environment(), [] {
    Standin standin;
    Runtime& hip = in_use();
    void* memory = nullptr;
    const char text[] = "copied";
    char back[sizeof text] = {};
    EXPECT_EQUAL(hip.allocate(sizeof text, &memory), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_to_device(memory, text, sizeof text), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_to_host(back, memory, sizeof text), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(back), "copied");
    expect_refused(hip.copy_to_device(back, text, sizeof text), HIPOPS_RUNTIME_ERROR, 17, "hipMemcpy");
    EXPECT_EQUAL(hip.synchronize(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.release(memory), HIPOPS_SUCCESS);
    expect_refused(hip.release(memory), HIPOPS_RUNTIME_ERROR, 17, "hipFree");
    EXPECT_EQUAL(standin.live_allocations(), 0);
    EXPECT_EQUAL(hip.allocate(0, &memory), HIPOPS_SUCCESS);
    EXPECT(memory == nullptr);
    EXPECT_EQUAL(hip.copy_to_device(nullptr, nullptr, 0), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_to_host(nullptr, nullptr, 0), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.release(nullptr), HIPOPS_SUCCESS);
    standin.fail("hipMalloc:1:2,hipDeviceSynchronize:1:719");
    expect_refused(hip.allocate(16, &memory), HIPOPS_RUNTIME_ERROR, 2, "hipMalloc");
    expect_refused(hip.synchronize(), HIPOPS_RUNTIME_ERROR, 719, "hipDeviceSynchronize");
    EXPECT_EQUAL(standin.pending_error(), 0);
  });
}

TEST_CASE("copies on the device and streams, for tests and tools", "[hip]") {
  check_in_child(standin_environment(), [] {
    Standin standin;
    Runtime& hip = in_use();
    const char text[] = "copied";
    char back[sizeof text] = {};
    void *memory = nullptr, *other = nullptr, *stream = nullptr;
    EXPECT_EQUAL(hip.allocate(sizeof text, &memory), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.allocate(sizeof text, &other), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_to_device(memory, text, sizeof text), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_on_device(other, memory, sizeof text), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.copy_to_host(back, other, sizeof text), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(back), "copied");
    expect_refused(hip.copy_on_device(back, memory, sizeof text), HIPOPS_RUNTIME_ERROR, 17, "hipMemcpy");
    EXPECT_EQUAL(hip.copy_on_device(nullptr, nullptr, 0), HIPOPS_SUCCESS);
    void* staging = nullptr;
    EXPECT_EQUAL(hip.allocate_on_host(64, &staging), HIPOPS_SUCCESS);
    EXPECT(staging != nullptr);
    EXPECT_EQUAL(hip.release_on_host(staging), HIPOPS_SUCCESS);
    expect_refused(hip.release_on_host(staging), HIPOPS_RUNTIME_ERROR, 1, "hipHostFree");
    EXPECT_EQUAL(hip.create_stream(&stream), HIPOPS_SUCCESS);
    EXPECT(stream != nullptr);
    EXPECT_EQUAL(hip.destroy_stream(stream), HIPOPS_SUCCESS);
    expect_refused(hip.destroy_stream(stream), HIPOPS_RUNTIME_ERROR, 400, "hipStreamDestroy");
    EXPECT_EQUAL(hip.release(memory), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hip.release(other), HIPOPS_SUCCESS);
  });
}

TEST_CASE("HIPOPS_CODE_OBJECT_DIR: the exact file before the bundle", "[hip][folder]") {
  const std::string name = all_ops[0]->name;
  TemporaryFolder folder;
  folder.write(name + ".hipfb", fake_bundle({{"gfx942", fake_elf({})}}));  // lacks every kernel, so that its use would fail
  folder.write("gfx942/" + name + ".co", fake_elf(kernels_of(*all_ops[0])));
  check_in_child(with_folder(folder), [] { EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS); });
  check_in_child(with_folder(folder, {{"STANDIN_ARCH", "gfx90a"}}), [&] {
    expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 209, folder.path() + "/" + name + ".hipfb has no code");
    EXPECT_CONTAINS(hipops_last_error(), " has no code object for device 0, Stand-in 0 (gfx90a): hipModuleLoadData: ");
  });
}

TEST_CASE("the error 'invalid value' for exact targets that do not fit means no code object, too", "[hip][folder]") {
  const std::string name = all_ops[0]->name;
  TemporaryFolder folder;
  write_bundles(folder, {"gfx90a", "gfx1100"});
  check_in_child(with_folder(folder, {{"STANDIN_NO_ENTRY", "1"}}), [&] {
    expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 1,
                   folder.path() + "/" + name + ".hipfb has no code object for device 0, Stand-in 0 (gfx942): "
                   "hipModuleLoadData: hipStandinError1 (1)");
    EXPECT_EQUAL(Standin().pending_error(), 0);
  });
  if (*hip_targets == '\0') return;
  check_in_child(standin_environment({{"STANDIN_ARCH", "gfx803"}, {"STANDIN_NO_ENTRY", "1"}}), [] {
    expect_refused(hipops_prepare(nullptr), HIPOPS_NO_CODE_OBJECT, 1, std::string("; hipops carries ") + hip_targets);
  });
}

TEST_CASE("the message for a missing file in HIPOPS_CODE_OBJECT_DIR names both paths, and the file may be added", "[hip][folder]") {
  TemporaryFolder folder;
  check_in_child(with_folder(folder), [&] {
    const std::string base = folder.path() + "/", name = all_ops[0]->name;
    expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 0,
                   "neither " + base + "gfx942/" + name + ".co nor " + base + name + ".hipfb");
    EXPECT_EQUAL(Standin().call_count("hipModuleLoadData"), 0);
    write_bundles(folder, {"gfx942"});
    EXPECT_EQUAL(launch_first(), HIPOPS_SUCCESS);
  });
}

TEST_CASE("a damaged file in HIPOPS_CODE_OBJECT_DIR never reaches the driver", "[hip][folder]") {
  const std::string name = all_ops[0]->name;
  const Bytes elf = fake_elf(kernels_of(*all_ops[0])), bundle = fake_bundle({{"gfx942", elf}});
  struct Case {
    const char* what;
    std::string file;
    Bytes bytes;
    const char* message;
  };
  const Case cases[] = {
      {"empty", name + ".hipfb", {}, "is neither an ELF file nor an offload bundle"},
      {"text", name + ".hipfb", Bytes(5000, 'x'), "is neither an ELF file nor an offload bundle"},
      {"cut bundle", name + ".hipfb", Bytes(bundle.begin(), bundle.end() - 1), "is a truncated offload bundle"},
      {"cut ELF", "gfx942/" + name + ".co", Bytes(elf.begin(), elf.begin() + 100), "is a truncated ELF file"},
      {"host's ELF", "gfx942/" + name + ".co", fake_elf({}, EM_X86_64), "is an ELF file, but not for an AMD GPU"},
      {"host's ELF in a bundle", name + ".hipfb", fake_bundle({{"gfx942", fake_elf({}, EM_X86_64)}}),
       "is an ELF file, but not for an AMD GPU"},
      {"compressed and cut", name + ".hipfb", {'C', 'C', 'O', 'B', 2, 0}, "is a truncated compressed offload bundle"},
  };
  for (const Case& each : cases) {
    INFO(each.what);
    TemporaryFolder folder;
    folder.write(each.file, each.bytes);
    check_in_child(with_folder(folder), [&] {
      expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 0, folder.path() + "/" + each.file + " " + each.message);
      EXPECT_EQUAL(Standin().call_count("hipModuleLoadData"), 0);
    });
  }
  TemporaryFolder folder;
  folder.write(name + ".hipfb/inside", {});
  check_in_child(with_folder(folder), [] {
    expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 0, ".hipfb is no regular file");
  });
  TemporaryFolder with_pipe;
  REQUIRE(mkfifo((with_pipe.path() + "/" + name + ".hipfb").c_str(), 0600) == 0);
  check_in_child(with_folder(with_pipe), [] {
    alarm(20);  // opening a pipe would wait for a writer
    expect_refused(launch_first(), HIPOPS_NO_CODE_OBJECT, 0, ".hipfb is no regular file");
  });
}

TEST_CASE("a code object truncated at any length is detected", "[hip][folder]") {
  const Bytes bundle = fake_bundle({{"gfx942", fake_elf({"a", "b"})}, {"gfx1100", fake_elf({"a", "b"})}});
  const Bytes elf = fake_elf({"a", "b"});
  REQUIRE(code_object_fault(bundle.data(), bundle.size()) == nullptr);
  REQUIRE(code_object_fault(elf.data(), elf.size()) == nullptr);
  for (size_t length = 0; length < bundle.size(); ++length) {
    const Bytes cut(bundle.begin(), bundle.begin() + length);  // memory of its own, so that a sanitizer detects a read past it
    if (!code_object_fault(cut.data(), cut.size())) FAIL_CHECK("bundle of " << length);
  }
  const size_t tables = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr);
  for (size_t length = 0; length < tables; ++length) {
    const Bytes cut(elf.begin(), elf.begin() + length);
    if (!code_object_fault(cut.data(), cut.size())) FAIL_CHECK("ELF of " << length);
  }
}

TEST_CASE("numbers in a code object that point far away are detected", "[hip][folder]") {
  const Bytes bundle = fake_bundle({{"gfx942", fake_elf({"a"})}});
  // The count of entries, then offset, size and name's length of the first.
  for (size_t at : {24, 32, 40, 48}) {
    Bytes damaged = bundle;
    std::fill(damaged.begin() + at, damaged.begin() + at + 8, 0xff);
    INFO("at " << at);
    CHECK(code_object_fault(damaged.data(), damaged.size()) != nullptr);
  }
  const Bytes elf = fake_elf({"a"});
  for (size_t at : {offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_phoff)}) {
    Bytes damaged = elf;
    std::fill(damaged.begin() + at, damaged.begin() + at + 8, 0xff);
    INFO("at " << at);
    CHECK(code_object_fault(damaged.data(), damaged.size()) != nullptr);
  }
}

TEST_CASE("the message states that a build has no AMD code objects", "[hip]") {
  check_in_child(standin_environment(), [] {
    Image image = {};
    image.op = all_ops[0]->name;
    std::vector<void*> functions(static_cast<size_t>(all_ops[0]->kernel_count));
    expect_refused(in_use().load(0, image, *all_ops[0], functions.data()), HIPOPS_NO_CODE_OBJECT, 0,
                   "built without AMD code objects");
  });
}

TEST_CASE("the embedded bundles hold every kernel for every target", "[hip][embedded]") {
  const std::vector<std::string> targets = words(hip_targets);
  REQUIRE(image_count == op_count);
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    const Image* image = nullptr;
    for (int k = 0; k < image_count; ++k)
      if (std::string(all_images[k].op) == op.name) image = &all_images[k];
    INFO(op.name);
    REQUIRE(image);
    REQUIRE((image->hip_bundle != nullptr) == !targets.empty());
    if (!image->hip_bundle) continue;
    Bundle bundle;
    REQUIRE(open_bundle(*image, &bundle) == HIPOPS_SUCCESS);
    CHECK(code_object_fault(bundle.bytes, bundle.size) == nullptr);
    std::vector<standin::BundleEntry> entries;
    REQUIRE(standin::read_bundle(bundle.bytes, &entries));
    for (const std::string& target : targets) {
      INFO(target);
      std::vector<std::string> kernels;
      for (const standin::BundleEntry& entry : entries)
        if (standin::processor_of(entry.id) == target)
          REQUIRE(standin::read_kernels(bundle.bytes + entry.offset, &kernels));
      for (const std::string& kernel : kernels_of(op)) {
        INFO(kernel);
        CHECK(std::count(kernels.begin(), kernels.end(), kernel) == 1);
      }
    }
  }
  if (targets.empty()) WARN("built without AMD code objects: nothing was looked at");
}

TEST_CASE("a damaged bundle in the library is a failure with the op's name", "[embedded]") {
  const Image& whole = all_images[0];
  constexpr unsigned char kZstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  if (!whole.hip_bundle || !std::equal(kZstd, kZstd + 4, whole.hip_bundle)) return;  // a build without compression
  const Bytes bytes(whole.hip_bundle, whole.hip_bundle_end);
  const auto open = [&](Bytes changed) {
    Image image = whole;
    image.hip_bundle = changed.data();
    image.hip_bundle_end = changed.data() + changed.size();
    Bundle bundle;
    const hipops_status status = open_bundle(image, &bundle);
    if (status != HIPOPS_SUCCESS) CHECK(std::string(hipops_last_error()).find(whole.op) == 0);
    return status;
  };
  CHECK(open(bytes) == HIPOPS_SUCCESS);
  CHECK(open({bytes.begin(), bytes.begin() + 2}) == HIPOPS_INTERNAL_ERROR);
  CHECK(open({bytes.begin(), bytes.end() - 100}) == HIPOPS_INTERNAL_ERROR);
  Bytes other = bytes;
  other[0] ^= 1;
  CHECK(open(other) == HIPOPS_INTERNAL_ERROR);
}

TEST_CASE("the embedded bundles load on every exact target, and on others the message lists the targets", "[hip][embedded]") {
  const std::vector<std::string> targets = words(hip_targets);
  for (const std::string& target : targets) {
    if (target.find("generic") != std::string::npos) continue;
    INFO(target);
    check_in_child(standin_environment({{"STANDIN_ARCH", target}}), [] {
      EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
      EXPECT_EQUAL(Standin().live_modules(), op_count);
    });
  }
  if (targets.empty()) {
    WARN("built without AMD code objects: nothing was loaded");
    return;
  }
  check_in_child(standin_environment({{"STANDIN_ARCH", "gfx803"}}), [] {
    expect_refused(hipops_prepare(nullptr), HIPOPS_NO_CODE_OBJECT, 209, std::string("; hipops carries ") + hip_targets);
    const std::string who = std::string(all_ops[0]->name) + ": no code object for device 0, Stand-in 0 (gfx803): ";
    EXPECT_CONTAINS(hipops_last_error(), who);
  });
}
