// The list of all ops, for hipops_prepare, hipops_supports and the tests. The build generates it
// (tools/cmake/registry.cmake). capi/<op>.cpp defines op_<op>.
#pragma once

#include "runtime/runtime.h"

namespace hipops {

extern Op* const all_ops[];
extern const int op_count;

}  // namespace hipops
