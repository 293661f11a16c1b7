// Replaces cpu/ in a build without the CPU runtime.
#include "tensor/error.h"
#include "runtime/runtime.h"

hipops_status hipops::open_cpu(Runtime**) {
  return fail(HIPOPS_NO_DEVICE, "cpu: this build of hipops is without the CPU runtime");
}
