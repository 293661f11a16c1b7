// Finds the shared library of a GPU runtime. hipops links to none: the process may have brought its own, and it must
// be that one.
#pragma once

#include <string>

#include "hipops/hipops.h"

namespace hipops {

struct LibrarySearch {
  const char* stem;             // as "libamdhip64"
  const char* override_by;      // the environment variable that names a path, as "HIPOPS_HIP_LIBRARY"
  const char* const* sonames;   // in the order to try, ending with null
};

// Stays open for good: GPU runtimes do not survive being unloaded.
struct SharedObject {
  void* handle = nullptr;
  std::string path;
  LibrarySearch search = {};  // that found it

  void* symbol(const char* name) const;
};

// Whether the process has loaded a copy, whatever its version.
bool is_loaded(const char* stem);

// The library that `override_by` names, none if that is "none"; else the copy that the process has loaded, whatever its
// version; else the first of `sonames` that loads. HIPOPS_NO_DEVICE where there is none.
hipops_status open_shared_object(const LibrarySearch& search, SharedObject* out);

// fail_call() for a call of `object`. Where the process has other copies of the library, the message says so: a stream of
// one copy means nothing to another.
__attribute__((cold)) hipops_status fail_call_of(const SharedObject& object, const char* call, int code,
                                                 const char* name, const char* words);

// Binds functions by name and remembers the first that is missing.
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

  // HIPOPS_NO_DEVICE naming the library and the symbol where a required one is missing.
  hipops_status status() const;

 private:
  const SharedObject& object_;
  const char* missing_ = nullptr;
};

}  // namespace hipops
