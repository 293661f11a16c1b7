// Runs one case several times, on other streams and with other grids. A deterministic case must give the same bits.
#pragma once

#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

// True for all cases except scatter and scatter_add without HIPOPS_DETERMINISTIC.
bool is_deterministic(const Case& test);

// The null stream, and some other streams.
class Streams {
 public:
  explicit Streams(Runtime& runtime);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  void* operator[](int run) const { return streams_[static_cast<size_t>(run) % streams_.size()]; }

 private:
  Runtime& runtime_;
  std::vector<void*> streams_;
};

// The first run must give the golden results, and the other runs must give the bits of the first.
CaseResult repeat_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Streams& streams,
                       int runs);

}  // namespace hipops::parity
