// Runs one case again and again, on other streams and with other grids: what is deterministic gives the same bits.
#pragma once

#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

// All but scatter and scatter_add without HIPOPS_DETERMINISTIC.
bool is_deterministic(const Case& test);

// The null stream, and some others.
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

// `runs` runs, of which the first is held to the golden results, and the others to the first, bit for bit.
CaseResult repeat_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Streams& streams,
                       int runs);

}  // namespace hipops::parity
