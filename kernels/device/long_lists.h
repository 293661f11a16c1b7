// Lists so long that a block with one of them would be at it long after all others are done. Where they are is said in
// the workspace, and blocks take parts of their rows: in the launch behind that, or in the same one. Then blocks take
// their own lists' parts until none is left, and others help, if they come when all lists are known: nothing depends on
// that, as nobody knows in which order blocks run.
#pragma once

#include "device/atomic.h"
#include "device/index_order_contract.h"
#include "device/scan.h"

namespace hipops {
namespace {

// To the launch behind this one.
HIPOPS_FN void say_if_long(const RowOrder& o, const LongList& list) {
  if (list.end - list.begin > kLongList) o.longs[atomic_take(&o.long_count[0], 1)] = list;
}

template <int Block>
class LongLists {
 public:
  explicit HIPOPS_METHOD LongLists(const RowOrder& order) : o_(order) {}

  // The block's lists, of which each work-item may have one; `sources` are in memory. All call it, once.
  HIPOPS_METHOD void say(bool has_one, const LongList& list) {
    HIPOPS_SHARED(uint32_t, first, 1);
    const Scanned<uint32_t> scan = block_scan<Block>(uint32_t(has_one));
    if (thread_index() == 0) first[0] = atomic_take(&o_.long_count[kSaid], scan.total);
    barrier();
    first_ = uniform(uint32_t(first[0]));
    end_ = first_ + uniform(scan.total);
    if (has_one) o_.longs[first_ + scan.before] = list;
    barrier_for_memory();
  }
  // After that, or instead of it.
  HIPOPS_METHOD void have_said_all() const {
    if (thread_index() != 0) return;
    if (end_ != first_) device_fence();
    atomic_add(&o_.long_count[kBlocks], 1u);
  }

  // Instead of own ones, all lists, once so many blocks have said theirs: for which it waits, but not for ever.
  HIPOPS_METHOD void find_all(uint32_t blocks) {
    HIPOPS_SHARED(uint32_t, lists, 1);
    if (thread_index() == 0) {
      for (int n = 0; n < kPolls && atomic_load(&o_.long_count[kBlocks]) < blocks; ++n) pause();
      lists[0] = atomic_load(&o_.long_count[kBlocks]) < blocks ? 0 : atomic_load(&o_.long_count[kSaid]);
    }
    barrier();
    end_ = uniform(uint32_t(lists[0]));
    if (end_ != 0) device_fence();
  }

  // Calls f(list, part) for parts of those lists' rows that no block has taken. Blocks begin with different lists.
  template <class F>
  HIPOPS_METHOD void take(uint32_t parts, F f) const {
    HIPOPS_SHARED(uint32_t, taken, 1);
    const uint32_t count = end_ - first_;
    for (uint32_t n = 0; n < count; ++n) {
      const uint32_t i = first_ + (n + block_index()) % count;
      const LongList& said = o_.longs[i];
      const LongList list{said.row, said.begin, said.end, 0};
      while (true) {
        barrier();
        if (thread_index() == 0) taken[0] = atomic_take(&o_.longs[i].taken, 1);
        barrier();
        const uint32_t part = uniform(uint32_t(taken[0]));
        if (part >= parts) break;
        f(list, part);
      }
    }
  }

 private:
  enum { kSaid, kBlocks };
  static constexpr int kPolls = 1 << 11;

  const RowOrder& o_;
  uint32_t first_ = 0, end_ = 0;  // the lists that the block knows
};

}  // namespace
}  // namespace hipops
