// Launches of CUDA kernels, on a libcuda whose functions are in this file.
#include <cstdlib>
#include <map>
#include <vector>

#include "catch.h"
#include "device/core/launch_contract.h"
#include "runtime/cuda_launcher.h"

namespace {

using hipops::CudaLauncher;
using hipops::CudaLibrary;

constexpr int kClusterDimension = 4, kProgrammaticSerialization = 6, kPtxVersion = 5;  // values of cuda.h

struct Launched {
  bool plain;
  std::map<int, std::vector<unsigned>> attributes;  // by id, the first words
};
Launched launched;
int architecture;

int launch_plain(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  launched = {true, {}};
  return 0;
}
int launch_with_attributes(const hipops::CudaLaunch* launch, void*, void**, void**) {
  launched = {false, {}};
  for (unsigned i = 0; i < launch->attribute_count; ++i) {
    const hipops::CudaLaunchAttribute& a = launch->attributes[i];
    launched.attributes[a.id] = {a.value[0], a.value[1], a.value[2]};
  }
  return 0;
}
int kernel_attribute(int* value, int attribute, void*, int) {
  *value = attribute == kPtxVersion ? architecture : 512;
  return 0;
}

CudaLibrary library() {
  CudaLibrary cuda = {};
  cuda.launch_kernel = launch_plain;
  cuda.launch_kernel_ex = launch_with_attributes;
  cuda.kernel_get_attribute = kernel_attribute;
  cuda.func_load = [](void*) { return 0; };
  return cuda;
}

const char* const kNames[] = {"a_kernel"};
hipops::Op op = {"an_op", kNames, 1, nullptr};
void* const kFunctions[] = {&op};

void load(CudaLauncher& launcher, int of_architecture) {
  architecture = of_architecture;
  launcher.prepare(0, {}, op, kFunctions);
}

bool is_early(const CudaLauncher& launcher, uint32_t grid, uint32_t cluster = 1) {
  REQUIRE(launcher.launch(kFunctions[0], {grid, 128, cluster, 0}, nullptr, nullptr) == 0);
  return launched.attributes.count(kProgrammaticSerialization) != 0;
}

}  // namespace

TEST_CASE("launches of few blocks begin early if kernels wait for the launch before", "[cuda]") {
  const CudaLibrary cuda = library();
  CudaLauncher launcher(cuda);
  load(launcher, 90);
  CHECK(is_early(launcher, 1));
  CHECK(launched.attributes[kProgrammaticSerialization][0] == 1);
  CHECK(is_early(launcher, hipops::kMostBlocksEarly));
  CHECK_FALSE(is_early(launcher, hipops::kMostBlocksEarly + 1));
  CHECK(launched.plain);
}

TEST_CASE("a launch of many blocks begins early on request, under the same conditions", "[cuda]") {
  const CudaLibrary cuda = library();
  CudaLauncher launcher(cuda);
  hipops::LaunchShape many = {hipops::kMostBlocksEarly + 1, 128};
  many.begins_early = true;
  load(launcher, 90);
  REQUIRE(launcher.launch(kFunctions[0], many, nullptr, nullptr) == 0);
  CHECK(launched.attributes.count(kProgrammaticSerialization) == 1);
  load(launcher, 80);
  REQUIRE(launcher.launch(kFunctions[0], many, nullptr, nullptr) == 0);
  CHECK(launched.plain);
}

TEST_CASE("no launch begins early after the load of a kernel that does not wait", "[cuda]") {
  const CudaLibrary cuda = library();
  CudaLauncher launcher(cuda);
  load(launcher, 90);
  load(launcher, 80);
  CHECK_FALSE(is_early(launcher, 1));
  load(launcher, 90);
  CHECK_FALSE(is_early(launcher, 1));
  CHECK(launched.plain);
}

TEST_CASE("no launch begins early with an old driver, or with HIPOPS_CUDA_EARLY=0", "[cuda]") {
  for (int without = 0; without < 4; ++without) {
    CudaLibrary cuda = library();
    if (without == 0) cuda.launch_kernel_ex = nullptr;
    if (without == 1) cuda.kernel_get_attribute = nullptr;
    if (without == 2) cuda.func_load = nullptr;  // a driver before 12.4
    if (without == 3) setenv("HIPOPS_CUDA_EARLY", "0", 1);
    CudaLauncher launcher(cuda);
    unsetenv("HIPOPS_CUDA_EARLY");
    load(launcher, 90);
    INFO("without " << without);
    CHECK_FALSE(is_early(launcher, 1));
    CHECK(launched.plain);
  }
}

TEST_CASE("HIPOPS_CUDA_EARLY is 0 or 1, or nothing", "[cuda]") {
  for (const char* setting : {"", "0", "1"}) {
    setenv("HIPOPS_CUDA_EARLY", setting, 1);
    CHECK(CudaLauncher::check_setting() == HIPOPS_SUCCESS);
  }
  for (const char* setting : {"off", "false", "00", " 0"}) {
    setenv("HIPOPS_CUDA_EARLY", setting, 1);
    CHECK(CudaLauncher::check_setting() == HIPOPS_INVALID_ARGUMENT);
    CHECK(std::string(hipops_last_error()) == std::string("HIPOPS_CUDA_EARLY is \"") + setting + "\", expected 0 or 1");
  }
  unsetenv("HIPOPS_CUDA_EARLY");
  CHECK(CudaLauncher::check_setting() == HIPOPS_SUCCESS);
}

TEST_CASE("a launch has the size of its clusters", "[cuda]") {
  const CudaLibrary cuda = library();
  CudaLauncher launcher(cuda);
  load(launcher, 90);
  CHECK(is_early(launcher, 8, 4));
  CHECK(launched.attributes[kClusterDimension] == std::vector<unsigned>{4, 1, 1});
  CHECK_FALSE(is_early(launcher, 2048, 4));
  CHECK(launched.attributes[kClusterDimension] == std::vector<unsigned>{4, 1, 1});
}

TEST_CASE("the number of clusters depends on their size and their blocks, and is 0 if the device cannot run them", "[cuda]") {
  static bool runs_16, allowed_16;
  static unsigned fewer = 1;
  CudaLibrary cuda = library();
  cuda.kernel_set_attribute = [](int attribute, int value, void*, int) {
    constexpr int kLargeClustersAllowed = 14;  // of cuda.h
    if (attribute == kLargeClustersAllowed) allowed_16 = value == 1;
    return 0;
  };
  cuda.occupancy_max_active_clusters = [](int* clusters, void*, const hipops::CudaLaunch* launch) {
    const unsigned size = launch->attributes[0].value[0], part = 512 / launch->block[0];
    if (launch->shared_bytes != 1000 + launch->block[0]) return 1;
    if (size == 16 && !(runs_16 && allowed_16)) return 1;
    *clusters = static_cast<int>(128 / size * part / fewer);
    return 0;
  };
  // The second kernel is launched alone.
  static const char* const names[] = {"clustered", "alone"};
  void* const functions[] = {&op, &op};
  const auto shared = [](int kernel, uint32_t block) {
    return int64_t{kernel == 0 ? 1000 + block : block == 0 ? 5000u : 0u};
  };
  hipops::Op clustered = {"an_op", names, 2, nullptr, shared}, others[20];
  for (hipops::Op& other : others)
    other.name = "other", other.kernel_names = names, other.kernel_count = 2, other.most_shared = shared;
  hipops::DeviceFacts facts;
  facts.launch_shared_bytes = 200 << 10;
  facts.largest_cluster = hipops::kLargestCluster;
  architecture = 90;
  for (bool runs : {false, true}) {
    runs_16 = runs, allowed_16 = false;
    CudaLauncher launcher(cuda);
    CHECK(launcher.most_clusters(clustered, 0, 8, 512) == 0);  // kernels that are not loaded
    launcher.prepare(0, facts, clustered, functions);
    for (uint32_t size : {2, 4, 8})
      for (uint32_t block : {32, 128, 129, 160, 161, 256, 288, 512})
        CHECK(launcher.most_clusters(clustered, 0, size, block) == 128 / size * (block > 256 ? 1 : block > 160 ? 2 : block > 128 ? 3 : 4));
    CHECK(launcher.most_clusters(clustered, 0, 16, 512) == (runs ? 8 : 0));
    for (uint32_t size : {5, 6, 32}) CHECK(launcher.most_clusters(clustered, 0, size, 512) == 0);  // sizes that no launch has
    CHECK(launcher.most_clusters(clustered, 0, 8, 544) == 0);
    // Other ops' kernels, which have room for fewer, do not change the number.
    fewer = 2;
    for (const hipops::Op& other : others) launcher.prepare(0, facts, other, functions);
    fewer = 1;
    for (const hipops::Op& other : others) CHECK(launcher.most_clusters(other, 0, 8, 512) == 8);
    CHECK(launcher.most_clusters(clustered, 0, 8, 512) == 16);
  }
}
