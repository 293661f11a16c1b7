// The choice of the runtime, and the message if none can be chosen.
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "catch.h"
#include "runtime/fake_code_object.h"
#include "in_child.h"
#include "ops.h"
#include "runtime/runtime.h"
#include "runtime/shared_object.h"
#include "runtime/standin_control.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// hipops searches for no GPU runtime library, so that only the CPU is left.
Environment without_gpu(Environment more = {}) {
  Environment all = {{"HIPOPS_BACKEND", ""},
                     {"HIPOPS_HIP_LIBRARY", "none"},
                     {"HIPOPS_CUDA_LIBRARY", "none"},
                     {"HIPOPS_CPU_WAVE", ""},
                     {"HIPOPS_CPU_THREADS", ""},
                     {"HIPOPS_CPU_UNITS", ""}};
  for (auto& entry : more) all[entry.first] = entry.second;
  return all;
}

void expect_refused(hipops_status got, hipops_status status, const char* message) {
  EXPECT_EQUAL(got, status);
  EXPECT_CONTAINS(hipops_last_error(), message);
}

bool has_cpu() { return image_count > 0 && all_images[0].cpu_wave32 != nullptr; }

}  // namespace

TEST_CASE("a wrong HIPOPS_BACKEND is refused, and may be corrected", "[runtime]") {
  check_in_child(without_gpu({{"HIPOPS_BACKEND", "nonsense"}}), [] {
    const std::string expected = "HIPOPS_BACKEND is \"nonsense\", expected one of auto, hip, cuda, cpu";
    Runtime* unused = nullptr;
    EXPECT_EQUAL(runtime(&unused), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(std::string(hipops_last_error()), expected);
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    apply(standin_environment());
    EXPECT_EQUAL(runtime(&unused), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_HIP);
  });
}

TEST_CASE("hipops_init refuses a value that is no backend", "[runtime]") {
  check_in_child(standin_environment(), [] {
    for (int value : {4, 0x7fffffff})
      expect_refused(hipops_init(static_cast<hipops_backend>(value)), HIPOPS_INVALID_ARGUMENT,
                     ("backend is " + std::to_string(value) + ", expected one of").c_str());
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("the automatic choice is hip if hip has a device", "[runtime]") {
  for (const char* wish : {"", "auto"})
    check_in_child(standin_environment({{"HIPOPS_BACKEND", wish}}), [] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_HIP);
    });
}

TEST_CASE("the automatic choice ends at the CPU, and its success leaves the last error alone", "[runtime]") {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* devices : {"none", "zero"})
    check_in_child(without_gpu({{"HIPOPS_HIP_LIBRARY", HIPOPS_STANDIN}, {"STANDIN_ARCH", devices}}), [] {
      Runtime* chosen = nullptr;
      EXPECT_EQUAL(runtime(&chosen), HIPOPS_SUCCESS);
      EXPECT_EQUAL(chosen->backend(), HIPOPS_BACKEND_CPU);
      EXPECT_EQUAL(std::string(hipops_last_error()), "");
      EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    });
}

TEST_CASE("the automatic choice skips a runtime that is missing or has no driver", "[runtime]") {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  check_in_child(without_gpu({{"HIPOPS_CUDA_EARLY", "off"}}), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_CPU);
  });
  // With a driver that is too old for the runtime (35), no pointer in the process belongs to a device.
  check_in_child(without_gpu({{"HIPOPS_HIP_LIBRARY", HIPOPS_STANDIN}, {"STANDIN_FAIL", "hipGetDeviceCount:1:35"}}), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_CPU);
  });
}

TEST_CASE("the message has a reason for each backend if none can be chosen", "[runtime]") {
  check_in_child(without_gpu({{"HIPOPS_CPU_WAVE", "7"}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_INVALID_ARGUMENT, "hip: HIPOPS_HIP_LIBRARY is \"none\"");
    EXPECT_CONTAINS(hipops_last_error(), "; cuda: HIPOPS_CUDA_LIBRARY is \"none\"");
    EXPECT_CONTAINS(hipops_last_error(), "; cpu: ");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("the automatic choice fails if a runtime library of the environment cannot be loaded", "[runtime]") {
  for (const char* name : {"HIPOPS_HIP_LIBRARY", "HIPOPS_CUDA_LIBRARY"})
    check_in_child(without_gpu({{name, "/nowhere/lib.so"}}), [name] {
      expect_refused(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_NO_DEVICE, "does not pass over");
      const std::string words = std::string(name) + " is \"/nowhere/lib.so\", which cannot be loaded";
      EXPECT_CONTAINS(hipops_last_error(), words.c_str());
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    });
}

TEST_CASE("an explicit choice gets that backend or its failure, never another", "[runtime]") {
  const Environment none = {{"HIPOPS_HIP_LIBRARY", HIPOPS_STANDIN}, {"STANDIN_ARCH", "none"}};
  auto refuses = [](hipops_status got) {
    expect_refused(got, HIPOPS_NO_DEVICE, "libamdhip64");
    EXPECT_CONTAINS(hipops_last_error(), "hipGetDeviceCount: hipStandinError100 (100): the stand-in's own words");
    EXPECT_EQUAL(hipops_last_runtime_error(), 100);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  };
  check_in_child(without_gpu(none), [&] { refuses(hipops_init(HIPOPS_BACKEND_HIP)); });
  Environment by_variable = without_gpu(none);
  by_variable["HIPOPS_BACKEND"] = "hip";
  check_in_child(by_variable, [&] { refuses(hipops_prepare(nullptr)); });
}

TEST_CASE("a count of no devices is no device", "[runtime]") {
  check_in_child(standin_environment({{"STANDIN_ARCH", "zero"}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE, "has no device");
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
  });
}

TEST_CASE("hipops_init overrules the environment", "[runtime]") {
  check_in_child(standin_environment({{"HIPOPS_BACKEND", "cuda"}}), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_HIP);
  });
}

TEST_CASE("a process has one backend: a second choice of it succeeds, and another backend is refused", "[runtime]") {
  check_in_child(standin_environment(), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_SUCCESS);
    expect_refused(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_INVALID_ARGUMENT, "backend is cpu, but hip is in use");
    expect_refused(hipops_init(HIPOPS_BACKEND_CUDA), HIPOPS_INVALID_ARGUMENT, "backend is cuda, but hip is in use");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_HIP);
  });
}

namespace {

void expect_one_runtime() {
  constexpr int kThreads = 16;
  Runtime* chosen[kThreads] = {};
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (Runtime*& slot : chosen)
    threads.emplace_back([&ready, &slot] {
      for (++ready; ready < kThreads;) std::this_thread::yield();
      runtime(&slot);
    });
  for (std::thread& thread : threads) thread.join();
  for (Runtime* each : chosen) EXPECT(each && each == chosen[0]);
}

}  // namespace

TEST_CASE("threads that choose at the same time get the same runtime, opened once", "[runtime][threads]") {
  check_in_child(standin_environment(), [] {
    expect_one_runtime();
    EXPECT_EQUAL(Standin().call_count("hipInit"), 1);
  });
  if (has_cpu()) check_in_child(without_gpu({{"HIPOPS_BACKEND", "cpu"}}), expect_one_runtime);
}

TEST_CASE("hipops_prepare refuses an op that it does not know", "[runtime]") {
  check_in_child(standin_environment(), [] {
    expect_refused(hipops_prepare("rms_form"), HIPOPS_INVALID_ARGUMENT, "op is \"rms_form\", expected one of ");
    for (int i = 0; i < op_count; ++i) EXPECT_CONTAINS(hipops_last_error(), std::string(all_ops[i]->name) + ", ");
  });
}

TEST_CASE("with Debian's HIP runtime and no GPU, hip is refused, and the automatic choice is the CPU", "[runtime][real]") {
  const std::string outcome = in_child(without_gpu({{"HIPOPS_HIP_LIBRARY", "libamdhip64.so.5"}}), [] {
    if (!dlopen("libamdhip64.so.5", RTLD_LAZY)) throw std::runtime_error("not here: the library");
    if (hipops_init(HIPOPS_BACKEND_HIP) == HIPOPS_SUCCESS) throw std::runtime_error("not here: a machine without GPU");
    EXPECT_EQUAL(hipops_last_runtime_error(), 100);
    EXPECT_CONTAINS(hipops_last_error(), "libamdhip64.so.5");
    EXPECT_CONTAINS(hipops_last_error(), "hipErrorNoDevice (100)");
    const std::string before = hipops_last_error();
    const hipops_status status = hipops_init(HIPOPS_BACKEND_AUTO);
    EXPECT_EQUAL(status, has_cpu() ? HIPOPS_SUCCESS : HIPOPS_NO_DEVICE);
    EXPECT_EQUAL(hipops_backend_in_use(), has_cpu() ? HIPOPS_BACKEND_CPU : HIPOPS_BACKEND_AUTO);
    if (has_cpu()) EXPECT_EQUAL(std::string(hipops_last_error()), before);
  });
  if (outcome.find("not here") != std::string::npos) {
    WARN("left out: needs libamdhip64.so.5 on a machine without an AMD GPU");
    return;
  }
  CHECK(outcome == "");
}

TEST_CASE("hipops uses the copy of a library that the process has loaded", "[runtime][search]") {
  check_in_child(standin_environment({{"HIPOPS_HIP_LIBRARY", ""}}), [] {
    Standin standin;  // loads it, as a framework would
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_SUCCESS);
    EXPECT_EQUAL(standin.call_count("hipInit"), 1);
  });
}

TEST_CASE("a copy under a repaired wheel's name is found, a library with a similar name is not", "[runtime][search]") {
  struct Case {
    const char* name;
    bool found;
  };
  for (const Case& each : {Case{"libamdhip64.so", true}, Case{"libamdhip64.so.10.2", true},
                           Case{"libamdhip64-0a1b2c3d.so.6", true}, Case{"libamdhip64_extra.so", false},
                           Case{"libamdhip64-tools.so", false}, Case{"notlibamdhip64.so", false}}) {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/" + each.name;
    std::filesystem::copy_file(HIPOPS_STANDIN, path);
    INFO(each.name);
    check_in_child({{"HIPOPS_TEST_LIBRARY", ""}}, [&] {
      const char* const sonames[] = {"libnowhere.so.1", nullptr};
      EXPECT(dlopen(path.c_str(), RTLD_LAZY));
      SharedObject object;
      const hipops_status status = open_shared_object({"libamdhip64", "HIPOPS_TEST_LIBRARY", sonames}, &object);
      EXPECT_EQUAL(status, each.found ? HIPOPS_SUCCESS : HIPOPS_NO_DEVICE);
      if (each.found) EXPECT_EQUAL(object.path, path);
    });
  }
}

TEST_CASE("the message for a missing library lists the tried names", "[runtime][search]") {
  check_in_child({{"HIPOPS_TEST_LIBRARY", ""}}, [] {
    const char* const sonames[] = {"libnowhere.so.7", "libnowhere.so.6", nullptr};
    SharedObject object;
    expect_refused(open_shared_object({"libnowhere", "HIPOPS_TEST_LIBRARY", sonames}, &object), HIPOPS_NO_DEVICE,
                   "libnowhere not found, tried libnowhere.so.7, libnowhere.so.6; HIPOPS_TEST_LIBRARY can name its ");
  });
}

TEST_CASE("the message for a library that does not load has the loader's reason", "[runtime][search]") {
  TemporaryFolder folder;
  folder.write("libbroken.so.1", Bytes(100, 'x'));
  const std::string path = folder.path() + "/libbroken.so.1";
  check_in_child({{"HIPOPS_TEST_LIBRARY", ""}}, [&] {
    const char* const sonames[] = {path.c_str(), nullptr};
    SharedObject object;
    expect_refused(open_shared_object({"libbroken", "HIPOPS_TEST_LIBRARY", sonames}, &object), HIPOPS_NO_DEVICE,
                   "invalid ELF header");
  });
  check_in_child(standin_environment({{"HIPOPS_HIP_LIBRARY", path}}), [] {
    expect_refused(hipops_init(HIPOPS_BACKEND_HIP), HIPOPS_NO_DEVICE, "which cannot be loaded: ");
    EXPECT_CONTAINS(hipops_last_error(), "invalid ELF header");
  });
}

// The next test runs it in another process, because the loader reads LD_LIBRARY_PATH when a process starts.
TEST_CASE("newest first, as seen from inside", "[.newest-first]") {
  REQUIRE(hipops_init(HIPOPS_BACKEND_HIP) == HIPOPS_SUCCESS);
  CHECK(dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD) != nullptr);
}

TEST_CASE("hipops loads the newest of several versions on the loader's path", "[runtime][search]") {
  TemporaryFolder folder;
  // The older version lacks a symbol, so its use would fail.
  std::filesystem::copy_file(HIPOPS_STANDIN_WITHOUT_LAUNCH, folder.path() + "/libamdhip64.so.6");
  std::filesystem::copy_file(HIPOPS_STANDIN_WITHOUT_LAUNCH, folder.path() + "/libamdhip64.so");
  std::filesystem::copy_file(HIPOPS_STANDIN, folder.path() + "/libamdhip64.so.7");
  Environment environment = standin_environment({{"HIPOPS_HIP_LIBRARY", ""}, {"LD_LIBRARY_PATH", folder.path()}});
  const std::string outcome = in_child(environment, [] {
    execl("/proc/self/exe", "test", "[.newest-first]", static_cast<char*>(nullptr));
    throw std::runtime_error("cannot start");
  });
  CHECK(outcome == "");
}
