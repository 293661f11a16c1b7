// rope_thd: rotary embedding on half-split pairs, heads inside tokens. In a row of token t, for 0 <= k < r / 2:
//   y[k]         = x[k] * cos[p, k] - x[k + r / 2] * sin[p, k];
//   y[k + r / 2] = x[k] * sin[p, k] + x[k + r / 2] * cos[p, k]        p = t, or positions[t]; y = x from element r on
//
//   x, y       [batch, tokens, heads, d], any strides; f32, f16, bf16, f64, computed in f32 (f64 in f64), rounded once.
//   cos, sin   [s, r / 2] or [batch, s, r / 2], r <= d, in x's type or f32, any strides.
//   positions  optional, [tokens] or [batch, tokens], i32 or i64; one outside the table makes the row's r elements NaN.
//   bytes      batch * tokens * heads * d * 2 * sizeof(element) must move (in place r for d); the tables are small
//
// The kernels are rope's (rope.hip). They number heads and tokens by strides, so neighbouring work-items have
// neighbouring rows in both layouts. Only the order of dimensions in the API differs.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rope_thd.hip -o rope_thd.co
#include "rope_thd.h"

#include "device/move/rope.h"

namespace hipops {

#define KERNEL(name, T, heads, bytes)                       \
  HIPOPS_KERNEL(kRopeBlock) name(HIPOPS_ARGS(RopeArgs) a) { \
    follow_launch_before();                                 \
    rope_kernel<RopeShape<T, heads, bytes, HalfSplit>>(a);  \
  }
HIPOPS_ROPE_THD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rope_thd, RopeArgs, HIPOPS_ROPE_THD_KERNELS)

}  // namespace hipops
