// Runs random cases in a child process, because a kernel may crash it. The parent never uses a runtime, so each child
// starts with a fresh one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parity/buffer.h"
#include "parity/choices.h"
#include "parity/ops.h"

namespace hipops::fuzz {

struct Setting {
  std::vector<parity::OpEntry> ops;  // case i is of op i modulo the number of ops
  hipops_backend backend = HIPOPS_BACKEND_CPU;
  parity::Guard guard = parity::Guard::kZones;
  uint64_t seed = 1;
  int64_t most_elements = 4096;
};

enum class Ending { kPassed, kFailed, kDied, kNoBackend };

struct Trial {
  Ending ending = Ending::kPassed;
  uint64_t passed = 0;                // cases
  uint64_t rows = 0;                  // rows that had the same bits among extreme rows (neighbours.h)
  uint64_t number = 0;                // the case that failed
  std::vector<uint64_t> choices;      // the choices that made it
  std::string text;                   // the failure, or why there is no backend; if all passed: the device
  hipops_status status = HIPOPS_SUCCESS;  // why there is no backend
  bool beside_others = false;         // it failed only among extreme rows (neighbours.h)
};

// Random cases are small. So every second case of an op uses the kernels for many rows (hipops-parity --many-rows).
// Two of four cases use the kernels for many indices (--ordered).
struct Plan {
  bool as_many, ordered;
};
Plan plan_of(const Setting& setting, uint64_t number);

const parity::OpEntry& op_of(const Setting& setting, uint64_t number);

// Runs cases from `first` on, until one fails.
Trial try_cases(const Setting& setting, uint64_t first, uint64_t count);

// Runs the case that these choices make, of the op of case `number`. Hides the child's output.
Trial try_choices(const Setting& setting, uint64_t number, const std::vector<uint64_t>& choices);

// Makes the failed case smaller.
Trial shrink_trial(const Setting& setting, Trial failed, int most_runs);

}  // namespace hipops::fuzz
