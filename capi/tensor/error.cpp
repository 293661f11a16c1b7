#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tensor/error_state.h"

namespace hipops {
namespace {

thread_local ErrorState state;

// Formats to a buffer first, because the arguments may point into the message that is replaced.
void record(int code, const char* format, va_list arguments, const char* tail) {
  char text[sizeof state.message];
  int length = std::vsnprintf(text, sizeof text, format, arguments);
  if (length < 0) length = std::snprintf(text, sizeof text, "(message lost)");
  size_t used = static_cast<size_t>(length) < sizeof text ? static_cast<size_t>(length) : sizeof text - 1;
  std::snprintf(text + used, sizeof text - used, "%s", tail);
  std::memcpy(state.message, text, sizeof text);
  state.runtime_code = code;
  state.is_unusable = false;
}

}  // namespace

ErrorState& error_state() { return state; }

hipops_status fail(hipops_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(0, format, arguments, "");
  va_end(arguments);
  return status;
}

hipops_status fail_with_code(hipops_status status, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(code, format, arguments, "");
  va_end(arguments);
  return status;
}

hipops_status fail_call(const char* call, int code, const char* name, const char* words) {
  if (!name) name = "?";
  const bool says_more = words && *words && std::strcmp(words, name) != 0;
  return fail_with_code(HIPOPS_RUNTIME_ERROR, code, "%s: %s (%d)%s%s", call, name, code, says_more ? ": " : "",
                        says_more ? words : "");
}

hipops_status fail_in_context(hipops_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(state.runtime_code, format, arguments, state.message);
  va_end(arguments);
  return status;
}

}  // namespace hipops

const char* hipops_last_error(void) { return hipops::error_state().message; }

int32_t hipops_last_runtime_error(void) { return hipops::error_state().runtime_code; }

const char* hipops_status_string(hipops_status status) {
  switch (status) {
    case HIPOPS_SUCCESS: return "HIPOPS_SUCCESS";
    case HIPOPS_INVALID_ARGUMENT: return "HIPOPS_INVALID_ARGUMENT";
    case HIPOPS_UNSUPPORTED_DTYPE: return "HIPOPS_UNSUPPORTED_DTYPE";
    case HIPOPS_UNSUPPORTED_LAYOUT: return "HIPOPS_UNSUPPORTED_LAYOUT";
    case HIPOPS_NO_DEVICE: return "HIPOPS_NO_DEVICE";
    case HIPOPS_NO_CODE_OBJECT: return "HIPOPS_NO_CODE_OBJECT";
    case HIPOPS_RUNTIME_ERROR: return "HIPOPS_RUNTIME_ERROR";
    case HIPOPS_INTERNAL_ERROR: return "HIPOPS_INTERNAL_ERROR";
    case HIPOPS_STATUS_INT32: break;
  }
  return "unknown hipops_status";
}
