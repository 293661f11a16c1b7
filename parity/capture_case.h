// Runs one case in a graph. Frameworks record their launches in graphs, and replay these with other data.
#pragma once

#include "parity/run_case.h"
#include "runtime/tools/device_tools.h"

namespace hipops::parity {

// The tools and the stream that capture and replay graphs.
class Graphs {
 public:
  // Throws RuntimeFailure if the runtime has no graphs.
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

// Captures the call before the case's elements are in memory; the first case of an op also loads the op then. Replays
// the graph with the elements, with them in reverse order, and with them again. The first and the last replay must give
// the golden results. If the case is deterministic, the other one must give the bits of a call without a graph.
CaseResult capture_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Graphs& graphs);

}  // namespace hipops::parity
