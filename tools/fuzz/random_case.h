// A random call of an op, as a case of a golden file: its tensors, their layouts and elements, and what must come of it.
#pragma once

#include "fuzz/choices.h"
#include "parity/golden.h"

namespace hipops::fuzz {

// `most_elements` bounds each tensor, roughly. The choice of a dtype is one of them.
parity::Case random_case(Choices& choices, const parity::OpEntry& op, int64_t most_elements);

}  // namespace hipops::fuzz
