// Checks that a row's result does not depend on other rows.
#pragma once

#include <string>

#include "parity/case_run.h"

namespace hipops::fuzz {

// Runs the case twice. About a quarter of the rows are the same both times, and a part of them is extreme. The other
// rows hold the case's own elements first. Then they hold extreme elements: zeros, NaN, infinities, the largest and the
// smallest numbers. The results of the same rows must have the same bits; any NaN equals any NaN. Returns "" or the
// first difference, and adds the number of compared rows to `rows`.
std::string compare_beside_others(Runtime& runtime, const parity::OpEntry& op, const parity::Case& test,
                                  parity::Guard guard, uint64_t seed, uint64_t* rows);

}  // namespace hipops::fuzz
