// gather: y[.., j, ..] = x[.., index[.., j, ..], ..] along dim.
//
//   y, index  one shape, any strides; index u8, i16, i32, u32 or i64
//   x         any strides, elements of 1, 2, 4 or 8 bytes; outside of dim no smaller than y
//   bytes     each index is read, and one element is read and written for it: 2 * sizeof(element) + sizeof(index) for
//             each element of y. An element of x that is alone in its cache line costs the line.
//
// An index that is the mark or out of range gives zero. The kernels:
//
//   few      up to 65536 accesses, 131072 in whole rows: one for each work-item. The path to the first load is most of
//            the launch.
//   any      an element at a time, any strides: each element of y has its own index, so its source may be anywhere in
//            x. Also short rows, if there are few or vectors do not fit.
//   rows     whole rows with an expanded index (stride 0 along the innermost dimension, which is contiguous in y and
//            x). Accesses have up to 16 bytes. The index and the offsets are computed once for several accesses.
//   shifted  such rows of 256 bytes or more that are not aligned to 8 bytes: still 16 bytes at a time
//            (device/move/shifted.h).
//   staged   if y is so large that nearly all of x is loaded anyway. A block copies a chunk of x to shared memory, and
//            reads elements there, by vectors of the index and of y. A scattered read costs one pass of a bank there,
//            and a pass of a cache line in a cache. If dim is innermost, a chunk is one or several rows. Otherwise it
//            is a panel of columns: 16 to 64 bytes of each row of x, or more if rows are few.
//   large    the same for chunks that need most of a compute unit's shared memory, or all of it.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/gather.hip -o gather.co
#include "gather.h"

#include "device/move/take.h"
#include "device/move/take_staged.h"

namespace hipops {

#define KERNEL(name, bits, mode, block)                  \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(GatherArgs) a) { \
    follow_launch_before();                              \
    take_##mode<b##bits>(a);                             \
  }
HIPOPS_GATHER_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(gather, GatherArgs, HIPOPS_GATHER_KERNELS)

}  // namespace hipops
