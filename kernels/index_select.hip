// index_select: y[.., j, ..] = x[.., index[j], ..] along dim, for a 1-D index.
//
//   x, y    any strides, elements of 1, 2, 4 or 8 bytes; one shape, but for the index's length in dim
//   index   [n], any stride; u8, i16, i32, u32 or i64
//   bytes   each element of y is read from x and written: 2 * sizeof(element) for each. The index stays in the cache.
//
// An index that is the mark or out of range gives zeros. By its code it is gather with an index of stride 0 off dim.
//
//   few     up to 65536 units, 131072 of rows, each by a work-item of its own, as gather has it: what is looked up for a
//           token or a few.
//   rows    where what lies behind dim is contiguous in y and x, and of 16 units or more, of up to 16 bytes as
//           alignment allows: rows of an embedding table. A work-item takes some units of one row, whose index it reads
//           anew: it is in the cache for all but the first.
//   shifted the same of rows of 256 bytes and more that are not aligned to 8: 16 bytes at a time all the same, see
//           device/move/shifted.h.
//   any     units by themselves: of shorter rows, or elements at any strides, where dim is innermost or something is
//           not contiguous.
//   staged, large  dim is innermost, and x's rows go through shared memory: see gather.hip. An index that a block reads is
//           for all rows that it copies together.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/index_select.hip -o index_select.co
#include "index_select.h"

#include "device/move/take.h"
#include "device/move/take_staged.h"

namespace hipops {

#define KERNEL(name, T, mode, block)                          \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexSelectArgs) a) { \
    follow_launch_before();                                   \
    take_##mode<T>(a);                                        \
  }
HIPOPS_INDEX_SELECT_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(index_select, IndexSelectArgs, HIPOPS_INDEX_SELECT_KERNELS)

}  // namespace hipops
