/* A framework that uses hipops where it finds it, and does without where it does not. C99, no link-time dependency:
 *
 *   cc -I include docs/examples/dlopen.c -o example -ldl
 *   ./example build/release/lib/libhipops.so.0
 */
#include <dlfcn.h>
#include <hipops/hipops.h>
#include <stdio.h>
#include <string.h>

/* The functions in use. Their types come from the header, so that a wrong call does not compile. */
static struct {
  __typeof__(hipops_init)* init;
  __typeof__(hipops_softmax)* softmax;
  __typeof__(hipops_last_error)* last_error;
  __typeof__(hipops_version_number)* version_number;
} hipops;

static int find(void* library, const char* name, void* function) {
  void* address = dlsym(library, name);
  if (!address) return fprintf(stderr, "%s\n", dlerror()), 0;
  memcpy(function, &address, sizeof address); /* ISO C has no cast from an object pointer to a function pointer */
  return 1;
}

static int load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "no hipops: %s\n", dlerror()), 0;
  if (!find(library, "hipops_init", &hipops.init) || !find(library, "hipops_softmax", &hipops.softmax) ||
      !find(library, "hipops_last_error", &hipops.last_error) ||
      !find(library, "hipops_version_number", &hipops.version_number))
    return 0;
  /* Before 1.0 a minor version may change the ABI. */
  return hipops.version_number() / 100 == (10000 * HIPOPS_VERSION_MAJOR + 100 * HIPOPS_VERSION_MINOR) / 100;
}

int main(int argc, char** argv) {
  float scores[2][3] = {{1, 1, 1}, {0, 0, -1e30f}};
  hipops_tensor view = {scores, HIPOPS_F32, 2, {2, 3}, {3, 1}}; /* on a GPU: device memory, and the stream below */
  if (!load(argc > 1 ? argv[1] : "libhipops.so.0")) return 1;
  if (hipops.init(HIPOPS_BACKEND_CPU) != HIPOPS_SUCCESS || hipops.softmax(&view, &view, 0, NULL) != HIPOPS_SUCCESS) {
    fprintf(stderr, "%s\n", hipops.last_error());
    return 1;
  }
  printf("%g %g %g\n%g %g %g\n", scores[0][0], scores[0][1], scores[0][2], scores[1][0], scores[1][1], scores[1][2]);
  return 0;
}
