// gather: y[.., j, ..] = x[.., index[.., j, ..], ..] along dim.
//
//   y, index  one shape, any strides; index u8, i16, i32, u32 or i64
//   x         any strides, elements of 1, 2, 4 or 8 bytes; off dim no smaller than y
//   bytes     each index is read, and an element read and written for it: 2 * sizeof(element) + sizeof(index) for each
//             element of y. An element of x that is alone in its cache line costs the line.
//
// An index that is the mark or out of range gives zero.
//
//   few     up to 65536 units, 131072 of rows, each by a work-item of its own: there the way to the first load is most of
//           the launch.
//   any     an element at a time, of any strides: where each has an index of its own, so that its neighbour in y comes
//           from anywhere in x; and short rows, where they are few or not taken by vectors.
//   rows    where the index is the same (stride 0) along the innermost dimension, which is contiguous in y and x: rows
//           taken whole by an expanded index, in units of up to 16 bytes, their index and offsets found once.
//   shifted the same of rows of 256 bytes and more that are not aligned to 8: 16 bytes at a time all the same, see
//           device/move/shifted.h.
//   staged  where y takes so much of x that it would be read anyway: a block copies a part of it to shared memory, and
//           takes elements from there, by vectors of the index and of y. Scattered reads cost a cache line's pass each
//           in a cache, and a bank's in shared memory. Along the innermost dimension such a part is one row or several,
//           along others a panel of columns, 16 to 64 bytes of each row of x, or more where those are few.
//   large   the same of parts for which a block needs most of a unit's shared memory, or all.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/gather.hip -o gather.co
#include "gather.h"

#include "device/move/take.h"
#include "device/move/take_staged.h"

namespace hipops {

#define KERNEL(name, T, mode, block)                     \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(GatherArgs) a) { \
    follow_launch_before();                              \
    take_##mode<T>(a);                                   \
  }
HIPOPS_GATHER_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(gather, GatherArgs, HIPOPS_GATHER_KERNELS)

}  // namespace hipops
