// hipops-parity --repeat detects different bits in any run, on any stream and with any grid.
#include <set>

#include "index/addition_case.h"
#include "catch.h"
#include "parity/repeat_case.h"
#include "policy/plan_options.h"

using namespace hipops::parity;
using namespace hipops_test;

namespace {

// y += x, with one of several defects in one of its calls.
enum class Defect { kNone, kBit, kStatus, kBeside };
Defect defect;
int calls, defective_call;
std::set<void*> streams_seen;
std::set<int64_t> grids_seen;

hipops_status add(const Arguments& a) {
  streams_seen.insert(a.stream());
  grids_seen.insert(hipops::plan_options().within_most(1000));
  const bool wrong = ++calls == defective_call;
  if (wrong && defect == Defect::kStatus) return HIPOPS_RUNTIME_ERROR;
  auto* y = static_cast<float*>(a["y"]->data);
  const auto* x = static_cast<const float*>(a["x"]->data);
  for (int64_t i = 0; i < a["y"]->shape[0]; ++i) y[i] += x[i];
  if (wrong && defect == Defect::kBit) *reinterpret_cast<uint32_t*>(y + 2) ^= 1;
  if (wrong && defect == Defect::kBeside) reinterpret_cast<unsigned char*>(y + a["y"]->shape[0])[0] ^= 1;
  return HIPOPS_SUCCESS;
}

const OpEntry kAdd = {"add", {HIPOPS_F32}, {{"y"}}, {{"x"}, {"y"}}, {}, calling<add>};

CaseResult repeat(Defect chosen, int call, int runs) {
  defect = chosen;
  defective_call = call;
  calls = 0;
  streams_seen.clear();
  grids_seen.clear();
  StreamRuntime runtime;
  CaseResult result;
  {
    const Streams streams(runtime);
    result = repeat_case(runtime, kAdd, addition(), Guard::kZones, streams, runs);
  }
  CHECK(runtime.made.empty());
  CHECK(runtime.unknown == 0);
  CHECK(runtime.live == 0);
  CHECK(hipops::plan_options().within_most(1000) == 1000);
  return result;
}

}  // namespace

TEST_CASE("runs with the same bits pass, on several streams and with several grids", "[repeat]") {
  const CaseResult result = repeat(Defect::kNone, 0, 40);
  CHECK(result.verdict == CaseResult::Verdict::kPassed);
  CHECK(calls == 41);  // the first one is for the golden results
  CHECK(streams_seen.size() == 4);
  CHECK(streams_seen.count(nullptr) == 1);
  CHECK(grids_seen.size() >= 5);
  CHECK(grids_seen.count(1) == 1);
  CHECK(grids_seen.count(1000) == 1);
}

TEST_CASE("one different bit in a run fails, even within the golden results' tolerance", "[repeat]") {
  for (const int call : {3, 17, 41}) {
    const CaseResult result = repeat(Defect::kBit, call, 40);
    CHECK(result.verdict == CaseResult::Verdict::kFailed);
    REQUIRE(result.reasons.size() == 1);
    CAPTURE(result.reasons[0]);
    CHECK(result.reasons[0].find("run " + std::to_string(call - 1) + " (") == 0);
    CHECK(result.reasons[0].find("y[2] (position 2)") != std::string::npos);
  }
}

TEST_CASE("a run that writes next to its output, or fails, fails the case", "[repeat]") {
  CHECK(repeat(Defect::kBeside, 9, 40).verdict == CaseResult::Verdict::kFailed);
  CHECK(repeat(Defect::kStatus, 9, 40).verdict == CaseResult::Verdict::kFailed);
  CHECK(repeat(Defect::kStatus, 1, 40).verdict == CaseResult::Verdict::kFailed);
}

TEST_CASE("a scatter is deterministic by its flag, and another op by any", "[repeat]") {
  Case test = addition();
  CHECK(is_deterministic(test));
  test.params["flags"] = 0;
  CHECK(is_deterministic(test));
  test.params["dim"] = 0;
  CHECK_FALSE(is_deterministic(test));
  test.params["flags"] = HIPOPS_DETERMINISTIC;
  CHECK(is_deterministic(test));
}
