// rope: rotary embedding on half-split pairs (GPT-NeoX's and Llama's layout). In a row of token t, for 0 <= k < r / 2:
//   y[k]         = x[k] * cos[p, k] - x[k + r / 2] * sin[p, k]
//   y[k + r / 2] = x[k] * sin[p, k] + x[k + r / 2] * cos[p, k]        p = t, or positions[t]; y = x from element r on
//
//   x, y       [batch, heads, tokens, d], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64), rounded once
//   cos, sin   [s, r / 2] or [batch, s, r / 2], r <= d, in x's type or f32, any strides
//   positions  optional, [tokens] or [batch, tokens], i32 or i64; one outside the table makes the row's r elements NaN
//   bytes      batch * heads * tokens * d * 2 * sizeof(element) must move (in place r for d); the tables are small
//
// A work-item reads two vectors, the two halves of some pairs, and writes them: so a row may be rotated where it is,
// and nobody waits. wide variants move 16 bytes an access: rows, tables and the two halves aligned, r / 2 a multiple of
// the vector. any variants take a pair at any stride. More heads a work-item would load fewer cosines and sines, which
// the caches have; but it takes registers, and fewer work-items at a time are slower than more loads of what is near.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rope.hip -o rope.co
#include "rope.h"

#include "device/move/rope.h"

namespace hipops {

#define KERNEL(name, T, heads, bytes)                       \
  HIPOPS_KERNEL(kRopeBlock) name(HIPOPS_ARGS(RopeArgs) a) { \
    follow_launch_before();                                 \
    rope_kernel<RopeShape<T, heads, bytes, HalfSplit>>(a);  \
  }
HIPOPS_ROPE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rope, RopeArgs, HIPOPS_ROPE_KERNELS)

}  // namespace hipops
