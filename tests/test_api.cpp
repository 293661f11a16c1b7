// The functions of hipops.h that describe the library.
#include <cstring>
#include <string>
#include <vector>

#include "catch.h"
#include "in_child.h"
#include "ops.h"

using namespace hipops;
using namespace hipops_test;

namespace {

std::string unknown_op(const char* name) {
  std::string message = std::string("hipops_prepare: op is \"") + name + "\", expected one of ";
  for (int i = 0; i < op_count; ++i) message += std::string(all_ops[i]->name) + ", ";
  return message + "or NULL";
}

}  // namespace

TEST_CASE("hipops_supports knows no op by another name", "[api]") {
  CHECK(hipops_supports(nullptr, HIPOPS_F32, HIPOPS_NONE) == 0);
  for (const char* name : {"", "rms", "rms_norm ", "RMS_NORM", "hipops_rms_norm", "softmaxx"}) {
    INFO(name);
    CHECK(hipops_supports(name, HIPOPS_F32, HIPOPS_NONE) == 0);
  }
}

TEST_CASE("every op has a name, a list of distinct kernels, and an image", "[api]") {
  REQUIRE(op_count >= 3);
  REQUIRE(image_count == op_count);
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    INFO(op.name);
    CHECK(std::string(all_images[i].op) == op.name);
    for (int k = 0; k < op.kernel_count; ++k) {
      CHECK(std::string(op.kernel_names[k]).rfind(std::string(op.name) + "_", 0) == 0);
      for (int j = 0; j < k; ++j) CHECK(std::strcmp(op.kernel_names[j], op.kernel_names[k]) != 0);
    }
  }
}

TEST_CASE("the version as text is the version as a number", "[api]") {
  CHECK(std::string(hipops_version()) == std::to_string(HIPOPS_VERSION_MAJOR) + "." +
                                             std::to_string(HIPOPS_VERSION_MINOR) + "." +
                                             std::to_string(HIPOPS_VERSION_PATCH));
  CHECK(hipops_version_number() == 10000 * HIPOPS_VERSION_MAJOR + 100 * HIPOPS_VERSION_MINOR + HIPOPS_VERSION_PATCH);
}

TEST_CASE("the build information has a line for each part", "[api]") {
  const std::string info = hipops_build_info();
  CHECK(info.rfind(std::string("hipops ") + hipops_version() + "\ncompiler: ", 0) == 0);
  auto targets = [](const char* list) { return *list ? std::string(list) : "none"; };
  CHECK(info.find("\nAMD targets: " + targets(hip_targets) + "\n") != std::string::npos);
  CHECK(info.find("\nCUDA architectures: " + targets(cuda_architectures) + "\n") != std::string::npos);
  CHECK(info.find("\nCPU runtime: " + std::string(all_images[0].cpu_wave32 ? "wave 32 and 64" : "none") + "\n") !=
        std::string::npos);
}

TEST_CASE("hipops_prepare loads one op, or all, or lists the ops", "[api]") {
  if (!all_images[0].cpu_wave32) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    EXPECT_EQUAL(hipops_prepare("softmax"), HIPOPS_SUCCESS);
    for (int i = 0; i < op_count; ++i)
      EXPECT_EQUAL(all_ops[i]->functions[0].load() != nullptr, std::string(all_ops[i]->name) == "softmax");
    EXPECT_EQUAL(hipops_prepare("scatter_add"), HIPOPS_SUCCESS);  // it also launches index_add's kernels
    for (int i = 0; i < op_count; ++i) {
      const std::string name = all_ops[i]->name;
      const bool is_prepared = name == "softmax" || name == "scatter_add" || name == "index_add";
      EXPECT_EQUAL(all_ops[i]->functions[0].load() != nullptr, is_prepared);
    }
    EXPECT_EQUAL(hipops_prepare("soft"), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(std::string(hipops_last_error()), unknown_op("soft"));
    EXPECT_EQUAL(hipops_prepare(""), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), unknown_op(""));
    for (int i = 0; i < op_count; ++i) EXPECT(all_ops[i]->functions[0].load() != nullptr);
  });
}
