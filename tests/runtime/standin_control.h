// The stand-in libamdhip64 in a child process of a test: the environment that selects it, and the functions that
// control it.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "in_child.h"
#include "runtime/standin_amdhip/standin.h"

namespace hipops_test {

// HIPOPS_STANDIN, HIPOPS_STANDIN_HIP5 and HIPOPS_STANDIN_WITHOUT_LAUNCH are the paths of the three builds, from CMake.
inline Environment standin_environment(Environment more = {}, const char* library = HIPOPS_STANDIN) {
  Environment all = {{"HIPOPS_BACKEND", "hip"},      {"HIPOPS_HIP_LIBRARY", library}, {"STANDIN_ARCH", ""},
                     {"HIPOPS_CODE_OBJECT_DIR", ""}, {"STANDIN_FAIL", ""}};
  for (auto& entry : more) all[entry.first] = entry.second;
  return all;
}

class Standin {
 public:
  explicit Standin(const char* library = HIPOPS_STANDIN) : handle_(dlopen(library, RTLD_LAZY)) {
    if (!handle_) throw std::runtime_error(dlerror());
    bind("standin_call_count", &call_count);
    bind("standin_reset", &reset);
    bind("standin_fail", &fail);
    bind("standin_observe", &observe);
    bind("standin_live_modules", &live_modules);
    bind("standin_live_allocations", &live_allocations);
    bind("standin_pending_error", &pending_error);
    bind("standin_capturing", &capturing);
    bind("standin_capture_mode", &capture_mode);
  }

  decltype(&standin_call_count) call_count;
  decltype(&standin_reset) reset;
  decltype(&standin_fail) fail;
  decltype(&standin_observe) observe;
  decltype(&standin_live_modules) live_modules;
  decltype(&standin_live_allocations) live_allocations;
  decltype(&standin_pending_error) pending_error;
  decltype(&standin_capturing) capturing;
  decltype(&standin_capture_mode) capture_mode;

 private:
  template <class Function>
  void bind(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (!*function) throw std::runtime_error(std::string("the stand-in lacks ") + name);
  }

  void* handle_;
};

}  // namespace hipops_test
