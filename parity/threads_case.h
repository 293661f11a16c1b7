// Runs cases on many threads together, each on its own stream.
#pragma once

#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

struct ThreadCase {
  const OpEntry* op;
  const Case* test;
};

// Thread i runs cases[i] on device i, modulo the number of devices. All threads call at the same moment. Returns the
// first case's result, with the failures of all cases.
CaseResult run_on_threads(Runtime& runtime, const std::vector<ThreadCase>& cases, Guard guard);

// The cases for `threads` threads that run case `index` of `all`. Four threads run that case, so that several load an
// op at the same time. The others run cases spread over all ops.
std::vector<ThreadCase> company_of(const std::vector<ThreadCase>& all, size_t index, int threads);

}  // namespace hipops::parity
