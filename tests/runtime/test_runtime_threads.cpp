// Many threads at the same time: each op's first use, on two devices, on a stream for each thread. And the CPU
// runtime's launches. hipops-parity --threads checks results. This test runs no kernels, so that it can run with the
// thread sanitizer.
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "machine_code/amd_kernels.h"
#include "catch.h"
#include "runtime/fake_code_object.h"
#include "ops.h"
#include "runtime/runtime.h"
#include "runtime/standin_control.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr int kThreads = 16;

// `body` on `count` threads, which begin together. A failure in any of them ends the test.
void on_threads(const std::function<void(int thread)>& body) {
  std::atomic<int> ready{0};
  std::vector<std::string> outcomes(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < kThreads;) std::this_thread::yield();
      outcomes[static_cast<size_t>(i)] = outcome([&] { body(i); });
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : outcomes) EXPECT_EQUAL(each, std::string());
}

Runtime& in_use() {
  Runtime* found = nullptr;
  EXPECT_EQUAL(runtime(&found), HIPOPS_SUCCESS);
  return *found;
}

void write_bundles(const TemporaryFolder& folder) {
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    const Bytes elf = fake_elf({op.kernel_names, op.kernel_names + op.kernel_count});
    folder.write(std::string(op.name) + ".hipfb", fake_bundle({{"gfx942", elf}, {"gfx1100", elf}}));
  }
}

// The data of each launch. The stand-in's lock protects it.
struct Seen {
  int launches = 0, wrong_device = 0;
  std::set<void*> streams;
};
Seen seen;

struct Arguments {
  int thread;
};

void look(const StandinLaunch* launch) {
  ++seen.launches;
  seen.wrong_device += launch->device != static_cast<const Arguments*>(launch->arguments)->thread % 2;
  seen.streams.insert(launch->stream);
}

void launch_all(int thread) {
  void* stream = nullptr;
  EXPECT_EQUAL(in_use().set_device(thread % 2), HIPOPS_SUCCESS);
  EXPECT_EQUAL(in_use().create_stream(&stream), HIPOPS_SUCCESS);
  const Arguments arguments = {thread};
  for (int i = 0; i < op_count; ++i) {
    // Half of the threads begin with the last op, so that different ops are loaded at the same time.
    Op& op = *all_ops[thread / 2 % 2 ? op_count - 1 - i : i];
    for (int k = 0; k < op.kernel_count; ++k)
      EXPECT_EQUAL(launch(op, k, 3, 64, &arguments, sizeof arguments, stream), HIPOPS_SUCCESS);
    const DeviceFacts* facts = nullptr;
    EXPECT_EQUAL(device_facts(&facts), HIPOPS_SUCCESS);
    EXPECT_EQUAL(facts->ordinal, thread % 2);
  }
  EXPECT_EQUAL(in_use().destroy_stream(stream), HIPOPS_SUCCESS);
}

}  // namespace

TEST_CASE("16 threads use all ops on two devices and their own streams, from the first use on", "[runtime][threads]") {
  TemporaryFolder folder;
  write_bundles(folder);
  check_in_child(standin_environment({{"HIPOPS_CODE_OBJECT_DIR", folder.path()}, {"STANDIN_ARCH", "gfx942,gfx1100"}}),
                 [] {
                   Standin standin;
                   standin.observe(look);
                   int kernels = 0;
                   for (int i = 0; i < op_count; ++i) kernels += static_cast<int>(amd_kernels(*all_ops[i]).size());
                   on_threads(launch_all);
                   EXPECT_EQUAL(seen.launches, kThreads * kernels);
                   EXPECT_EQUAL(seen.wrong_device, 0);
                   EXPECT(!seen.streams.count(nullptr));
                   EXPECT_EQUAL(standin.live_modules(), 2 * op_count);
                 });
}

TEST_CASE("16 threads that are refused at the same time have their own messages", "[runtime][threads]") {
  check_in_child(standin_environment(), [] {
    on_threads([](int thread) {
      const std::string name = "nonsense" + std::to_string(thread);
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQUAL(hipops_prepare(name.c_str()), HIPOPS_INVALID_ARGUMENT);
        EXPECT_CONTAINS(hipops_last_error(), '"' + name + '"');
      }
    });
  });
}

TEST_CASE("16 threads compute on the CPU at the same time, from the first use on", "[runtime][threads]") {
  if (all_images[0].cpu_wave32 == nullptr) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  check_in_child({{"HIPOPS_BACKEND", "cpu"}, {"HIPOPS_CPU_THREADS", "3"}}, [] {
    on_threads([](int thread) {
      constexpr int kRows = 40, kColumns = 32;
      std::vector<float> x(kRows * kColumns, static_cast<float>(thread)), y(x.size());
      const hipops_tensor from = {x.data(), HIPOPS_F32, 2, {kRows, kColumns}, {kColumns, 1}};
      hipops_tensor to = from;
      to.data = y.data();
      for (int i = 0; i < 20; ++i) {
        y.assign(y.size(), -1);
        EXPECT_EQUAL(hipops_softmax(&to, &from, 0, nullptr), HIPOPS_SUCCESS);
        for (const float value : y) EXPECT_EQUAL(value, 1.0f / kColumns);
      }
    });
  });
}
