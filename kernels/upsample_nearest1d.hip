// upsample_nearest1d: y[n, c, i] = x[n, c, source(i)].
//
//   x, y     [n, c, l] and [n, c, l'], any strides; elements of 1, 2, 4 or 8 bytes, moved as bits
//   source   i * ratio, rounded down: in f32 as PyTorch does, in f64 as candle does, or (i + 0.5) * ratio (PyTorch's
//            nearest-exact); the ratio is formed on the host, and where it is 1, 1/2, 1/4, .. the answer is i >> s
//   bytes    y is written once; of x is read what is used, and what is used often comes from the caches
//
// The launcher brings the dimensions into the order in which they lie in y. Then
//
//   row    stores 16 bytes of y at a time, where its innermost dimension has no gaps and is aligned. A work-item takes
//          the same place of several neighbouring rows, so that what most of the arithmetic is about, which elements of
//          x belong there, is found once. Where that dimension is doubled, or four times as long, they are one load of
//          a half or a quarter of the width; where it keeps its size and lies alike in x (channels last), units of up
//          to 16 bytes (b128) take the place of elements. Where the next dimension, or the one after it, has every
//          element of x an even number of times, what is read is stored twice for each.
//   run    stores 16 bytes at a time where y as a whole has no gaps, and its rows are not whole vectors. A work-item
//          has one vector, of one row or of two; what is after the last whole one goes by elements. See
//          device/move/upsample_periods.h.
//   apart  the same by 8 bytes at a time, where y's innermost dimension is made smaller, by 1.75 at least, or rows are
//          shorter than a vector.
//   tile   stores 16 bytes at a time where neither y nor x has gaps, and much of x is wanted, by ratios and at sizes for
//          which `row` would go by elements: see device/move/upsample_tile.h.
//   few    goes by elements, or units of up to 16 bytes, where y as a whole has no gaps and is up to 393216 of them
//          (or 262144): there the way to the first load is most of the launch. Also where rows are shorter than 8
//          bytes.
//   any    goes by elements, or units of up to 8 bytes, at any strides.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/upsample_nearest1d.hip -o upsample_nearest1d.co
#include "upsample_nearest1d.h"

#include "device/move/upsample_periods.h"
#include "device/move/upsample_tile.h"

namespace hipops {

#define KERNEL(name, bits, mode, block)                                                       \
  HIPOPS_KERNEL(block, kUpsampleResident_##mode) name(HIPOPS_ARGS(UpsampleNearest1dArgs) a) { \
    follow_launch_before();                                                                   \
    upsample_##mode<b##bits>(a);                                                              \
  }
HIPOPS_UPSAMPLE_NEAREST1D_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(upsample_nearest1d, UpsampleNearest1dArgs, HIPOPS_UPSAMPLE_NEAREST1D_KERNELS)

}  // namespace hipops
