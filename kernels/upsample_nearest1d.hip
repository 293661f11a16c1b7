// upsample_nearest1d: y[n, c, i] = x[n, c, source(i)].
//
//   x, y     [n, c, l] and [n, c, l'], any strides; elements of 1, 2, 4 or 8 bytes, moved as bits
//   source   i * ratio, rounded down: in f32 as in PyTorch, in f64 as in candle, or (i + 0.5) * ratio (PyTorch's
//            nearest-exact). The host computes the ratio. If it is 1, 1/2, 1/4, .., the source is i >> s
//   bytes    y is written once; only sources are read, and repeated sources come from the caches.
//
// The launcher orders dimensions by y's strides. The kernels:
//
//   row    stores 16 bytes of y at a time; the innermost dimension has no gaps and is aligned. A work-item stores the
//          same place of several neighbouring rows, and computes once which elements of x are its sources, most of the
//          arithmetic. If the dimension becomes twice or four times longer, the sources are one load of a half or a
//          quarter of the width. If it keeps its size, without gaps in x (channels last), accesses of up to 16 bytes
//          (b128) replace elements. If one of the next two dimensions repeats every element of x an even number of
//          times, each vector is stored twice for each load.
//   run    stores 16 bytes at a time; y as a whole has no gaps, and its rows are not whole vectors. A work-item has one
//          vector, of one row or of two, in up to two parts of y. Elements after the last whole vector are moved one by one
//          (device/move/upsample_periods.h).
//   apart  the same with 8 bytes, if y's innermost dimension is smaller than x's, by 1.75 at least, or rows are shorter
//          than a vector.
//   tile   stores 16 bytes at a time; neither y nor x has gaps, and y needs much of x. For ratios and sizes for which
//          `row` would move elements one by one (device/move/upsample_tile.h).
//   few    moves accesses of an element, or of up to 16 bytes; y as a whole has no gaps, and up to 393216 accesses (or
//          262144). The path to the first load is most of the launch. Also for rows shorter than 8 bytes.
//   any    moves accesses of an element, or of up to 8 bytes, at any strides.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/upsample_nearest1d.hip -o upsample_nearest1d.co
#include "upsample_nearest1d.h"

#include "device/move/upsample_periods.h"
#include "device/move/upsample_tile.h"

namespace hipops {

#define KERNEL(name, bits, mode, block)                                                       \
  HIPOPS_KERNEL(block, upsample_resident(kUpsampleResident_##mode, bits)) name(HIPOPS_ARGS(UpsampleNearest1dArgs) a) { \
    follow_launch_before();                                                                   \
    upsample_##mode<b##bits>(a);                                                              \
  }
HIPOPS_UPSAMPLE_NEAREST1D_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(upsample_nearest1d, UpsampleNearest1dArgs, HIPOPS_UPSAMPLE_NEAREST1D_KERNELS)

}  // namespace hipops
