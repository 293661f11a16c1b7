// Each call of a session fails in turn, as in test_faults.cpp, on amdemu, which executes kernels. The next result must
// be right.
#include <cstring>

#include "catch.h"
#include "runtime/fault_session.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr int64_t kLength = 64;

// Writes every element twice. This op loads faster than the others.
hipops_status upsample(void* target, void* source) {
  const hipops_tensor y = {target, HIPOPS_F32, 3, {1, 1, kLength}, {kLength, kLength, 1}};
  const hipops_tensor x = {source, HIPOPS_F32, 3, {1, 1, kLength / 2}, {kLength / 2, kLength / 2, 1}};
  return hipops_upsample_nearest1d(&y, &x, HIPOPS_NEAREST_EXACT, 0, nullptr);
}

std::vector<unsigned char> input() {
  float x[kLength];
  for (int64_t i = 0; i < kLength; ++i) x[i] = static_cast<float>(i) + 0.5f;
  std::vector<unsigned char> bytes(sizeof x);
  std::memcpy(bytes.data(), x, sizeof x);
  return bytes;
}

void expect_output(const std::vector<unsigned char>& bytes) {
  float y[kLength];
  std::memcpy(y, bytes.data(), sizeof y);
  for (int64_t i = 0; i < kLength; ++i) EXPECT_EQUAL(y[i], static_cast<float>(i / 2) + 0.5f);
}

// Empty if the failure had no effect, because hipops works without that call, or if there was no such call.
std::string refused_step(int call, int code) {
  std::string step;
  const std::string rule = "all:" + std::to_string(call) + ":" + std::to_string(code);
  const std::string outcome = in_child({{"HIPOPS_BACKEND", "hip"}, {"AMDEMU_FAIL", rule}}, [&] {
    std::vector<unsigned char> data = input();
    const Refusal refusal = run_session(session_around(&data, upsample));
    expect_output(data);
    if (refusal.step.empty()) return;
    EXPECT(refusal.status == HIPOPS_RUNTIME_ERROR || refusal.status == HIPOPS_NO_CODE_OBJECT);
    EXPECT_EQUAL(refusal.code, code);
    EXPECT_CONTAINS(refusal.message, "hip");
    EXPECT_CONTAINS(refusal.message, "(" + std::to_string(code) + ")");
    throw std::runtime_error("refused: " + refusal.step);
  });
  INFO("call " << call << " fails with " << code);
  const std::string word = "refused: ";
  if (outcome.compare(0, word.size(), word) == 0) return outcome.substr(word.size());
  CHECK(outcome == "");
  return "";
}

}  // namespace

TEST_CASE("each call of a session fails in turn, hipops reports it, and the next result is right", "[faults]") {
  constexpr int kMostCalls = 120, kQuiet = 12;  // after this number of calls without a failure the session has ended
  std::map<std::string, int> refused;
  int quiet = 0, calls = 0;
  for (; calls < kMostCalls && quiet < kQuiet; ++calls, ++quiet) {
    const int codes[] = {2, 209, 719};
    const std::string step = refused_step(calls + 1, codes[calls % 3]);
    if (step.empty()) continue;
    ++refused[step];
    quiet = 0;
  }
  CAPTURE(calls);
  CHECK(calls < kMostCalls);
  for (const char* step : {"init", "facts", "device", "allocate x", "allocate host", "stream", "to device", "on device",
                           "work", "synchronize", "to host", "destroy", "release host", "release z"}) {
    INFO(step);
    CHECK(refused[step] > 0);
  }
}
