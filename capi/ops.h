// The list of ops, for what concerns all of them: hipops_prepare, hipops_supports and the tests. The build writes it
// (tools/cmake/registry.cmake): capi/<op>.cpp defines op_<op>.
#pragma once

#include "runtime/runtime.h"

namespace hipops {

extern Op* const all_ops[];
extern const int op_count;

}  // namespace hipops
