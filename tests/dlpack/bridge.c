/* The functions that dlpack.py calls, with the pointer of a DLPack capsule. */
#include <hipops/hipops_dlpack.h>

hipops_status bridge(const DLManagedTensor* managed, hipops_backend backend, hipops_tensor* to) {
  return hipops_from_dlpack(&managed->dl_tensor, backend, to);
}
