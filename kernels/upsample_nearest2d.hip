// upsample_nearest2d: y[n, c, i, j] = x[n, c, source(i), source(j)].
//
//   x, y     [n, c, h, w] and [n, c, h', w'], any strides; elements of 1, 2, 4 or 8 bytes, moved as bits
//   source   i * ratio, rounded down: in f32 as in PyTorch, in f64 as in candle, or (i + 0.5) * ratio (PyTorch's
//            nearest-exact). The host computes the ratio of each dimension. If it is 1, 1/2, 1/4, .., the source is i
//            >> s
//   bytes    y is written once; only sources are read, and repeated sources come from the caches.
//
// upsample_nearest1d.hip explains the kernels. Here `run` also serves elements of 4 bytes and more if
// both dimensions are resized.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/upsample_nearest2d.hip -o upsample_nearest2d.co
#include "upsample_nearest2d.h"

#include "device/move/upsample_periods.h"
#include "device/move/upsample_tile.h"

namespace hipops {

#define KERNEL(name, bits, mode, block)                                                       \
  HIPOPS_KERNEL(block, upsample_resident(kUpsampleResident_##mode, bits)) name(HIPOPS_ARGS(UpsampleNearest2dArgs) a) { \
    follow_launch_before();                                                                   \
    upsample_##mode<b##bits>(a);                                                              \
  }
HIPOPS_UPSAMPLE_NEAREST2D_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(upsample_nearest2d, UpsampleNearest2dArgs, HIPOPS_UPSAMPLE_NEAREST2D_KERNELS)

}  // namespace hipops
