// topk: the k largest or smallest elements of each row, and their columns.
//
//   x        [.., columns]; f32, f16, bf16; any strides, fastest if columns are neighbours. It is compared and moved
//   values   [.., k], x's dtype; may be absent
//   indices  [.., k], i32, i64 or u32
//   bytes    x is read once, for k above 256 up to twice, above 2048 up to four times. values and indices are far smaller
//   order    by keys, which are integers (device/select/keys.h). Equal elements are in the order of columns. So neither
//            the grid nor the number of parts changes a result
//
//   wave        up to 1024 columns and k 128: a wave has a row in registers (device/select/wave_rows.h)
//   few, block  up to k 256 and 2048: a block has a row, or a part of it (device/select/block_rows.h). Few long rows
//               have parts, and `merge` selects among the elements that the parts selected. If the results are in order
//               and k is above 256, the parts sort their elements, and `merge_runs` merges them
//   many        k above: a block reads its row several times (device/select/many.h). `sort_runs` and `merge_runs` order
//               the elements
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/topk.hip -o topk.co
#include "topk.h"

#include "device/select/block_rows.h"
#include "device/select/many.h"
#include "device/select/wave_rows.h"

namespace hipops {
namespace {

template <int Bits> using Element = typename BitsOf<Bits / 8>::type;
template <int Bits, int K> HIPOPS_FN void run_wave(const TopkArgs& a) { select_in_waves<Element<Bits>>(a); }
template <int Bits, int K> HIPOPS_FN void run_block(const TopkArgs& a) { select_rows<K, Element<Bits>>(a); }
template <int Bits, int K> HIPOPS_FN void run_merge(const TopkArgs& a) { merge_rows<K>(a); }
template <int Bits, int K> HIPOPS_FN void run_many(const TopkArgs& a) { select_many<Element<Bits>>(a); }
template <int Bits, int K> HIPOPS_FN void run_sort_runs(const TopkArgs& a) { sort_runs(a); }
template <int Bits, int K> HIPOPS_FN void run_merge_runs(const TopkArgs& a) { merge_runs(a); }

// The blocks that a multiprocessor holds together: the compiler limits registers accordingly.
template <int K> [[maybe_unused]] constexpr int kResident = K == kMostWaveK ? 2 : 3;

}  // namespace

#define KERNEL(name, bits, mode, k)                                         \
  HIPOPS_KERNEL(kSelectBlock, kResident<k>) name(HIPOPS_ARGS(TopkArgs) a) { \
    follow_launch_before();                                                 \
    run_##mode<bits, k>(arguments_in_place(a));                             \
  }
HIPOPS_TOPK_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(topk, TopkArgs, HIPOPS_TOPK_KERNELS)

}  // namespace hipops
