// Finds the shared library of a GPU runtime. hipops does not link to it, because the process may have its own copy, and
// hipops must use that one.
#pragma once

#include <string>

#include "hipops/hipops.h"

namespace hipops {

struct LibrarySearch {
  const char* stem;             // as "libamdhip64"
  const char* override_by;      // the environment variable that names a path, as "HIPOPS_HIP_LIBRARY"
  const char* const* sonames;   // in the order to try, ending with null
};

// Is never closed: GPU runtimes do not survive it.
struct SharedObject {
  void* handle = nullptr;
  std::string path;
  LibrarySearch search = {};  // the search that found it

  void* symbol(const char* name) const;
};

// Whether the process has loaded a copy of any version.
bool is_loaded(const char* stem);

// Opens the library that `override_by` names ("none": no library). Without it, the copy of any version that the process
// has loaded. Without a copy, the first of `sonames` that loads. HIPOPS_NO_DEVICE: none.
hipops_status open_shared_object(const LibrarySearch& search, SharedObject* out);

// fail_call() for a call of `object`. If the process has other copies of the library, the message names them: a stream
// of one copy means nothing to another.
__attribute__((cold)) hipops_status fail_call_of(const SharedObject& object, const char* call, int code,
                                                 const char* name, const char* words);

// Binds functions by name, and remembers the first missing one.
class Binder {
 public:
  explicit Binder(const SharedObject& object) : object_(object) {}

  template <class Function>
  void required(const char* name, Function** function) {
    optional(name, function);
    if (!*function && !missing_) missing_ = name;
  }

  template <class Function>
  void optional(const char* name, Function** function) {
    *function = reinterpret_cast<Function*>(object_.symbol(name));
  }

  // HIPOPS_NO_DEVICE: a required symbol is missing. The message names it and the library.
  hipops_status status() const;

 private:
  const SharedObject& object_;
  const char* missing_ = nullptr;
};

}  // namespace hipops
