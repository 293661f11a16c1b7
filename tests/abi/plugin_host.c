/* A framework that loads the library by its path, uses it, unloads it, and does so again. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "hipops/hipops.h"

typedef hipops_status (*softmax_function)(const hipops_tensor* y, const hipops_tensor* x, uint32_t flags, void* stream);
typedef const char* (*text_function)(void);

/* ISO C has no cast from an object pointer to a function pointer. */
static int find(void* library, const char* name, void* function) {
  void* address = dlsym(library, name);
  if (!address) fprintf(stderr, "%s\n", dlerror());
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static int use(const char* path) {
  float data[4] = {1, 1, 1, 1};
  hipops_tensor t;
  softmax_function softmax;
  text_function last_error;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 0;
  if (!find(library, "hipops_softmax", &softmax) || !find(library, "hipops_last_error", &last_error)) return 0;
  if (dlsym(RTLD_DEFAULT, "hipops_softmax")) return fprintf(stderr, "RTLD_LOCAL is not kept\n"), 0;

  memset(&t, 0, sizeof t);
  t.data = data;
  t.dtype = HIPOPS_F32;
  t.rank = 1;
  t.shape[0] = 4;
  t.stride[0] = 1;
  if (softmax(&t, &t, 0, NULL) != HIPOPS_SUCCESS) return fprintf(stderr, "%s\n", last_error()), 0;
  if (data[0] != 0.25f || data[3] != 0.25f) return fprintf(stderr, "softmax of 1 1 1 1 is %g\n", data[0]), 0;
  if (softmax(&t, NULL, 0, NULL) != HIPOPS_INVALID_ARGUMENT) return fprintf(stderr, "x may be NULL\n"), 0;
  if (strcmp(last_error(), "softmax: x is NULL, expected a tensor") != 0)
    return fprintf(stderr, "%s\n", last_error()), 0;
  if (dlclose(library) != 0) return fprintf(stderr, "%s\n", dlerror()), 0;
  return 1;
}

int main(int argc, char** argv) { return argc == 2 && use(argv[1]) && use(argv[1]) ? 0 : 1; }
