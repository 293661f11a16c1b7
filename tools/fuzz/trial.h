// Runs random cases in a child process, which a kernel may bring down. The parent never touches a runtime, so that each
// child has a fresh one.
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
  std::vector<parity::OpEntry> ops;  // taken in turn
  hipops_backend backend = HIPOPS_BACKEND_CPU;
  parity::Guard guard = parity::Guard::kZones;
  uint64_t seed = 1;
  int64_t most_elements = 4096;
};

enum class Ending { kPassed, kFailed, kDied, kNoBackend };

struct Trial {
  Ending ending = Ending::kPassed;
  uint64_t passed = 0;                // cases
  uint64_t rows = 0;                  // rows that had the same bits beside extreme rows (neighbours.h)
  uint64_t number = 0;                // the case that failed
  std::vector<uint64_t> choices;      // what it was made of
  std::string text;                   // why it failed, or there is no backend; or the device, where all is well
  hipops_status status = HIPOPS_SUCCESS;  // of the backend, where there is none
  bool beside_others = false;         // whether it failed beside extreme rows alone (neighbours.h)
};

// Random cases are small: half of the turns of an op take what many rows and large tensors take, and half what many
// indices take (hipops-parity --many-rows, --ordered).
struct Plan {
  bool as_many, ordered;
};
Plan plan_of(const Setting& setting, uint64_t number);

const parity::OpEntry& op_of(const Setting& setting, uint64_t number);

// The cases from `first` on, until one fails.
Trial try_cases(const Setting& setting, uint64_t first, uint64_t count);

// The case that these choices make, of the op that `number` has. What the child prints is not shown.
Trial try_choices(const Setting& setting, uint64_t number, const std::vector<uint64_t>& choices);

// A case that fails, made small.
Trial shrink_trial(const Setting& setting, Trial failed, int most_runs);

}  // namespace hipops::fuzz
