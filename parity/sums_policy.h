// How sums by an index go with --many-rows and --ordered.
#pragma once

#include "policy/policy.h"

namespace hipops::parity {

inline SumsPolicy sums_policy(bool many_rows, bool ordered) {
  const bool by_default = !many_rows && !ordered;
  return {by_default, by_default, many_rows};
}

}  // namespace hipops::parity
