// Checks that a row's result does not depend on the rows beside it.
#pragma once

#include <string>

#include "parity/case_run.h"

namespace hipops::fuzz {

// Keeps about a quarter of the case's rows, some of them made extreme, and runs the case twice: first with the case's own
// elements in the other rows, then with extreme ones (zeros, NaN, infinities, the largest and the least numbers). The kept
// rows must have the same bits both times; any NaN equals any NaN. Returns "" or the first difference; adds to `rows` the rows it compared.
std::string compare_beside_others(Runtime& runtime, const parity::OpEntry& op, const parity::Case& test,
                                  parity::Guard guard, uint64_t seed, uint64_t* rows);

}  // namespace hipops::fuzz
