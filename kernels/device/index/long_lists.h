// Lists so long that a block would sum one long after all others are done. Blocks publish their long lists in the
// workspace, then claim parts of the rows until none is left. Helpers that see all lists in time claim parts, too.
#pragma once

#include "device/core/atomic.h"
#include "device/index/index_order_contract.h"
#include "device/core/scan.h"

namespace hipops {
namespace {

template <int Block>
class LongLists {
 public:
  explicit HIPOPS_METHOD LongLists(const RowOrder& order) : o_(order) {}

  // Each work-item may have one list, with its sources in memory. All work-items of the block call it, once.
  HIPOPS_METHOD void publish(bool has_one, const LongList& list) {
    HIPOPS_SHARED(uint32_t, first, 1);
    const Scanned<uint32_t> scan = block_scan<Block>(uint32_t(has_one));
    if (thread_index() == 0) first[0] = atomic_fetch_add(&o_.long_count[kPublished], scan.total);
    barrier();
    first_ = uniform(uint32_t(first[0]));
    end_ = first_ + uniform(scan.total);
    if (has_one) o_.longs[first_ + scan.before] = list;
    // Each wave fences its own stores: on gfx9 neither the block's barrier nor another wave's fence waits for them.
    device_fence();
    barrier_for_memory();
  }
  // Called after publish(), or instead of it.
  HIPOPS_METHOD void finish_publishing() const {
    if (thread_index() != 0) return;
    if (end_ != first_) device_fence();
    atomic_add(&o_.long_count[kBlocks], 1u);
  }

  // For helpers: finds all lists once `blocks` blocks have published theirs. The wait is bounded.
  HIPOPS_METHOD void find_all(uint32_t blocks) {
    HIPOPS_SHARED(uint32_t, lists, 1);
    if (thread_index() == 0) {
      const uint64_t begin = nanoseconds(), most = patience();
      uint32_t known = seen(kBlocks), polls = 1u << 20;  // a second bound, in case the clock does not advance
#pragma unroll 1
      while (known < blocks && --polls != 0 && nanoseconds() - begin < most) {
        pause();
        known = seen(kBlocks);
      }
      device_fence();  // acquire: the lists are loaded after the count of blocks
      lists[0] = known < blocks ? 0 : seen(kPublished);
    }
    barrier();
    end_ = uniform(uint32_t(lists[0]));
    if (end_ != 0) device_fence();
  }

  // Claims parts of the rows, and calls f(list, part) for each. Blocks begin with different lists.
  template <class F>
  HIPOPS_METHOD void take(uint32_t parts, F f) const {
    HIPOPS_SHARED(uint32_t, taken, 1);
    const uint32_t count = end_ - first_;
#pragma unroll 1
    for (uint32_t n = 0; n < count; ++n) {
      const uint32_t i = first_ + (n + block_index()) % count;
      const LongList& said = o_.longs[i];
      const LongList list{said.row, said.begin, said.end, 0};
      while (true) {
        barrier();
        if (thread_index() == 0) taken[0] = atomic_fetch_add(&o_.longs[i].taken, 1);
        barrier();
        const uint32_t part = uniform(uint32_t(taken[0]));
        if (part >= parts) break;
        f(list, part);
      }
    }
  }

 private:
  enum { kPublished, kBlocks };

  // Nanoseconds. 8 for each index is about twice the time that a sort of a segment of half of all indices needs.
  HIPOPS_METHOD uint64_t patience() const {
    constexpr uint32_t kLeast = 50000, kOfIndex = 8;
    return kLeast + uint64_t{kOfIndex} * (o_.blocks * o_.batch);
  }

  // An atomic addition of 0 reads the latest value. The 0 is hidden, as compilers would make a load of it.
  HIPOPS_METHOD uint32_t seen(uint32_t i) const { return atomic_fetch_add(&o_.long_count[i], hide_origin(0)); }

  const RowOrder& o_;
  uint32_t first_ = 0, end_ = 0;  // the lists that the block knows
};

}  // namespace
}  // namespace hipops
