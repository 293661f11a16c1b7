// hipops-parity --threads: every thread runs its case on its own stream and device at the same time, and each failure
// is reported.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "index/addition_case.h"
#include "catch.h"
#include "parity/threads_case.h"

using namespace hipops::parity;
using namespace hipops_test;

namespace {

class TwoDevices : public StreamRuntime {
 public:
  hipops_status allocate(size_t bytes, void** pointer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    return StreamRuntime::allocate(bytes, pointer);
  }
  hipops_status release(void* pointer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    return StreamRuntime::release(pointer);
  }
  hipops_status device_count(int* count) override {
    *count = 2;
    return HIPOPS_SUCCESS;
  }
  hipops_status set_device(int ordinal) override {
    ++(ordinal == 0 ? first : second);
    return ordinal == 0 || ordinal == 1 ? HIPOPS_SUCCESS : HIPOPS_INVALID_ARGUMENT;
  }
  std::atomic<int> first{0}, second{0};

 private:
  std::mutex mutex_;
};

std::mutex seen_mutex;
std::set<void*> streams_seen;
std::set<std::thread::id> threads_seen;
std::atomic<int> calls, wrong_call, inside, most_inside;

hipops_status add(const Arguments& a) {
  const int here = ++inside;
  for (int most = most_inside; here > most && !most_inside.compare_exchange_weak(most, here);) {
  }
  {
    std::lock_guard<std::mutex> lock(seen_mutex);
    streams_seen.insert(a.stream());
    threads_seen.insert(std::this_thread::get_id());
  }
  // Long enough for the threads that start with it to arrive.
  for (int i = 0; i < 1000 && most_inside < 16; ++i) std::this_thread::yield();
  auto* y = static_cast<float*>(a["y"]->data);
  for (int64_t i = 0; i < a["y"]->shape[0]; ++i) y[i] += static_cast<const float*>(a["x"]->data)[i];
  if (++calls == wrong_call) y[2] += 1;
  --inside;
  return HIPOPS_SUCCESS;
}

const OpEntry kAdd = {"add", {HIPOPS_F32}, {{"y"}}, {{"x"}, {"y"}}, {}, calling<add>};

CaseResult run(TwoDevices& runtime, const Case& test, int wrong) {
  calls = inside = most_inside = 0;
  wrong_call = wrong;
  streams_seen.clear();
  threads_seen.clear();
  const std::vector<ThreadCase> cases(16, ThreadCase{&kAdd, &test});
  const CaseResult result = run_on_threads(runtime, cases, Guard::kZones);
  CHECK(runtime.made.empty());
  CHECK(runtime.unknown == 0);
  CHECK(runtime.live == 0);
  return result;
}

}  // namespace

TEST_CASE("threads run at the same time, each on its own stream, on the devices in turn", "[threads]") {
  const Case test = addition();
  TwoDevices runtime;
  const CaseResult result = run(runtime, test, 0);
  CHECK(result.verdict == CaseResult::Verdict::kPassed);
  CHECK(calls == 16);
  CHECK(streams_seen.size() == 16);
  CHECK(threads_seen.size() == 16);
  CHECK(most_inside > 1);
  CHECK(runtime.first == 8);
  CHECK(runtime.second == 8);
}

TEST_CASE("a thread with a wrong result fails the case, and is named", "[threads]") {
  const Case test = addition();
  for (const int wrong : {1, 7, 16}) {
    TwoDevices runtime;
    const CaseResult result = run(runtime, test, wrong);
    CHECK(result.verdict == CaseResult::Verdict::kFailed);
    REQUIRE(!result.reasons.empty());
    CAPTURE(result.reasons[0]);
    CHECK(result.reasons[0].find("thread ") == 0);
    CHECK(result.reasons[0].find("(add addition): y[2]") != std::string::npos);
  }
}

TEST_CASE("a thread that cannot begin fails the case and keeps none waiting", "[threads]") {
  const Case test = addition();
  TwoDevices runtime;
  runtime.refuse_allocation = HIPOPS_RUNTIME_ERROR;
  CHECK(run(runtime, test, 0).verdict == CaseResult::Verdict::kFailed);
  CHECK(calls == 0);
}

TEST_CASE("four threads run a case, and the others run cases from the whole table", "[threads]") {
  std::vector<Case> tests(100);
  std::vector<ThreadCase> all;
  for (const Case& test : tests) all.push_back({&kAdd, &test});
  for (const size_t index : {size_t{0}, size_t{99}}) {
    const std::vector<ThreadCase> company = company_of(all, index, 16);
    REQUIRE(company.size() == 16);
    for (size_t i = 0; i < 16; ++i) CHECK(company[i].test == &tests[(index + i / 4 * 25) % 100]);
  }
  CHECK(company_of({all[0]}, 0, 6).size() == 6);
}
