// Runs one case in a graph. Frameworks record their launches in graphs, and replay them with other data.
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

// Captures the call before the case's elements are in memory; an op's first case also loads the op during capture.
// Replays with the elements, with the elements reversed, and with the elements. The first and third replay must give
// the golden results, and the second the bits of a call without a graph (deterministic cases only).
CaseResult capture_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Graphs& graphs);

}  // namespace hipops::parity
