/* What dlpack.py calls: the bridge, for a DLPack capsule's pointer. */
#include <hipops/hipops_dlpack.h>

hipops_status bridge(const DLManagedTensor* managed, hipops_backend backend, hipops_tensor* to) {
  return hipops_from_dlpack(&managed->dl_tensor, backend, to);
}
