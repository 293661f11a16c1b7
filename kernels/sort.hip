// sort: the elements of each row in order, or their columns, or both. A stable sort.
//
//   x        any shape and strides. Elements have 1, 2, 4 or 8 bytes. Their kind is a uniform argument
//   outputs  x's shape, any strides
//   order    by keys of the elements' width (device/select/sort_keys.h). Short rows: by networks of comparisons, of 16 bits at
//            a time. Long rows: a digit of 8 bits at a time
//   bytes    short rows: x is read once. Long rows: the first pass reads each element twice, and stores 8 bytes. The next
//            passes read 8 bytes twice and store 8. The last one stores the results. f32 with i64 indices: 92 bytes
//
//   rows       rows of up to 4096 elements: in shared memory, in one launch (device/select/sort_rows.h)
//   count, offsets, partition   longer rows: three launches for each digit (device/select/sort_passes.h)
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/sort.hip -o sort.co
#include "sort.h"

#include "device/select/sort_passes.h"
#include "device/select/sort_rows.h"

namespace hipops {

#define KERNEL(name, function, block, resident)                      \
  HIPOPS_KERNEL(block, resident) name(HIPOPS_ARGS(SortRowsArgs) a) { \
    follow_launch_before();                                          \
    function(arguments_in_place(a));                                 \
  }
HIPOPS_SORT_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(sort, SortRowsArgs, HIPOPS_SORT_KERNELS)

}  // namespace hipops
