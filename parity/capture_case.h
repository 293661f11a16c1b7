// Runs one case by way of a graph, as frameworks do that record what they launch and replay it with other data.
#pragma once

#include "parity/run_case.h"
#include "runtime/tools/device_tools.h"

namespace hipops::parity {

// What graphs are captured and replayed with.
class Graphs {
 public:
  // Throws RuntimeFailure where there are none.
  explicit Graphs(std::unique_ptr<DeviceTools> tools);
  ~Graphs();
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  DeviceTools& tools() const { return *tools_; }
  void* stream() const { return stream_; }

 private:
  std::unique_ptr<DeviceTools> tools_;
  void* stream_ = nullptr;
};

// Captures the call before the case's elements are in memory: in the first case of an op that also loads it. Replays
// the graph with them, with them in reverse order, and with them again. The first and the last replay are held to the
// golden results, and the other one to a call without a graph, bit for bit, where the case is deterministic.
CaseResult capture_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Graphs& graphs);

}  // namespace hipops::parity
