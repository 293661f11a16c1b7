// gather: y[.., j, ..] = x[.., index[.., j, ..], ..] along dim.
//
//   y, index  one shape, any strides; index u8, i16, i32, u32 or i64
//   x         any strides, elements of 1, 2, 4 or 8 bytes; off dim no smaller than y
//   bytes     each index is read, and an element read and written for it: 2 * sizeof(element) + sizeof(index) for each
//             element of y. An element of x that is alone in its cache line costs the line.
//
// An index that is the mark or out of range gives zero.
//
//   any   b8 to b64: an element at a time, of any strides. Most gathers: each element has an index of its own, so that
//         its neighbour in y comes from anywhere in x.
//   wide  b128: vectors of 16 bytes, where the index is the same (stride 0) along the innermost dimension, while y and
//         x are contiguous and aligned there: rows taken whole by an expanded index. Rows that are aligned to 2, 4 or 8
//         bytes go by `any`, with so many bytes for an element.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/gather.hip -o gather.co
#include "gather.h"

#include "device/take.h"

namespace hipops {

#define KERNEL(name, T) \
  HIPOPS_KERNEL(kTakeBlock) name(HIPOPS_ARGS(GatherArgs) a) { take<T>(a); }
HIPOPS_GATHER_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(gather, GatherArgs, HIPOPS_GATHER_KERNELS)

}  // namespace hipops
