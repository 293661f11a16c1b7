// @op@: y = 2 * x, element by element.
//
//   x, y    one shape of rank 0 to 8, any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64), rounded once
//   bytes   2 * elements * sizeof(element) must move
//
// any: a work-item processes single elements; neighbours process neighbours of the last dimension.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/@op@.hip -o @op@.co
#include "@op@.h"

#include "device/core/strided.h"

namespace hipops {
namespace {

template <class T>
HIPOPS_FN void @op@_any(const @Op@Args& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for (int64_t i = int64_t(block_index()) * k@Op@Block + thread_index(); i < a.walk.count; i += a.step) {
    const Offsets<k@Op@Operands> at = locate(a.walk, i);
    y[at.of[k@Op@Y]] = narrow<T>(2 * widen(x[at.of[k@Op@X]]));
  }
}

}  // namespace

#define KERNEL(name, T)                                       \
  HIPOPS_KERNEL(k@Op@Block) name(HIPOPS_ARGS(@Op@Args) a) {   \
    follow_launch_before();                                   \
    @op@_any<T>(a);                                           \
  }
HIPOPS_@OP@_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(@op@, @Op@Args, HIPOPS_@OP@_KERNELS)

}  // namespace hipops
