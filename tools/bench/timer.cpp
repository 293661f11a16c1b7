#include "timer.h"

#include <algorithm>
#include <chrono>

#include "parity/buffer.h"

namespace hipops::bench {
namespace {

using parity::expect_success;

constexpr int kWarmUps = 3;
constexpr int kHostBatch = 100;  // calls between two waits for the device, so that its queue never is full

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Timer::Timer(const Device& device, int repeats) : device_(device), repeats_(repeats), flush_(device, kFlushBytes) {
  events_.resize(2 * static_cast<size_t>(std::max(repeats, 15)));
  for (void*& event : events_) expect_success(device.tools->create_event(&event), "time");
}

Timer::~Timer() {
  for (void* event : events_) device_.tools->destroy_event(event);
}

double Timer::microseconds(const Call& call, int64_t moved, int repeats) {
  for (int i = 0; i < kWarmUps; ++i) expect_success(call(), "call");
  expect_success(device_.tools->synchronize(device_.stream), "warm up");
  return moved < kSmallBytes ? in_graph(call, repeats) : cold(call, repeats);
}

double Timer::cold(const Call& call, int repeats) {
  repeats = std::min(repeats, static_cast<int>(events_.size() / 2));
  for (size_t i = 0; i < static_cast<size_t>(repeats); ++i) {
    // Evicts lines that a call loaded with evict_last: they would stay in L2 for the next call.
    expect_success(device_.tools->synchronize(device_.stream), "run");
    expect_success(device_.tools->release_kept_lines(), "run");
    flush_.fill_with_words(0);
    expect_success(device_.tools->record(events_[2 * i], device_.stream), "time");
    expect_success(call(), "call");
    expect_success(device_.tools->record(events_[2 * i + 1], device_.stream), "time");
  }
  expect_success(device_.tools->synchronize(device_.stream), "run");
  std::vector<double> times;
  for (size_t i = 0; i < static_cast<size_t>(repeats); ++i) {
    float elapsed = 0;
    expect_success(device_.tools->milliseconds(events_[2 * i], events_[2 * i + 1], &elapsed), "time");
    times.push_back(elapsed * 1e3);
  }
  return median(times);
}

// The CPU has no graphs, and no launch time to hide, so its calls are timed one by one.
double Timer::in_graph(const Call& call, int repeats) {
  const bool graphs = device_.tools->has_graphs();
  const int launches = graphs && repeats > 1 ? kLaunches : 1;  // an emulator runs one repeat, and measures no time
  void* graph = graphs ? capture(call, launches) : nullptr;
  const Call all = [&]() -> hipops_status { return graphs ? device_.tools->replay(graph, device_.stream) : call(); };
  std::vector<double> times;
  between_events(all);
  for (int i = 0; i < repeats; ++i) times.push_back(between_events(all) / launches);
  if (graphs) expect_success(device_.tools->destroy_graph(graph), "destroy a graph");
  return median(times);
}

double Timer::between_events(const Call& call) {
  float elapsed = 0;
  expect_success(device_.tools->record(events_[0], device_.stream), "time");
  expect_success(call(), "call");
  expect_success(device_.tools->record(events_[1], device_.stream), "time");
  expect_success(device_.tools->synchronize(device_.stream), "run");
  expect_success(device_.tools->milliseconds(events_[0], events_[1], &elapsed), "time");
  return elapsed * 1e3;
}

void* Timer::capture(const Call& call, int times) {
  void* graph = nullptr;
  hipops_status status = HIPOPS_SUCCESS;
  expect_success(device_.tools->begin_capture(device_.stream), "capture");
  for (int i = 0; i < times && status == HIPOPS_SUCCESS; ++i) status = call();
  const hipops_status ended = device_.tools->end_capture(device_.stream, &graph);
  expect_success(status != HIPOPS_SUCCESS ? status : ended, "capture");
  return graph;
}

double Timer::roof(int64_t moved) {
  const int64_t bytes = std::max<int64_t>(moved / 2 / 16 * 16, 16);
  const auto known = roofs_.find(bytes);
  if (known != roofs_.end()) return known->second;
  if (!source_ || source_->bytes() < bytes) {
    source_.reset(), target_.reset();
    source_ = std::make_unique<Memory>(device_, round_up(bytes, kFlushBytes));
    target_ = std::make_unique<Memory>(device_, round_up(bytes, kFlushBytes));
    source_->fill_with_numbers();
  }
  const hipops_tensor source = contiguous(source_->data(), HIPOPS_F32, {bytes / 4}),
                      target = contiguous(target_->data(), HIPOPS_F32, {bytes / 4});
  const Call by_runtime = [&] {
    return device_.tools->copy_on_device(target.data, source.data, static_cast<size_t>(bytes), device_.stream);
  };
  const Call by_kernel = [&] { return hipops_strided_copy(&target, &source, device_.stream); };
  return roofs_[bytes] = std::min(microseconds(by_runtime, moved), microseconds(by_kernel, moved));
}

HostTime Timer::host(const Call& call, int calls) {
  expect_success(call(), "call");
  expect_success(device_.tools->synchronize(device_.stream), "run");
  void* graph = capture(call, 1);
  std::vector<KernelLaunch> kernels;
  expect_success(device_.tools->kernels(graph, &kernels), "kernels of a call");
  std::vector<double> ours, raw;
  while (static_cast<int>(ours.size()) < calls) {
    for (int i = 0; i < kHostBatch; ++i) {
      const Clock::time_point start = Clock::now();
      const hipops_status status = call();
      ours.push_back(microseconds_since(start));
      expect_success(status, "call");
    }
    expect_success(device_.tools->synchronize(device_.stream), "run");
    for (int i = 0; i < kHostBatch; ++i) {
      int code = 0;
      const Clock::time_point start = Clock::now();
      for (const KernelLaunch& kernel : kernels) code |= device_.tools->launch(kernel, device_.stream);
      raw.push_back(microseconds_since(start));
      if (code != 0) throw parity::RuntimeFailure("the driver's own launch fails with " + std::to_string(code));
    }
    expect_success(device_.tools->synchronize(device_.stream), "run");
  }
  expect_success(device_.tools->destroy_graph(graph), "destroy a graph");
  return {median(ours), median(raw), static_cast<int>(kernels.size())};
}

}  // namespace hipops::bench
