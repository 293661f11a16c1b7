// Runs cases on many threads at once, each on a stream of its own.
#pragma once

#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

struct ThreadCase {
  const OpEntry* op;
  const Case* test;
};

// Thread i runs cases[i] on device i, modulo their number. All call at the same moment. The result is that of the first
// case, with the failures of all.
CaseResult run_on_threads(Runtime& runtime, const std::vector<ThreadCase>& cases, Guard guard);

// The cases for `threads` threads when number `index` of `all` is run: four threads run the same one, so that an op's
// first use is on several at once, and the others run cases spread over all ops.
std::vector<ThreadCase> company_of(const std::vector<ThreadCase>& all, size_t index, int threads);

}  // namespace hipops::parity
