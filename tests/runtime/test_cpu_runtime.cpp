// The CPU runtime around the executor: its settings, its memory, and its search for kernels.
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "child.h"
#include "device/core/cpu.h"
#include "hipops/hipops.h"
#include "in_child.h"
#include "runtime/cpu/sanitizer.h"
#include "runtime/runtime.h"

namespace {

using hipops::CpuKernel;
using hipops::cpu::block_index;
using hipops::cpu::thread_index;

// Sets an environment variable during its own life.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  bool had_;
  std::string before_;
};

std::unique_ptr<hipops::Runtime> opened() {
  hipops::Runtime* runtime = nullptr;
  REQUIRE(hipops::open_cpu(&runtime) == HIPOPS_SUCCESS);
  return std::unique_ptr<hipops::Runtime>(runtime);
}

TEST_CASE("cpu runtime: facts follow the settings") {
  Environment wave("HIPOPS_CPU_WAVE", "64"), units("HIPOPS_CPU_UNITS", "3");
  const auto runtime = opened();
  const hipops::DeviceFacts* facts = nullptr;
  REQUIRE(runtime->facts(0, &facts) == HIPOPS_SUCCESS);
  CHECK(runtime->backend() == HIPOPS_BACKEND_CPU);
  CHECK(facts->wave_size == 64);
  CHECK(facts->units == 3);
  CHECK(facts->adds_vectors);
  CHECK(facts->target == "cpu");
  CHECK(!facts->name.empty());
  CHECK(runtime->facts(1, &facts) == HIPOPS_INVALID_ARGUMENT);
  CHECK(runtime->set_device(0) == HIPOPS_SUCCESS);
  CHECK(runtime->set_device(1) == HIPOPS_INVALID_ARGUMENT);
  int count = 0, ordinal = -1;
  CHECK(runtime->device_count(&count) == HIPOPS_SUCCESS);
  CHECK(runtime->current_device(&ordinal) == HIPOPS_SUCCESS);
  CHECK(count == 1);
  CHECK(ordinal == 0);
}

TEST_CASE("cpu runtime: empty variables mean the defaults") {
  Environment wave("HIPOPS_CPU_WAVE", ""), threads("HIPOPS_CPU_THREADS", ""), guard("HIPOPS_CPU_GUARD", "");
  Environment units("HIPOPS_CPU_UNITS", "");
  const auto runtime = opened();
  const hipops::DeviceFacts* facts = nullptr;
  REQUIRE(runtime->facts(0, &facts) == HIPOPS_SUCCESS);
  CHECK(facts->wave_size == 32);
  CHECK(facts->units == 2);
}

// The bits of each row op on few rows and on many, with `threads` threads.
std::vector<uint32_t> bits_of_rows(const char* threads) {
  constexpr int64_t kShapes[][2] = {{1, 70001}, {3, 100003}, {7, 30011}, {40, 5000}, {500, 130}};
  constexpr int64_t kColumns = 100003, kElements = 3 * kColumns;
  constexpr size_t kResults = std::size(kShapes) * 3 * kElements;
  void* shared = mmap(nullptr, kResults * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  const hipops_test::Environment environment{{"HIPOPS_BACKEND", "cpu"}, {"HIPOPS_CPU_THREADS", threads}};
  const std::string problem = hipops_test::in_child(environment, [&] {
    std::vector<float> x(kElements), weight(kColumns);
    std::mt19937 random(1);
    for (float& value : x) value = static_cast<float>(random()) * 0x1p-31f - 0.9f;
    for (float& value : weight) value = static_cast<float>(random()) * 0x1p-31f;
    float* y = static_cast<float*>(shared);
    for (const auto& [rows, columns] : kShapes) {
      hipops_tensor in{x.data(), HIPOPS_F32, 2, {rows, columns}, {columns, 1}};
      const hipops_tensor scale{weight.data(), HIPOPS_F32, 1, {columns}, {1}};
      hipops_tensor out = in;
      for (int op = 0; op < 3; ++op, y += kElements) {
        out.data = y;
        EXPECT_EQUAL(op == 0   ? hipops_rms_norm(&out, nullptr, &in, &scale, 1e-5, 0, nullptr)
                     : op == 1 ? hipops_layer_norm(&out, nullptr, nullptr, &in, &scale, &scale, 1e-5, 0, nullptr)
                               : hipops_softmax(&out, &in, 0, nullptr),
                     HIPOPS_SUCCESS);
      }
    }
  });
  std::vector<uint32_t> bits(kResults);
  std::memcpy(bits.data(), shared, kResults * sizeof(float));
  munmap(shared, kResults * sizeof(float));
  CHECK(problem == "");
  return bits;
}

TEST_CASE("cpu runtime: the number of threads changes no bit") {
  const std::vector<uint32_t> one = bits_of_rows("1");
  for (const char* threads : {"2", "5", "64"}) {
    INFO(threads << " threads");
    CHECK(bits_of_rows(threads) == one);
  }
}

TEST_CASE("cpu runtime: the message names an invalid setting") {
  const struct {
    const char *name, *value, *valid;
  } bad[] = {
      {"HIPOPS_CPU_WAVE", "48", "32 or 64"},
      {"HIPOPS_CPU_WAVE", "32x", "32 or 64"},
      {"HIPOPS_CPU_THREADS", "0", "1 to 1024"},
      {"HIPOPS_CPU_THREADS", "-1", "1 to 1024"},
      {"HIPOPS_CPU_THREADS", "1025", "1 to 1024"},
      {"HIPOPS_CPU_UNITS", "0", "1 to 1024"},
      {"HIPOPS_CPU_UNITS", "many", "1 to 1024"},
      {"HIPOPS_CPU_SEED", "seven", "from 0 to 18446744073709551615"},
      {"HIPOPS_CPU_SEED", "18446744073709551616", ""},
      {"HIPOPS_CPU_RACE", "yes", "0 or 1"},
      {"HIPOPS_CPU_GUARD", "both", "none, begin, end"},
  };
  for (const auto& setting : bad) {
    Environment environment(setting.name, setting.value);
    hipops::Runtime* runtime = nullptr;
    REQUIRE(hipops::open_cpu(&runtime) == HIPOPS_INVALID_ARGUMENT);
    const std::string message = hipops_last_error();
    INFO(message);
    CHECK(message.find(std::string(setting.name) + " is \"" + setting.value + "\"") == 0);
    CHECK(message.find(setting.valid) != std::string::npos);
  }
  Environment largest("HIPOPS_CPU_SEED", "18446744073709551615");
  opened();
}

struct Fill {
  uint32_t* out;
  uint32_t value;
};

void fill(const void* args, uint32_t scale) {
  const Fill& a = *static_cast<const Fill*>(args);
  a.out[block_index() * 64 + thread_index()] = a.value * scale + thread_index();
}

const CpuKernel kTable32[] = {
    {"other", nullptr}, {"fill", [](const void* args) { fill(args, 32); }}, {nullptr, nullptr}};
const CpuKernel kTable64[] = {
    {"fill", [](const void* args) { fill(args, 64); }}, {"other", nullptr}, {nullptr, nullptr}};

TEST_CASE("cpu runtime: loads by name from the table of the wave, and launches") {
  const hipops::Image image = {"fill", nullptr, nullptr, nullptr, kTable32, kTable64};
  const char* const names[] = {"fill"};
  hipops::Op op = {"fill", names, 1, nullptr};
  for (uint32_t wave : {32u, 64u}) {
    Environment environment("HIPOPS_CPU_WAVE", wave == 32 ? "32" : "64");
    const auto runtime = opened();
    void* function = nullptr;
    REQUIRE(runtime->load(0, image, op, &function) == HIPOPS_SUCCESS);
    void* memory = nullptr;
    REQUIRE(runtime->allocate(3 * 64 * sizeof(uint32_t), &memory) == HIPOPS_SUCCESS);
    CHECK(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
    const Fill args = {static_cast<uint32_t*>(memory), 100};
    REQUIRE(runtime->launch(function, {3, 64}, &args, sizeof args, nullptr) == HIPOPS_SUCCESS);
    REQUIRE(runtime->synchronize() == HIPOPS_SUCCESS);
    std::vector<uint32_t> got(3 * 64);
    REQUIRE(runtime->copy_to_host(got.data(), memory, got.size() * sizeof got[0]) == HIPOPS_SUCCESS);
    for (uint32_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == 100 * wave + i % 64);
    std::iota(got.begin(), got.end(), 5u);
    REQUIRE(runtime->copy_to_device(memory, got.data(), got.size() * sizeof got[0]) == HIPOPS_SUCCESS);
    CHECK(static_cast<uint32_t*>(memory)[191] == 196);
    CHECK(runtime->release(memory) == HIPOPS_SUCCESS);
    CHECK(runtime->release(nullptr) == HIPOPS_SUCCESS);
  }
}

TEST_CASE("cpu runtime: the message names a kernel that the image lacks") {
  const auto runtime = opened();
  const char* const names[] = {"fill", "absent"};
  hipops::Op op = {"fill", names, 2, nullptr};
  void* functions[2] = {};
  const hipops::Image without = {"fill", nullptr, nullptr, nullptr, nullptr, nullptr};
  CHECK(runtime->load(0, without, op, functions) == HIPOPS_NO_CODE_OBJECT);
  CHECK(std::string(hipops_last_error()).find("built without the CPU runtime") != std::string::npos);
  const hipops::Image image = {"fill", nullptr, nullptr, nullptr, kTable32, kTable64};
  CHECK(runtime->load(0, image, op, functions) == HIPOPS_INTERNAL_ERROR);
  CHECK(std::string(hipops_last_error()).find("absent") != std::string::npos);
  CHECK(runtime->load(1, image, op, functions) == HIPOPS_INVALID_ARGUMENT);
}

// The sanitizers end the process if an allocation is too large.
#if !defined(HIPOPS_CPU_ASAN) && !defined(HIPOPS_CPU_TSAN)
TEST_CASE("cpu runtime: an allocation that is too large is a status") {
  for (const char* guard : {"none", "end"}) {
    Environment environment("HIPOPS_CPU_GUARD", guard);
    void* memory = nullptr;
    CHECK(opened()->allocate(size_t{1} << 50, &memory) == HIPOPS_INTERNAL_ERROR);
    CHECK(std::string(hipops_last_error()).find("1125899906842624 bytes") != std::string::npos);
  }
}
#endif

// The exit code of a child that writes to `at`: 0 for memory, 42 for an unmapped page.
int touch(volatile char* at) {
  return in_child([at] {
           std::signal(SIGSEGV, [](int) { _exit(42); });
           *at = 1;
           return 0;
         })
      .exit_code;
}

TEST_CASE("cpu runtime: guard pages begin where an allocation ends") {
  const size_t bytes = GENERATE(size_t{1}, size_t{1000}, size_t{4096}, size_t{10001});
  {
    Environment environment("HIPOPS_CPU_GUARD", "end");
    const auto runtime = opened();
    void* memory = nullptr;
    REQUIRE(runtime->allocate(bytes, &memory) == HIPOPS_SUCCESS);
    std::memset(memory, 7, bytes);
    CHECK(touch(static_cast<char*>(memory) + bytes - 1) == 0);
    CHECK(touch(static_cast<char*>(memory) + bytes) == 42);
    CHECK(runtime->release(memory) == HIPOPS_SUCCESS);
    CHECK(runtime->release(memory) == HIPOPS_INVALID_ARGUMENT);
  }
  Environment environment("HIPOPS_CPU_GUARD", "begin");
  const auto runtime = opened();
  void* memory = nullptr;
  REQUIRE(runtime->allocate(bytes, &memory) == HIPOPS_SUCCESS);
  std::memset(memory, 7, bytes);
  CHECK(touch(static_cast<char*>(memory)) == 0);
  CHECK(touch(static_cast<char*>(memory) - 1) == 42);
  CHECK(runtime->release(memory) == HIPOPS_SUCCESS);
}

}  // namespace
