// hipops-parity --capture detects data and work that a graph must not keep from the time of its capture.
#include <functional>

#include "index/addition_case.h"
#include "catch.h"
#include "parity/capture_case.h"
#include "parity/number.h"

using namespace hipops;
using namespace hipops::parity;
using namespace hipops_test;

namespace {

using Work = std::vector<std::function<void()>>;

// Records work during a capture, and does it immediately otherwise.
struct Recorder {
  bool capturing = false, broken = false;
  Work* recorded = nullptr;
  int replays = 0, live = 0;

  void launch(const std::function<void()>& work) {
    if (capturing) return recorded->push_back(work);
    work();
  }
};
Recorder recorder;

class RecordingTools final : public DeviceTools {
 public:
  explicit RecordingTools(bool graphs = true) : graphs_(graphs) {}
  std::string driver() const override { return ""; }
  hipops_status create_stream(void** stream) override {
    *stream = &recorder;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_stream(void*) override { return HIPOPS_SUCCESS; }
  hipops_status synchronize(void*) override { return HIPOPS_SUCCESS; }
  hipops_status copy_on_device(void*, const void*, size_t, void*) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status fill(void*, uint32_t, size_t, void*) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status create_event(void**) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status destroy_event(void*) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status record(void*, void*) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status milliseconds(void*, void*, float*) override { return HIPOPS_INTERNAL_ERROR; }
  bool has_graphs() const override { return graphs_; }
  hipops_status begin_capture(void*) override {
    recorder.capturing = true;
    recorder.recorded = new Work;
    return HIPOPS_SUCCESS;
  }
  hipops_status end_capture(void*, void** graph) override {
    recorder.capturing = false;
    if (recorder.broken) delete recorder.recorded;
    if (recorder.broken) return HIPOPS_RUNTIME_ERROR;
    *graph = recorder.recorded;
    ++recorder.live;
    return HIPOPS_SUCCESS;
  }
  hipops_status replay(void* graph, void*) override {
    ++recorder.replays;
    for (const auto& work : *static_cast<Work*>(graph)) work();
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_graph(void* graph) override {
    delete static_cast<Work*>(graph);
    --recorder.live;
    return HIPOPS_SUCCESS;
  }
  hipops_status kernels(void*, std::vector<KernelLaunch>*) override { return HIPOPS_INTERNAL_ERROR; }
  int launch(const KernelLaunch&, void*) override { return -1; }

 private:
  const bool graphs_;
};

// y += x, with one of several defects.
enum class Defect { kNone, kNotRecorded, kKeepsData, kKeepsFirstReplay, kBreaks, kRefuses };
Defect defect;

void sum(float* y, const float* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += x[i];
}

hipops_status add(const Arguments& a) {
  auto* y = static_cast<float*>(a["y"]->data);
  const auto* x = static_cast<const float*>(a["x"]->data);
  const int64_t count = a["y"]->shape[0];
  if (recorder.capturing && defect == Defect::kRefuses) return HIPOPS_RUNTIME_ERROR;
  recorder.broken = recorder.capturing && defect == Defect::kBreaks;
  if (recorder.capturing && defect == Defect::kNotRecorded) return sum(y, x, count), HIPOPS_SUCCESS;
  const bool keeps = recorder.capturing && (defect == Defect::kKeepsData || defect == Defect::kKeepsFirstReplay);
  auto kept = std::make_shared<std::vector<float>>();
  if (keeps && defect == Defect::kKeepsData) kept->assign(x, x + count);
  recorder.launch([=] {
    if (keeps && kept->empty()) kept->assign(x, x + count);
    sum(y, keeps ? kept->data() : x, count);
  });
  return HIPOPS_SUCCESS;
}

const OpEntry kAdd = {"add", {HIPOPS_F32}, {{"y"}}, {{"x"}, {"y"}}, {}, calling<add>};

CaseResult capture(Defect chosen) {
  defect = chosen;
  recorder = Recorder();
  StreamRuntime runtime;
  CaseResult result;
  {
    const Graphs graphs(std::make_unique<RecordingTools>());
    result = capture_case(runtime, kAdd, addition(), Guard::kZones, graphs);
  }
  CHECK(recorder.live == 0);
  CHECK(runtime.live == 0);
  return result;
}

void expect_failure(Defect defect, const std::string& reason) {
  const CaseResult result = capture(defect);
  CHECK(result.verdict == CaseResult::Verdict::kFailed);
  std::string all;
  for (const std::string& each : result.reasons) all += each + "\n";
  CAPTURE(all);
  CHECK(all.find(reason) != std::string::npos);
}

}  // namespace

TEST_CASE("a call without defects passes, and is replayed three times", "[capture]") {
  const CaseResult result = capture(Defect::kNone);
  CHECK(result.verdict == CaseResult::Verdict::kPassed);
  CHECK(result.reasons.empty());
  CHECK(recorder.replays == 3);
}

TEST_CASE("a call fails if it works during the capture, or if its graph keeps data", "[capture]") {
  expect_failure(Defect::kNotRecorded, "y[1]");
  expect_failure(Defect::kKeepsData, "y[0]");
  expect_failure(Defect::kKeepsFirstReplay, "a call gives other bits than the replay, inputs reversed: y[0]");
}

TEST_CASE("a capture that is broken, and a call that is refused in one, fail", "[capture]") {
  expect_failure(Defect::kBreaks, "ending the capture: HIPOPS_RUNTIME_ERROR");
  expect_failure(Defect::kRefuses, "in a capture: hipops_add: HIPOPS_RUNTIME_ERROR");
}

TEST_CASE("a runtime without graphs is refused", "[capture]") {
  CHECK_THROWS_AS(Graphs(std::make_unique<RecordingTools>(false)), RuntimeFailure);
}
