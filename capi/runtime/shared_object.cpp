#include "runtime/shared_object.h"

#include <dlfcn.h>
#include <link.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tensor/error_state.h"

namespace hipops {
namespace {

// "libamdhip64.so.6.1" and, as repaired Python wheels name it, "libamdhip64-0a1b2c3d.so.6" for the stem "libamdhip64".
bool is_named(const char* path, const char* stem) {
  const char* slash = std::strrchr(path, '/');
  const char* rest = slash ? slash + 1 : path;
  size_t length = std::strlen(stem);
  if (std::strncmp(rest, stem, length) != 0) return false;
  rest += length;
  if (*rest == '-') {
    ++rest;
    while (std::isxdigit(static_cast<unsigned char>(*rest))) ++rest;
  }
  return !std::strncmp(rest, ".so", 3) && (rest[3] == '\0' || rest[3] == '.');
}

struct LoadedCopy {
  const char* stem;
  std::string path;
};

// Runs under the loader's lock, so it only copies the path.
int note_loaded(dl_phdr_info* info, size_t, void* data) {
  auto* copy = static_cast<LoadedCopy*>(data);
  if (!info->dlpi_name || !is_named(info->dlpi_name, copy->stem)) return 0;
  try {
    copy->path = info->dlpi_name;
  } catch (...) {
    return 0;  // out of memory counts as not found: no exception may pass the C frames of the loader
  }
  return 1;
}

struct OtherCopies {
  const SharedObject& called;
  int count;
  char paths[1024];  // no std::string: the message of a failed launch must not throw
};

int note_other(dl_phdr_info* info, size_t, void* data) {
  auto* others = static_cast<OtherCopies*>(data);
  const char* path = info->dlpi_name;
  if (!path || !is_named(path, others->called.search.stem) || others->called.path == path) return 0;
  const size_t used = std::strlen(others->paths);
  std::snprintf(others->paths + used, sizeof others->paths - used, "%s%s", others->count++ ? ", " : "", path);
  return 0;
}

const char* loader_words() {
  const char* words = dlerror();
  return words ? words : "unknown reason";
}

void set_object(void* handle, const char* name, SharedObject* out) {
  out->handle = handle;
  out->path = name;
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name) out->path = map->l_name;
}

bool open_loaded(const char* stem, SharedObject* out) {
  LoadedCopy copy{stem, {}};
  if (!dl_iterate_phdr(note_loaded, &copy)) return false;
  void* handle = dlopen(copy.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle) set_object(handle, copy.path.c_str(), out);
  return handle != nullptr;
}

// A runtime that is named, or that exists: the automatic choice does not pass over it.
hipops_status unusable(hipops_status status) {
  error_state().is_unusable = true;
  return status;
}

hipops_status open_by_soname(const LibrarySearch& search, SharedObject* out) {
  std::string tried, broken;
  for (const char* const* soname = search.sonames; *soname; ++soname) {
    if (void* handle = dlopen(*soname, RTLD_LAZY | RTLD_LOCAL)) {
      set_object(handle, *soname, out);
      return HIPOPS_SUCCESS;
    }
    // The loader's message begins with the name of the missing file. Another name: the library exists and lacks a
    // dependency.
    std::string words = loader_words();
    std::string absent = std::string(*soname) + ": cannot open shared object file";
    if (words.compare(0, absent.size(), absent) != 0) broken += "; " + words;
    tried += tried.empty() ? "" : ", ";
    tried += *soname;
  }
  return fail(HIPOPS_NO_DEVICE, "%s not found, tried %s%s; %s can name its path", search.stem, tried.c_str(),
              broken.c_str(), search.override_by);
}

}  // namespace

bool is_loaded(const char* stem) {
  LoadedCopy copy{stem, {}};
  return dl_iterate_phdr(note_loaded, &copy) != 0;
}

void* SharedObject::symbol(const char* name) const { return dlsym(handle, name); }

hipops_status open_shared_object(const LibrarySearch& search, SharedObject* out) {
  out->search = search;
  const char* path = secure_getenv(search.override_by);
  if (!path || !*path) return open_loaded(search.stem, out) ? HIPOPS_SUCCESS : open_by_soname(search, out);
  if (!std::strcmp(path, "none")) return fail(HIPOPS_NO_DEVICE, "%s is \"none\"", search.override_by);
  void* handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return unusable(fail(HIPOPS_NO_DEVICE, "%s is \"%s\", which cannot be loaded: %s", search.override_by, path,
                         loader_words()));
  set_object(handle, path, out);
  return HIPOPS_SUCCESS;
}

hipops_status fail_call_of(const SharedObject& object, const char* call, int code, const char* name,
                           const char* words) {
  const hipops_status status = fail_call(call, code, name, words);
  OtherCopies others = {object, 0, {}};
  dl_iterate_phdr(note_other, &others);
  if (others.count == 0) return status;
  return fail_with_code(status, code,
                        "%s; this process has %d copies of %s: hipops calls %s, not %s; streams and memory of one are "
                        "unknown to the others (%s can name the copy to call)",
                        hipops_last_error(), others.count + 1, object.search.stem, object.path.c_str(), others.paths,
                        object.search.override_by);
}

hipops_status Binder::status() const {
  if (!missing_) return HIPOPS_SUCCESS;
  return unusable(fail(HIPOPS_NO_DEVICE, "%s has no symbol %s", object_.path.c_str(), missing_));
}

}  // namespace hipops
