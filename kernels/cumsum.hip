// cumsum: inclusive sums along a dimension: y[i] = x[0] + .. + x[i]. A line is all of the dimension at one place of the
// others.
//
//   x        any shape and strides; f32, f16, bf16, summed in f32 and rounded once; f64 in f64; u8, i32, u32, i64
//   y        x's shape; x's type, or i64 if x has integers; any strides
//   bytes    x is read once, and y written once. If lines are few and long, x is read twice: one launch stores the sums
//            of chunks, and the next one begins each chunk with the sums before it
//   order    follows from the length of a line and its alignment. No grid changes a bit
//
//   lines     the dimension is contiguous in x and in y (device/reduce/cumsum_lines.h)
//   columns   otherwise: neighbouring lines are 16 bytes of x, or an element (device/reduce/cumsum_columns.h)
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/cumsum.hip -o cumsum.co
#include "cumsum.h"

#include "device/reduce/cumsum_columns.h"
#include "device/reduce/cumsum_lines.h"

namespace hipops {
namespace {

// The integers of a launch have `bytes` bytes. The branch is uniform.
struct Integers {};
template <class T> constexpr bool has_bytes = false;
template <> [[maybe_unused]] constexpr bool has_bytes<Integers> = true;

template <class T>
HIPOPS_FN void run_lines(const CumsumArgs& a) {
  HIPOPS_SHARED(CumsumRoom, room, kLineRoom);
  if (a.is_short) scan_short_lines<T>(a);
  else if (a.only_sums) sum_chunks<T>(a, room);
  else scan_long_lines<T>(a, room);
}

template <class T>
HIPOPS_FN void scan_columns(const CumsumArgs& a, const Shared<CumsumRoom>& room) {
  if (a.is_wide) scan_columns<T, kCumsumVector<T>>(a, room);
  else scan_columns<T, 1>(a, room);
}
template <class T>
HIPOPS_FN void run_columns(const CumsumArgs& a) {
  if constexpr (!has_bytes<T>) {
    constexpr int kRoom = kCumsumBlock * (kCumsumVector<T> + 1) * int(sizeof(wide_t<T>) / sizeof(u32)) / 4;
    HIPOPS_SHARED(CumsumRoom, room, kRoom);
    scan_columns<T>(a, room);
  } else {
    HIPOPS_SHARED(CumsumRoom, room, kCumsumBlock * 5 / 2);  // five u64 a work-item
    if (a.bytes == 1) scan_columns<u8>(a, room);
    else if (a.bytes == 4) scan_columns<u32>(a, room);
    else scan_columns<u64>(a, room);
  }
}

// The blocks that a multiprocessor holds together: the compiler limits registers accordingly.
// Integers of one byte, and of several sizes, need more registers.
template <class T> [[maybe_unused]] constexpr int kResident_lines = sizeof(T) == 1 ? 1 : sizeof(number_t<T>) == 8 ? 2 : 3;
template <class T> [[maybe_unused]] constexpr int kResident_columns = has_bytes<T> || sizeof(T) == 8 ? 1 : 2;

}  // namespace

#define KERNEL(name, dtype, T, mode)                              \
  HIPOPS_KERNEL(kCumsumBlock, kResident_##mode<T>) name(HIPOPS_ARGS(CumsumArgs) a) { \
    follow_launch_before();                                       \
    run_##mode<T>(arguments_in_place(a));                         \
  }
HIPOPS_CUMSUM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(cumsum, CumsumArgs, HIPOPS_CUMSUM_KERNELS)

}  // namespace hipops
