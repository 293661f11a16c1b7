// All requests of hipops and its tools to a GPU runtime, step by step. Tests run them while one call of the runtime
// fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "in_child.h"
#include "runtime/runtime.h"

namespace hipops_test {

struct Step {
  const char* name;
  std::function<hipops_status()> run;
};

struct Refusal {
  std::string step;  // "" if no step failed
  hipops_status status = HIPOPS_SUCCESS;
  int code = 0;
  std::string message;
};

// Runs each step until it succeeds. A failed step must succeed the second time, and must not change the message of the
// first time. Only one step may fail.
inline Refusal run_session(const std::vector<Step>& steps) {
  Refusal refusal;
  for (const Step& step : steps) {
    const hipops_status status = step.run();
    if (status == HIPOPS_SUCCESS) continue;
    const std::string message = hipops_last_error();
    if (!refusal.step.empty())
      throw std::runtime_error(std::string(step.name) + " is refused after " + refusal.step + " was: " + message);
    refusal = {step.name, status, hipops_last_runtime_error(), message};
    if (step.run() != HIPOPS_SUCCESS)
      throw std::runtime_error(std::string(step.name) + " is refused again: " + hipops_last_error());
  }
  if (!refusal.step.empty()) EXPECT_EQUAL(std::string(hipops_last_error()), refusal.message);
  return refusal;
}

inline hipops::Runtime& runtime_in_use() {
  hipops::Runtime* found = nullptr;
  EXPECT_EQUAL(hipops::runtime(&found), HIPOPS_SUCCESS);
  return *found;
}

// The steps around `work`. It gets two pieces of device memory of `bytes` each. The first holds a copy of `data`. After
// `work`, `data` gets a copy of the second.
inline std::vector<Step> session_around(std::vector<unsigned char>* data,
                                        const std::function<hipops_status(void* target, void* source)>& work) {
  struct Memory {
    void *x = nullptr, *y = nullptr, *z = nullptr, *host = nullptr, *stream = nullptr;
  };
  auto m = std::make_shared<Memory>();
  const size_t bytes = data->size();
  const auto in_use = [] { return &runtime_in_use(); };
  return {
      {"init", [] { return hipops_init(HIPOPS_BACKEND_AUTO); }},
      {"facts",
       [] {
         const hipops::DeviceFacts* facts = nullptr;
         return hipops::device_facts(&facts);
       }},
      {"count",
       [=] {
         int count = 0;
         return in_use()->device_count(&count);
       }},
      {"device", [=] { return in_use()->set_device(0); }},
      {"allocate x", [=] { return in_use()->allocate(bytes, &m->x); }},
      {"allocate y", [=] { return in_use()->allocate(bytes, &m->y); }},
      {"allocate z", [=] { return in_use()->allocate(bytes, &m->z); }},
      {"allocate host", [=] { return in_use()->allocate_on_host(bytes, &m->host); }},
      {"stream", [=] { return in_use()->create_stream(&m->stream); }},
      {"to device", [=] { return in_use()->copy_to_device(m->z, data->data(), bytes); }},
      {"on device", [=] { return in_use()->copy_on_device(m->x, m->z, bytes); }},
      {"work", [=] { return work(m->y, m->x); }},
      {"synchronize", [=] { return in_use()->synchronize(); }},
      {"to host", [=] { return in_use()->copy_to_host(data->data(), m->y, bytes); }},
      {"destroy", [=] { return in_use()->destroy_stream(m->stream); }},
      {"release host", [=] { return in_use()->release_on_host(m->host); }},
      {"release x", [=] { return in_use()->release(m->x); }},
      {"release y", [=] { return in_use()->release(m->y); }},
      {"release z", [=] { return in_use()->release(m->z); }},
  };
}

}  // namespace hipops_test
