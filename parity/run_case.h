// Runs one case on the runtime in use, and returns its result.
#pragma once

#include <string>
#include <vector>

#include "parity/buffer.h"
#include "parity/golden.h"

namespace hipops::parity {

struct CaseResult {
  enum class Verdict { kPassed, kFailed, kSkipped };
  Verdict verdict = Verdict::kPassed;
  double worst_ulps = 0;
  std::string worst_output;  // "" if no element was compared
  int64_t worst_position = -1;
  std::string worst_index;           // "[2,17]"
  double ms = 0;                     // from the call until the device is done
  std::vector<std::string> reasons;  // of the failure or skip, one line each
};

CaseResult run_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard);

// The bytes of the case's tensors on the device, without guard zones.
uint64_t case_bytes(const Case& test);

}  // namespace hipops::parity
