// The calling thread's failure, for the few places that must add to it or put it back. Everybody else uses error.h.
#pragma once

#include "tensor/error.h"

namespace hipops {

// A plain buffer: thread-local storage with a destructor or on the heap would be one more thing to go wrong when a
// thread ends after dlclose, or when memory has run out.
struct ErrorState {
  int32_t runtime_code;
  bool is_unusable;  // a GPU runtime is named, or there, and of no use: HIPOPS_NO_DEVICE, but not as if it were absent
  char message[2048];
};

ErrorState& error_state();

// fail() for a refusal by the GPU runtime that has a status of its own, as HIPOPS_NO_DEVICE: `code` is kept.
__attribute__((cold, format(printf, 3, 4))) hipops_status fail_with_code(hipops_status status, int code,
                                                                         const char* format, ...);

// fail_runtime() for a call that gave `code`: with the runtime's name for that, and its words where they are others.
__attribute__((cold)) hipops_status fail_call(const char* call, int code, const char* name, const char* words);

// Puts words before the message of the failure that gave `status`, keeps its code, returns `status`.
__attribute__((cold, format(printf, 2, 3))) hipops_status fail_in_context(hipops_status status, const char* format,
                                                                          ...);

}  // namespace hipops
