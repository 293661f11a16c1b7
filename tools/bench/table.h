// The rows that speed is judged by; compare.py has the same beside PyTorch.
#pragma once

#include <vector>

#include "workload.h"

namespace hipops::bench {

std::vector<Workload> table();

}  // namespace hipops::bench
