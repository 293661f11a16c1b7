// While an AsMany exists, small tensors get the kernels for large tensors, as with hipops-parity --many-rows.
// AsMany(false) restores the default.
#pragma once

#include "parity/temporary_options.h"

namespace hipops_test {

struct AsMany : hipops::TemporaryOptions {
  explicit AsMany(bool many = true) { options.small_apart = !many; }
};

}  // namespace hipops_test
