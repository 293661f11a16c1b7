// The rows of the benchmark. compare.py measures the same rows and adds PyTorch's times.
#pragma once

#include <vector>

#include "workload.h"

namespace hipops::bench {

std::vector<Workload> table();

}  // namespace hipops::bench
