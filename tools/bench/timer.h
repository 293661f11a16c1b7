// Times a call on the device and on the host, as docs/benchmarks.md says.
#pragma once

#include <map>
#include <vector>

#include "operands.h"

namespace hipops::bench {

constexpr int64_t kSmallBytes = int64_t{4} << 20;  // rows that move less are timed inside a graph
constexpr int64_t kFlushBytes =
    int64_t{256} << 20;        // written between calls, to evict the operands from L2
constexpr int kLaunches = 50;  // in a graph

double median(std::vector<double> values);

// Of one call, in microseconds: the library's (check, choose, launch), and the driver's own launches of the same
// kernels with the same arguments.
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

  // The median of `repeats` calls that move `bytes`, in microseconds. L2 is cold, unless the bytes are too few to time
  // one call: then calls are timed inside a graph.
  double microseconds(const Call& call, int64_t moved) { return microseconds(call, moved, repeats_); }
  double microseconds(const Call& call, int64_t moved, int repeats);
  double warm(const Call& call) { return in_graph(call, repeats_); }

  // The fastest plain copy that moves as many bytes, half read and half written: the runtime's own, or an elementwise
  // kernel. Measured once.
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
  std::unique_ptr<Memory> source_, target_;  // of the roof's copies; they grow
  std::map<int64_t, double> roofs_;
  std::vector<void*> events_;
};

}  // namespace hipops::bench
