// How small golden cases go with --many-rows and --ordered.
#pragma once

#include "parity/temporary_options.h"

namespace hipops::parity {

// Like large tensors; with sums by an index in the order of the indices.
inline void set_other_ways(bool many_rows, bool ordered, PlanOptions* options) {
  const bool by_default = !many_rows && !ordered;
  options->sums = {by_default, by_default, many_rows};
  options->small_apart = !many_rows;
}

}  // namespace hipops::parity
