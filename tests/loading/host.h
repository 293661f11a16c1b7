// Helpers for programs that have hipops only by dlopen, as a framework has a plugin.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hipops/hipops.h"

// Ends the program with 1 unless the condition holds.
#define EXPECT(condition)                                                               \
  do {                                                                                  \
    if (condition) break;                                                               \
    std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
    std::exit(1);                                                                       \
  } while (false)

class Library {
 public:
  Library(const char* path, int mode) : handle_(dlopen(path, mode)) {
    if (handle_ == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    EXPECT(handle_ != nullptr);
    bind("hipops_init", &init);
    bind("hipops_softmax", &softmax);
    bind("hipops_prepare", &prepare);
    bind("hipops_last_error", &last_error);
    bind("hipops_backend_in_use", &backend_in_use);
  }
  void close() { EXPECT(dlclose(handle_) == 0); }

  // Loads every op's kernels. If HIPOPS_BACKEND is cpu, it also checks a result.
  void use() const {
    const hipops_status status = prepare(nullptr);
    if (status != HIPOPS_SUCCESS) std::fprintf(stderr, "%s\n", last_error());
    EXPECT(status == HIPOPS_SUCCESS);
    if (backend_in_use() != HIPOPS_BACKEND_CPU) return;
    float data[4] = {1, 1, 1, 1};
    hipops_tensor t = {data, HIPOPS_F32, 1, {4}, {1}};
    EXPECT(softmax(&t, &t, 0, nullptr) == HIPOPS_SUCCESS);
    EXPECT(data[0] == 0.25f && data[3] == 0.25f);
  }

  decltype(&hipops_init) init;
  decltype(&hipops_softmax) softmax;
  decltype(&hipops_prepare) prepare;
  decltype(&hipops_last_error) last_error;
  decltype(&hipops_backend_in_use) backend_in_use;

 private:
  template <class Function>
  void bind(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle_, name));
    EXPECT(*function != nullptr);
  }

  void* handle_;
};
