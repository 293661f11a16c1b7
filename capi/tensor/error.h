// Reports of failures: fail() stores the message for hipops_last_error() and returns the status.
#pragma once

#include "hipops/hipops.h"

namespace hipops {

// Records a message (printf) for the calling thread, clears the runtime's own code, returns `status`.
__attribute__((cold, format(printf, 2, 3))) hipops_status fail(hipops_status status, const char* format, ...);

// The same if the GPU runtime refused a call. Stores `code` for hipops_last_runtime_error().
__attribute__((cold, format(printf, 3, 4))) hipops_status fail_with_code(hipops_status status, int code,
                                                                         const char* format, ...);

}  // namespace hipops
