// A case as the text of a golden file (format: parity/golden/README.md).
#pragma once

#include <string>

#include "parity/golden.h"

namespace hipops::fuzz {

std::string golden_text(const parity::OpEntry& op, const std::string& topic, const parity::Case& test);

}  // namespace hipops::fuzz
