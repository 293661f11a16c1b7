// The environment variables of the CPU runtime. Unset and empty mean the default.
#pragma once

#include "runtime/cpu/executor.h"
#include "runtime/cpu/memory.h"

namespace hipops {
namespace cpu {

// Reads HIPOPS_CPU_WAVE (32), HIPOPS_CPU_THREADS (the machine's number), HIPOPS_CPU_UNITS (2), HIPOPS_CPU_SEED (0),
// HIPOPS_CPU_RACE (0) and HIPOPS_CPU_GUARD (none). HIPOPS_INVALID_ARGUMENT: a value is not valid.
hipops_status settings_from_environment(Settings* settings, Guard* guard);

}  // namespace cpu
}  // namespace hipops
