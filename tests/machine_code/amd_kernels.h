// The kernels of an op that AMD's code objects have.
#pragma once

#include <set>
#include <string>

#include "runtime/runtime.h"

namespace hipops_test {

inline std::set<std::string> amd_kernels(const hipops::Op& op) {
  std::set<std::string> names;
  for (int i = 0; i < op.kernel_count; ++i)
    if (!op.is_off_amd(i)) names.insert(op.kernel_names[i]);
  return names;
}

}  // namespace hipops_test
