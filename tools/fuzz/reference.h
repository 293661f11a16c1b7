// What an op must give, by its definition in hipops.h: loops over elements in long double, or in the type whose
// roundings the definition speaks of. Nothing of the library takes part.
#pragma once

#include <string>

#include "parity/golden.h"

namespace hipops::fuzz {

// Fills in the values, scales and tolerance of the case's outputs, which have their layouts.
void expect(const std::string& op, parity::Case* test);

}  // namespace hipops::fuzz
