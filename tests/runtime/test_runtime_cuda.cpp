// The cuda runtime: the search for it, and its use with a device. The rest is as in the hip runtime.
#include <cstring>
#include <vector>

#include "catch.h"
#include "in_child.h"
#include "ops.h"
#include "runtime/runtime.h"

using namespace hipops;
using namespace hipops_test;

namespace {

Environment with_library(const char* path) { return {{"HIPOPS_BACKEND", "cuda"}, {"HIPOPS_CUDA_LIBRARY", path}}; }

}  // namespace

TEST_CASE("a CUDA driver that is missing or wrong is no device", "[cuda]") {
  check_in_child(with_library("/nowhere/libcuda.so.1"), [] {
    EXPECT_EQUAL(hipops_prepare(nullptr), HIPOPS_NO_DEVICE);
    EXPECT_CONTAINS(hipops_last_error(), "HIPOPS_CUDA_LIBRARY is \"/nowhere/libcuda.so.1\", which cannot be loaded: ");
  });
  check_in_child(with_library("libm.so.6"), [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CUDA), HIPOPS_NO_DEVICE);
    EXPECT_CONTAINS(hipops_last_error(), "libm.so.6 has no symbol cuInit");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
  // The process may use that driver, so its pointers may belong to a device. The CPU must not be chosen.
  const Environment automatic = {
      {"HIPOPS_BACKEND", ""}, {"HIPOPS_HIP_LIBRARY", "none"}, {"HIPOPS_CUDA_LIBRARY", "libm.so.6"}};
  check_in_child(automatic, [] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_AUTO), HIPOPS_NO_DEVICE);
    EXPECT_CONTAINS(hipops_last_error(), "does not pass over a GPU's runtime that fails to the cpu: ");
    EXPECT_CONTAINS(hipops_last_error(), "libm.so.6 has no symbol cuInit");
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("a CUDA device: facts, memory, and every op loads", "[cuda][real]") {
  const std::string outcome = in_child(with_library(""), [] {
    if (hipops_init(HIPOPS_BACKEND_CUDA) == HIPOPS_NO_DEVICE) throw std::runtime_error("not here");
    Runtime* cuda = nullptr;
    EXPECT_EQUAL(runtime(&cuda), HIPOPS_SUCCESS);
    const DeviceFacts* facts = nullptr;
    EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
    EXPECT_EQUAL(facts->wave_size, 32);
    EXPECT(facts->units > 0 && !facts->name.empty());
    EXPECT_CONTAINS(facts->target, "sm_");
    EXPECT_EQUAL(facts->adds_vectors, std::stoi(facts->target.substr(3)) >= 90);
    void* memory = nullptr;
    std::vector<int> numbers = {1, 2, 3}, back(3);
    EXPECT_EQUAL(cuda->allocate(12, &memory), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->copy_to_device(memory, numbers.data(), 12), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->copy_to_host(back.data(), memory, 12), HIPOPS_SUCCESS);
    EXPECT(numbers == back);
    void *other = nullptr, *stream = nullptr;
    back.assign(3, 0);
    EXPECT_EQUAL(cuda->allocate(12, &other), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->copy_on_device(other, memory, 12), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->copy_to_host(back.data(), other, 12), HIPOPS_SUCCESS);
    EXPECT(numbers == back);
    EXPECT_EQUAL(cuda->release(other), HIPOPS_SUCCESS);
    void* staging = nullptr;
    EXPECT_EQUAL(cuda->allocate_on_host(12, &staging), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->copy_to_host(staging, memory, 12), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::memcmp(staging, numbers.data(), 12), 0);
    EXPECT_EQUAL(cuda->release_on_host(staging), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->create_stream(&stream), HIPOPS_SUCCESS);
    EXPECT(stream != nullptr);
    EXPECT_EQUAL(cuda->destroy_stream(stream), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->synchronize(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->release(memory), HIPOPS_SUCCESS);
    EXPECT_EQUAL(cuda->set_device(-1), HIPOPS_INVALID_ARGUMENT);
    EXPECT_EQUAL(hipops_prepare(nullptr), *cuda_architectures ? HIPOPS_SUCCESS : HIPOPS_NO_CODE_OBJECT);
  });
  if (outcome == "not here") {
    WARN("left out: no CUDA device");
    return;
  }
  CHECK(outcome == "");
}
