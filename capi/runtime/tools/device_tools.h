// Functions for tools that time work on a device: streams, events, graphs, copies. No launch needs them, and they are
// not part of the library. A tool finds them at run time, so hipops itself also loads with a runtime that lacks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace hipops {

// The driver's arguments of a launch. Its pointers belong to the graph of the launch.
struct KernelLaunch {
  void* function = nullptr;
  uint32_t grid = 0;
  uint32_t block = 0;
  uint32_t shared_bytes = 0;
  void** parameters = nullptr;
  uint32_t cluster = 1;  // of blocks, NVIDIA
};

// Tools of the calling thread's current device. On the CPU a call's work is done when it returns, so streams are null,
// events are times, and there are no graphs.
class DeviceTools {
 public:
  virtual ~DeviceTools() = default;

  // For example "580.159.04, CUDA 13.0", or a part of it.
  virtual std::string driver() const = 0;

  virtual hipops_status create_stream(void** stream) = 0;
  virtual hipops_status destroy_stream(void* stream) = 0;
  virtual hipops_status synchronize(void* stream) = 0;
  virtual hipops_status copy_on_device(void* target, const void* source, size_t bytes, void* stream) = 0;
  virtual hipops_status fill(void* target, uint32_t word, size_t words, void* stream) = 0;

  // Clears the marks of loads that keep lines in the last cache. Is called when nothing runs.
  virtual hipops_status release_kept_lines() { return HIPOPS_SUCCESS; }

  virtual hipops_status create_event(void** event) = 0;
  virtual hipops_status destroy_event(void* event) = 0;
  virtual hipops_status record(void* event, void* stream) = 0;
  // The stream of both events is synchronised.
  virtual hipops_status milliseconds(void* begin, void* end, float* elapsed) = 0;

  virtual bool has_graphs() const = 0;
  virtual hipops_status begin_capture(void* stream) = 0;
  // Returns the graph, ready for replay. Ends the capture also if it fails.
  virtual hipops_status end_capture(void* stream, void** graph) = 0;
  virtual hipops_status replay(void* graph, void* stream) = 0;
  virtual hipops_status destroy_graph(void* graph) = 0;

  // The kernels of a graph in the order of their capture. launch() runs one of them, by the driver's call alone.
  virtual hipops_status kernels(void* graph, std::vector<KernelLaunch>* launches) = 0;
  virtual int launch(const KernelLaunch& kernel, void* stream) = 0;  // the driver's code, 0 for success
};

// For the runtime in use.
hipops_status open_device_tools(std::unique_ptr<DeviceTools>* tools);

std::unique_ptr<DeviceTools> cpu_tools();
hipops_status open_gpu_tools(hipops_backend backend, std::unique_ptr<DeviceTools>* tools);

}  // namespace hipops
