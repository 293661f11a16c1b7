#include "parity/capture_case.h"

#include "parity/case_run.h"
#include "parity/repeat_case.h"

namespace hipops::parity {
namespace {

class Graph {
 public:
  // If the call broke the capture, the end of the capture fails too. The call's own failure is the useful message.
  Graph(const Graphs& graphs, CaseRun* run) : graphs_(graphs) {
    expect_success(graphs.tools().begin_capture(graphs.stream()), "beginning a capture");
    std::string refusal;
    try {
      run->launch(graphs.stream());
    } catch (const RuntimeFailure& failure) {
      refusal = failure.what();
    }
    const hipops_status ended = graphs.tools().end_capture(graphs.stream(), &graph_);
    if (!refusal.empty()) {
      if (ended == HIPOPS_SUCCESS) graphs.tools().destroy_graph(graph_);
      throw RuntimeFailure("in a capture: " + refusal);
    }
    expect_success(ended, "ending the capture");
  }
  ~Graph() { graphs_.tools().destroy_graph(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void replay(CaseRun* run) const {
    run->timed([&] {
      expect_success(graphs_.tools().replay(graph_, graphs_.stream()), "replaying the graph");
      expect_success(graphs_.tools().synchronize(graphs_.stream()), "waiting for the graph");
    });
  }

 private:
  const Graphs& graphs_;
  void* graph_ = nullptr;
};

// Copies the outputs' bytes from the device.
std::vector<std::vector<unsigned char>> results(CaseRun* run) {
  std::vector<std::vector<unsigned char>> all;
  for (Buffer* output : run->outputs()) {
    output->download();
    all.push_back(output->copy());
  }
  return all;
}

void compare_reversed(CaseRun* run, const Graph& graph) {
  run->fill(CaseRun::Elements::kReversed);
  graph.replay(run);
  const auto replayed = results(run);
  run->fill(CaseRun::Elements::kReversed);
  run->call(nullptr);
  const std::vector<Buffer*> outputs = run->outputs();
  for (size_t o = 0; o < outputs.size(); ++o) {
    outputs[o]->download();
    const std::string difference = outputs[o]->difference_from(replayed[o]);
    if (!difference.empty()) run->miss("a call gives other bits than the replay, inputs reversed: " + difference);
  }
}

}  // namespace

Graphs::Graphs(std::unique_ptr<DeviceTools> tools) : tools_(std::move(tools)) {
  if (!tools_->has_graphs()) throw RuntimeFailure("the runtime in use has no graphs");
  expect_success(tools_->create_stream(&stream_), "creating a stream");
}

Graphs::~Graphs() { tools_->destroy_stream(stream_); }

CaseResult capture_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Graphs& graphs) {
  CaseRun run(runtime, op, test, guard);
  return run.attempt([&] {
    run.prepare();
    run.fill(CaseRun::Elements::kNone);
    const Graph graph(graphs, &run);
    run.fill(CaseRun::Elements::kCase);
    graph.replay(&run);
    run.check();
    if (is_deterministic(test)) compare_reversed(&run, graph);
    run.fill(CaseRun::Elements::kCase);
    graph.replay(&run);
    run.check();
  });
}

}  // namespace hipops::parity
