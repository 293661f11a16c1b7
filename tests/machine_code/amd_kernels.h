// The kernels of an op that AMD's code objects have.
#pragma once

#include <set>
#include <string>

#include "runtime/runtime.h"

namespace hipops_test {

inline std::set<std::string> amd_kernels(const hipops::Op& op) {
  return {op.kernel_names, op.kernel_names + op.kernel_count};
}

}  // namespace hipops_test
