// What a tool needs of a device to time what runs on it, and no launch does: streams, events, graphs, copies. Not part
// of the library: the functions are looked up when a tool opens this, so that hipops itself loads beside a runtime that
// lacks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.h"

namespace hipops {

// A launch as the driver gets it. What it points to belongs to the graph it was taken from.
struct KernelLaunch {
  void* function = nullptr;
  uint32_t grid = 0;
  uint32_t block = 0;
  uint32_t shared_bytes = 0;
  void** parameters = nullptr;
  uint32_t cluster = 1;  // of blocks, NVIDIA
};

// Of the calling thread's current device. Streams, events and graphs are opaque; on the CPU streams and events are what
// they need be, where everything is done when a call returns, and there are no graphs.
class DeviceTools {
 public:
  virtual ~DeviceTools() = default;

  // As "580.159.04, CUDA 13.0"; what of it is known.
  virtual std::string driver() const = 0;

  virtual hipops_status create_stream(void** stream) = 0;
  virtual hipops_status destroy_stream(void* stream) = 0;
  virtual hipops_status synchronize(void* stream) = 0;
  virtual hipops_status copy_on_device(void* target, const void* source, size_t bytes, void* stream) = 0;
  virtual hipops_status fill(void* target, uint32_t word, size_t words, void* stream) = 0;

  // Lines that loads have marked to stay in the last cache are as any others from here on. To be called when nothing
  // runs.
  virtual hipops_status release_kept_lines() { return HIPOPS_SUCCESS; }

  virtual hipops_status create_event(void** event) = 0;
  virtual hipops_status destroy_event(void* event) = 0;
  virtual hipops_status record(void* event, void* stream) = 0;
  // Of events whose stream is synchronised.
  virtual hipops_status milliseconds(void* begin, void* end, float* elapsed) = 0;

  virtual bool has_graphs() const = 0;
  virtual hipops_status begin_capture(void* stream) = 0;
  // Gives the graph ready for replay; ends the capture in any case.
  virtual hipops_status end_capture(void* stream, void** graph) = 0;
  virtual hipops_status replay(void* graph, void* stream) = 0;
  virtual hipops_status destroy_graph(void* graph) = 0;

  // The kernels of a graph in the order in which they were captured, and one launch of such a kernel, with nothing
  // around the driver's own call.
  virtual hipops_status kernels(void* graph, std::vector<KernelLaunch>* launches) = 0;
  virtual int launch(const KernelLaunch& kernel, void* stream) = 0;  // the driver's code, 0 for success
};

// For the runtime in use.
hipops_status open_device_tools(std::unique_ptr<DeviceTools>* tools);

std::unique_ptr<DeviceTools> cpu_tools();
hipops_status open_gpu_tools(hipops_backend backend, std::unique_ptr<DeviceTools>* tools);

}  // namespace hipops
