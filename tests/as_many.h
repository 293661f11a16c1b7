// While it lives, kernels are chosen as for large tensors (hipops-parity --many-rows), or by default.
#pragma once

#include "policy/plan_options.h"

namespace hipops_test {

struct AsMany : hipops::TemporaryOptions {
  explicit AsMany(bool many = true) { options.small_apart = !many; }
};

}  // namespace hipops_test
