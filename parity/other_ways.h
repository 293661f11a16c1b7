// The options of --many-rows and --ordered, for small golden cases.
#pragma once

#include "parity/temporary_options.h"

namespace hipops::parity {

// many_rows: plans as for large tensors. ordered: sums by an index are sorted.
inline void set_other_ways(bool many_rows, bool ordered, PlanOptions* options) {
  const bool by_default = !many_rows && !ordered;
  options->sums = {by_default, by_default};
  options->small_apart = !many_rows;
}

}  // namespace hipops::parity
