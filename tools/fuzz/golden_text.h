// A case as the text of a golden file (parity/golden/README.md is the format), which hipops-parity reads.
#pragma once

#include <string>

#include "parity/golden.h"

namespace hipops::fuzz {

std::string golden_text(const parity::OpEntry& op, const std::string& topic, const parity::Case& test);

}  // namespace hipops::fuzz
