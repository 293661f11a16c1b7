// The CPU: the work of a call is done when it returns, and an event is a time of the clock.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "tensor/error.h"
#include "runtime/tools/device_tools.h"

namespace hipops {
namespace {

using Clock = std::chrono::steady_clock;

hipops_status refuse_graphs() { return fail(HIPOPS_RUNTIME_ERROR, "the cpu runtime has no graphs"); }

class CpuTools final : public DeviceTools {
 public:
  std::string driver() const override { return "none"; }

  hipops_status create_stream(void** stream) override {
    *stream = nullptr;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_stream(void*) override { return HIPOPS_SUCCESS; }
  hipops_status synchronize(void*) override { return HIPOPS_SUCCESS; }
  hipops_status copy_on_device(void* target, const void* source, size_t bytes, void*) override {
    std::memcpy(target, source, bytes);
    return HIPOPS_SUCCESS;
  }
  hipops_status fill(void* target, uint32_t word, size_t words, void*) override {
    std::fill_n(static_cast<uint32_t*>(target), words, word);
    return HIPOPS_SUCCESS;
  }

  hipops_status create_event(void** event) override {
    *event = new Clock::time_point;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_event(void* event) override {
    delete static_cast<Clock::time_point*>(event);
    return HIPOPS_SUCCESS;
  }
  hipops_status record(void* event, void*) override {
    *static_cast<Clock::time_point*>(event) = Clock::now();
    return HIPOPS_SUCCESS;
  }
  hipops_status milliseconds(void* begin, void* end, float* elapsed) override {
    const auto time = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(begin);
    *elapsed = std::chrono::duration<float, std::milli>(time).count();
    return HIPOPS_SUCCESS;
  }

  bool has_graphs() const override { return false; }
  hipops_status begin_capture(void*) override { return refuse_graphs(); }
  hipops_status end_capture(void*, void**) override { return refuse_graphs(); }
  hipops_status replay(void*, void*) override { return refuse_graphs(); }
  hipops_status destroy_graph(void*) override { return refuse_graphs(); }
  hipops_status kernels(void*, std::vector<KernelLaunch>*) override { return refuse_graphs(); }
  int launch(const KernelLaunch&, void*) override { return -1; }
};

}  // namespace

std::unique_ptr<DeviceTools> cpu_tools() { return std::make_unique<CpuTools>(); }

}  // namespace hipops
