// While it lives, kernels are chosen as for large tensors (hipops-parity --many-rows).
#pragma once

#include "count_as_many.h"

namespace hipops_test {

struct AsMany {
  AsMany() { hipops::rows_count_as_many = true; }
  ~AsMany() { hipops::rows_count_as_many = false; }
  AsMany(const AsMany&) = delete;
  AsMany& operator=(const AsMany&) = delete;
};

}  // namespace hipops_test
