// index_select: y[.., j, ..] = x[.., index[j], ..] along dim, for a 1-D index.
//
//   x, y    any strides, elements of 1, 2, 4 or 8 bytes; the same shape, except for dim, in which y has the index's
//           length
//   index   [n], any stride; u8, i16, i32, u32 or i64
//   bytes   each element of y is read from x and written: 2 * sizeof(element) for each. The index stays in the cache.
//
// An index that is the mark or out of range gives zeros. The kernels are gather's, with an index of stride 0 outside of
// dim:
//
//   few      the lookup of a token or a few.
//   rows     rows of an embedding table: dimensions behind dim are contiguous in y and x, and have 16 accesses or more.
//            Each work-item of a row loads the row's index, all but the first from the cache.
//   shifted  as gather's.
//   any      shorter rows, or elements at any strides, if dim is innermost or a dimension is not contiguous.
//   staged, large  dim is innermost. A block reads an index once for all rows that it copies together.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/index_select.hip -o index_select.co
#include "index_select.h"

#include "device/move/take.h"
#include "device/move/take_staged.h"

namespace hipops {

#define KERNEL(name, bits, mode, block)                       \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexSelectArgs) a) { \
    follow_launch_before();                                   \
    take_##mode<b##bits>(a);                                  \
  }
HIPOPS_INDEX_SELECT_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(index_select, IndexSelectArgs, HIPOPS_INDEX_SELECT_KERNELS)

}  // namespace hipops
