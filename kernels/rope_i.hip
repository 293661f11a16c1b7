// rope_i: rotary embedding on neighbouring pairs (GPT-J's layout). In a row of token t, for 0 <= k < r / 2:
//   y[2k]     = x[2k] * cos[p, k] - x[2k + 1] * sin[p, k];
//   y[2k + 1] = x[2k] * sin[p, k] + x[2k + 1] * cos[p, k]        p = t, or positions[t]; y = x from element r on
//
// Tensors, their types and the bytes that must move: see rope.hip.
//
// Whole pairs are in a work-item's registers, so a row can be rotated in place. wide kernels move vectors of 16 bytes.
// wide_2 handles two heads at a time, with common cosines and sines; wide_1 handles one, for odd numbers of heads. One
// vector is too little to have in flight. Two neighbouring vectors would store half of each line at a time. any kernels
// move a pair at any stride. See rope.hip.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rope_i.hip -o rope_i.co
#include "rope_i.h"

#include "device/move/rope.h"

namespace hipops {

#define KERNEL(name, T, heads, bytes)                        \
  HIPOPS_KERNEL(kRopeBlock, kRopeResident) name(HIPOPS_ARGS(RopeArgs) a) {  \
    follow_launch_before();                                  \
    rope_kernel<RopeShape<T, heads, bytes, Interleaved>>(a); \
  }
HIPOPS_ROPE_I_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rope_i, RopeArgs, HIPOPS_ROPE_I_KERNELS)

}  // namespace hipops
