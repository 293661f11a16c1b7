// reduce: sums, means, greatest and least elements or their positions, and log-sum-exp, over any set of dimensions.
//
//   x        any shape and strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   y        a result for each place of the dimensions that are kept; x's type, f32, or integers for positions; any strides
//   bytes    x is read once. y is far smaller
//   sums     trees: neither the grid nor the number of blocks changes a bit
//
//   rows      the innermost reduced dimension is contiguous (device/reduce/rows.h)
//   columns   otherwise: neighbouring results are 16 bytes of x, or an element (device/reduce/columns.h)
//   merge     where one block for each result is too few: a second launch, which adds parts of the results that the
//             first launch stored in the workspace (device/reduce/merge.h)
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/reduce.hip -o reduce.co
#include "reduce.h"

#include "device/reduce/columns.h"
#include "device/reduce/merge.h"
#include "device/reduce/rows.h"

namespace hipops {
namespace {

// Each kernel's code for a kind K.
template <class T>
struct Rows {
  const ReduceArgs& args;
  const Shared<ReduceRoom>& room;
  template <class K>
  HIPOPS_METHOD void run() const {
    if constexpr (sizeof(T) < sizeof(f64)) {  // of f64: one way, because gfx9 has few scalar registers
      if (args.short_rows) return reduce_short_rows<T, K>(args);
    }
    reduce_rows<T, K>(args, room);
  }
};
template <class T>
struct Columns {
  static constexpr int kLength = sizeof(T) == sizeof(f64) ? 1 : kWideBytes / int(sizeof(T));  // of f64: one layout
  static constexpr int kRoom = (kLength * 3 + 3) / 4;  // a Lane of f32 has up to three words
  const ReduceArgs& args;
  const Shared<ReduceRoom>& room;
  template <class K>
  HIPOPS_METHOD void run() const {
    if (kLength > 1 && args.is_wide) reduce_columns<T, kLength, K>(args, room);
    else reduce_columns<T, 1, K>(args, room);
  }
};
template <class T>
struct Merge {
  const ReduceArgs& args;
  const Shared<ReduceRoom>& room;
  template <class K>
  HIPOPS_METHOD void run() const { merge_parts<K>(args, room); }
};

template <class T>
HIPOPS_FN void run_rows(const ReduceArgs& a) {
  load_walk_arguments(a.results, a.kind, a.x, a.units, a.step, a.parts, a.partial, a.length, a.part_length, a.spans,
                      a.reduced.count, a.lanes, a.rows, a.deep);
  HIPOPS_SHARED(ReduceRoom, room, kReduceBlock);
  run_kind<compute_t<T>>(a, Rows<T>{a, room});
}
template <class T>
HIPOPS_FN void run_columns(const ReduceArgs& a) {
  load_walk_arguments(a.results, a.kind, a.x, a.units, a.parts, a.length, a.part_length, a.tiles, a.result_bits,
                      a.is_wide, a.partial, a.reduced.count, a.reduced.rank);
  HIPOPS_SHARED(ReduceRoom, room, kReduceBlock * Columns<T>::kRoom);
  run_kind<compute_t<T>>(a, Columns<T>{a, room});
}
template <class T>
HIPOPS_FN void run_merge(const ReduceArgs& a) {
  HIPOPS_SHARED(ReduceRoom, room, kReduceBlock);
  run_kind<T>(a, Merge<T>{a, room});
}

// The blocks that a multiprocessor holds together: the compiler limits registers accordingly.
template <class T> [[maybe_unused]] constexpr int kResident_rows = sizeof(T) == sizeof(f64) ? 2 : 3;
template <class T> [[maybe_unused]] constexpr int kResident_columns = 2;

}  // namespace

#define KERNEL(name, T, mode)                                                               \
  HIPOPS_KERNEL_UP_TO(kReduceBlock, kResident_##mode<T>) name(HIPOPS_ARGS(ReduceArgs) a) {  \
    follow_launch_before();                                                                 \
    run_##mode<T>(arguments_in_place(a));                                                   \
  }
HIPOPS_REDUCE_INPUT_KERNELS(KERNEL)
#undef KERNEL

// `merge` begins early: its few blocks are on the device when the launch ends that stores the parts.
#define KERNEL(name, T, mode)                                      \
  HIPOPS_KERNEL(kReduceBlock, 2) name(HIPOPS_ARGS(ReduceArgs) a) { \
    wait_for_launch_before();                                      \
    run_##mode<T>(arguments_in_place(a));                          \
  }
HIPOPS_REDUCE_MERGE_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(reduce, ReduceArgs, HIPOPS_REDUCE_KERNELS)

}  // namespace hipops
