// rope_thd: rotary embedding on half-split pairs, heads inside tokens. In a row of token t, for 0 <= k < r / 2:
//   y[k]         = x[k] * cos[p, k] - x[k + r / 2] * sin[p, k];
//   y[k + r / 2] = x[k] * sin[p, k] + x[k + r / 2] * cos[p, k]        p = t, or positions[t]; y = x from element r on
//
// x and y are [batch, tokens, heads, d]. Other tensors, types and the bytes that must move: see rope.hip.
//
// The kernels are rope's (rope.hip). They number heads and tokens by strides, so neighbouring work-items have
// neighbouring rows in both layouts. Only the order of dimensions in the API differs.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rope_thd.hip -o rope_thd.co
#include "rope_thd.h"

#include "device/move/rope.h"

namespace hipops {

#define KERNEL(name, T, heads, bytes)                       \
  HIPOPS_KERNEL(kRopeBlock, kRopeResident) name(HIPOPS_ARGS(RopeArgs) a) { \
    follow_launch_before();                                 \
    rope_kernel<RopeShape<T, heads, bytes, HalfSplit>>(a);  \
  }
HIPOPS_ROPE_THD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rope_thd, RopeArgs, HIPOPS_ROPE_THD_KERNELS)

}  // namespace hipops
