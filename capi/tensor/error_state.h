// The calling thread's last failure, for the few places that must extend or restore it. All others use error.h.
#pragma once

#include "tensor/error.h"

namespace hipops {

// A plain buffer. A destructor could run when a thread ends after dlclose, and heap memory may have run out.
struct ErrorState {
  int32_t runtime_code;
  bool is_unusable;  // HIPOPS_NO_DEVICE, but a GPU runtime is present or named: it cannot be used
  char message[2048];
};

ErrorState& error_state();

// fail_with_code() for a runtime call that returned `code`. `name` is the runtime's name of the code. `words`, its
// description, is added if it differs from the name.
__attribute__((cold)) hipops_status fail_call(const char* call, int code, const char* name, const char* words);

// Inserts text before the message of the failure that returned `status`. Keeps its code and returns `status`.
__attribute__((cold, format(printf, 2, 3))) hipops_status fail_in_context(hipops_status status, const char* format,
                                                                          ...);

}  // namespace hipops
