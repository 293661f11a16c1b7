// Times a call on the device and on the host. docs/benchmarks.md describes the method.
#pragma once

#include <map>
#include <vector>

#include "operands.h"

namespace hipops::bench {

constexpr int64_t kSmallBytes = int64_t{4} << 20;  // smaller rows are timed inside a graph
constexpr int64_t kFlushBytes =
    int64_t{256} << 20;        // written between calls, to evict the operands from L2
constexpr int kLaunches = 50;  // in a graph

double median(std::vector<double> values);

// Microseconds of one call in the library (check, choose, launch), and in the driver's launches of the same kernels
// with the same arguments.
struct HostTime {
  double call = 0;
  double driver = 0;
  int launches = 1;
  double over_a_launch() const { return (call - driver) / launches; }
};

// All functions throw parity::RuntimeFailure if a call or the runtime fails.
class Timer {
 public:
  Timer(const Device& device, int repeats);
  ~Timer();

  // The median of `repeats` calls that move `bytes`, in microseconds, with a cold L2. Calls that move too few bytes are
  // timed inside a graph, with a warm L2.
  double microseconds(const Call& call, int64_t moved) { return microseconds(call, moved, repeats_); }
  double microseconds(const Call& call, int64_t moved, int repeats);
  double warm(const Call& call) { return in_graph(call, repeats_); }

  // The time of the fastest plain copy that moves this number of bytes, half read and half written: the runtime's copy
  // or an elementwise kernel. Measured once.
  double roof(int64_t moved);

  HostTime host(const Call& call, int calls);

 private:
  double cold(const Call& call, int repeats);
  double in_graph(const Call& call, int repeats);
  double between_events(const Call& call);
  void* capture(const Call& call, int times);

  const Device& device_;
  const int repeats_;
  Memory flush_;
  std::unique_ptr<Memory> source_, target_;  // of the roof's copies; they grow on demand
  std::map<int64_t, double> roofs_;
  std::vector<void*> events_;
};

}  // namespace hipops::bench
