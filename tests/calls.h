// What the tests of ops share: where their calls run, and what a refused call must leave alone.
#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "tensor/error.h"

namespace hipops_test {

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

inline hipops::Op& op_named(const std::string& name) {
  for (int i = 0; i < hipops::op_count; ++i)
    if (hipops::all_ops[i]->name == name) return *hipops::all_ops[i];
  throw std::runtime_error("no op " + name);
}

inline std::string text_of(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

// Runs `body` in a child that could choose the CPU and nothing else.
inline void check_calls(const std::function<void()>& body) { check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body); }

// Runs `body` on the CPU, with waves of 32 and of 64. Races in shared memory are reported.
inline void on_cpu(const std::function<void()>& body, Environment environment = {}) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  environment["HIPOPS_CPU_RACE"] = "1";
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    environment["HIPOPS_CPU_WAVE"] = wave;
    check_in_child(environment, [&] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
      body();
    });
  }
}

// The call is refused with this message. It chooses no runtime and writes none of the tensors.
inline void expect_refused(const std::function<hipops_status()>& call, const std::vector<const HostTensor*>& tensors,
                           hipops_status status, const std::string& message) {
  const auto memory = [&] {
    std::vector<std::vector<unsigned char>> bytes;
    for (const HostTensor* tensor : tensors) bytes.push_back(tensor->bytes());
    return bytes;
  };
  hipops::fail_runtime(719, "before");
  const auto before = memory();
  EXPECT_EQUAL(call(), status);
  EXPECT_EQUAL(error_without_values(), message);
  EXPECT_EQUAL(hipops_last_runtime_error(), 0);
  EXPECT(memory() == before);
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// The call succeeds, and the thread's last error stays.
inline void expect_success(const std::function<hipops_status()>& call) {
  hipops::fail_runtime(719, "before");
  EXPECT_EQUAL(call(), HIPOPS_SUCCESS);
  EXPECT_EQUAL(std::string(hipops_last_error()), "before");
  EXPECT_EQUAL(hipops_last_runtime_error(), 719);
}

}  // namespace hipops_test
