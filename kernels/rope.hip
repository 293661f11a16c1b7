// rope: rotary embedding on half-split pairs (GPT-NeoX's and Llama's layout). In a row of token t, for 0 <= k < r / 2:
//   y[k]         = x[k] * cos[p, k] - x[k + r / 2] * sin[p, k];
//   y[k + r / 2] = x[k] * sin[p, k] + x[k + r / 2] * cos[p, k]        p = t, or positions[t]; y = x from element r on
//
//   x, y       [batch, heads, tokens, d], any strides; f32, f16, bf16, f64, computed in f32 (f64 in f64), rounded once.
//   cos, sin   [s, r / 2] or [batch, s, r / 2], r <= d, in x's type or f32, any strides.
//   positions  optional, [tokens] or [batch, tokens], i32 or i64; one outside the table makes the row's r elements NaN.
//   bytes      batch * heads * tokens * d * 2 * sizeof(element) must move (in place r for d); the tables are small
//
// A work-item loads two vectors, one of each half, and stores them. So a row can be rotated in place, without a
// barrier. wide kernels move 16 bytes an access: rows, tables and both halves are aligned, and r / 2 is a multiple of
// the vector. any kernels move a pair at any stride. More heads for each work-item would load fewer cosines and sines,
// which are in the caches. But they need registers, and fewer work-items in flight cost more than loads from a cache.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rope.hip -o rope.co
#include "rope.h"

#include "device/move/rope.h"

namespace hipops {

#define KERNEL(name, T, heads, bytes)                       \
  HIPOPS_KERNEL(kRopeBlock, kRopeResident) name(HIPOPS_ARGS(RopeArgs) a) { \
    follow_launch_before();                                 \
    rope_kernel<RopeShape<T, heads, bytes, HalfSplit>>(a);  \
  }
HIPOPS_ROPE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rope, RopeArgs, HIPOPS_ROPE_KERNELS)

}  // namespace hipops
