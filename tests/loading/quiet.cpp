// quiet LIBRARY: loading the library opens no file, reads no variable, starts no thread and loads no other library.
// This program exports its own versions of the functions for that, and the loader finds them first.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <cstdarg>

#include "host.h"

namespace {

int calls = 0;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
char* getenv(const char* name) {
  ++calls;
  return real<char*(const char*)>("getenv")(name);
}
char* secure_getenv(const char* name) {
  ++calls;
  return real<char*(const char*)>("secure_getenv")(name);
}
FILE* fopen(const char* path, const char* mode) {
  ++calls;
  return real<FILE*(const char*, const char*)>("fopen")(path, mode);
}
int open(const char* path, int flags, ...) {
  ++calls;
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return real<int(const char*, int, unsigned)>("open")(path, flags, mode);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  ++calls;
  return real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(thread, attributes,
                                                                                                 body, argument);
}
}
#pragma GCC visibility pop

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  Library library(argv[1], RTLD_NOW | RTLD_LOCAL);
  std::printf("%d calls\n", calls);
  EXPECT(calls == 0);
  library.use();
  std::printf("%d calls in the first use\n", calls);
  EXPECT(calls > 0);  // this program's versions are in use
}
