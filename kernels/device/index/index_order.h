// Sorts the indices of a tensor by the rows that they name: for each row, a list of the places that name it, in order.
//
// A stable radix sort of entries {key, place in the index} by two digits of up to 10 bits, in two launches. No block
// waits for another, so blocks need not run concurrently.
//   split  each block loads up to 2048 indices. It drops marks and indices out of range, and reports the latter. It
//          sorts the rest by the high digit into its part of the workspace, and stores the begin of each digit's run.
//   join   (index_join.h) a block for each high digit sorts its runs by the low digit, which gives the lists. Up to
//          2048 entries, the usual case, stay in registers. More are loaded twice, to count and to place them.
//   bound  keys of more than 20 bits are sorted in two rounds, by their low and then their high half, in 4 launches.
//          `bound` then finds the ends of the lists.
// Lists are stored by row or, if there are more rows than indices, by the position of their first source: then no work
// is proportional to the rows. A block that sums its lists itself stores none.
// For each index this loads the index, stores 8 bytes and loads them again, and stores 4, mostly in the L2 cache.
#pragma once

#include "device/index/index_order_contract.h"
#include "device/index/indices.h"
#include "device/core/scan.h"

namespace hipops {
namespace {

constexpr int kMostDigits = 1 << kOrderDigitBits;

template <int Block, int Depth>
struct OrderShape {
  static constexpr int kBlock = Block, kDepth = Depth, kBatch = Block * Depth, kWaves = Block / wave_size;
};
using Ordering = OrderShape<kOrderBlock, kOrderDepth>;

// Keys are a permutation of the rows, filled up to a power of two. Frequent rows are often neighbours, or a power of
// two apart. Their keys differ in the high digit, so different blocks join them.
constexpr uint32_t kMix = 0x9e3779b1u, kUnmix = 0x0e8b2f51u;
static_assert(uint32_t(kMix * kUnmix) == 1, "the one undoes the other");

HIPOPS_FN uint32_t key_of(const RowOrder& o, uint32_t row) { return row * kMix & o.key_mask; }
HIPOPS_FN uint32_t row_of(const RowOrder& o, uint32_t key) { return key * kUnmix & o.key_mask; }

// Up to kBatch entries, in registers: each wave has the same number of neighbouring entries. These kernels run for
// microseconds, in which fetching code costs time. So loops are unrolled only where they must be.
template <class Shape>
struct Batch {
  static constexpr int kDepth = Shape::kDepth;
  static constexpr uint32_t kNoSource = UINT32_MAX;  // marks a place without an entry
  OrderEntry entry[kDepth];
  uint32_t digit[kDepth];
  uint32_t rank[kDepth];  // the number of earlier entries of its wave with the same digit
  uint32_t share;         // places of a wave, a multiple of wave_size

  HIPOPS_METHOD void begin(uint32_t entries) {
    const uint32_t steps = (entries + Shape::kBlock - 1) / Shape::kBlock;
    share = (steps < kDepth ? steps : kDepth) * wave_size;
  }

  HIPOPS_METHOD uint32_t place(int n) const { return wave_index() * share + uint32_t(n) * wave_size + lane_index(); }
  HIPOPS_METHOD bool has(int n) const { return uint32_t(n) * wave_size < share; }  // the same for all work-items

  HIPOPS_METHOD bool there(int n) const { return entry[n].source != kNoSource; }

  // Sets the ranks. `tally` has a row for each wave: it becomes the wave's number of entries of each digit.
  HIPOPS_METHOD void rank_by_digit(Shared<uint16_t> tally, int shift, int bits) {
    const uint32_t own = wave_index() << bits;
#pragma unroll 1
    for (uint32_t d = hide_origin(lane_index()); d < 1u << bits; d += wave_size) tally[own + d] = 0;
    LaneMask others[kDepth];  // lanes that have another digit
#pragma unroll
    for (int n = 0; n < kDepth; ++n) {
      digit[n] = entry[n].key >> shift & ((1u << bits) - 1);
      others[n] = 0;
    }
#pragma unroll 1
    for (int bit = 0; bit < bits; bit += 2) {  // bits above the digit are 0
      compare<0, kMostlyHeld>(bit, others);
      if (has(kMostlyHeld)) compare<kMostlyHeld, kDepth>(bit, others);
    }
    wave_barrier();
#pragma unroll
    for (int n = 0; n < kDepth; ++n) {
      if (!has(n)) break;
      const LaneMask peers = ballot(there(n)) & ~others[n], earlier = peers & lanes_below();
      const uint32_t before = tally[own + digit[n]];
      rank[n] = before + uint32_t(count_bits(earlier));
      wave_barrier();
      if (there(n) && earlier == 0) tally[own + digit[n]] = uint16_t(before + uint32_t(count_bits(peers)));
      wave_barrier();
    }
  }

 private:
  static constexpr int kMostlyHeld = kDepth / 2 + 1;  // blocks that join mostly have about half of a batch

  // Adds lanes whose digits differ in `bit` or in the next bit, for digits From to To.
  template <int From, int To>
  HIPOPS_METHOD void compare(int bit, LaneMask (&others)[kDepth]) const {
#pragma unroll
    for (int n = From; n < To; ++n) others[n] |= lanes_with_other_bit(digit[n], bit) | lanes_with_other_bit(digit[n], bit + 1);
  }
};

// Each work-item calls f(digit, the block's number of its entries). `tally` becomes the number in earlier waves.
template <class Shape, class F>
HIPOPS_FN void for_each_digit(Shared<uint16_t> tally, int bits, F f) {
#pragma unroll 1
  for (uint32_t first = 0; first < 1u << bits; first += Shape::kBlock) {
    const uint32_t digit = first + hide_origin(thread_index());
    uint32_t total = 0;
    if (digit < 1u << bits) {
      uint32_t count[Shape::kWaves];  // all loads precede the stores: one latency of shared memory
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w) count[w] = tally[(uint32_t(w) << bits) + digit];
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w) {
        tally[(uint32_t(w) << bits) + digit] = uint16_t(total);
        total += count[w];
      }
    }
    f(digit, total);
  }
}

// Loads the block's part of the index or, in the second round, of the first round's entries.
template <class Args>
HIPOPS_FN void load_share(const Args& a, int64_t first, Batch<Ordering>* batch) {
  const RowOrder& o = a.order;
  if (o.from != nullptr) {
    const int64_t entries = *o.entries;
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      const int64_t i = first + batch->place(n);
      const bool there = batch->has(n) && i < entries;
      batch->entry[n] = o.from[there ? i : 0];
      if (!there) batch->entry[n].source = Batch<Ordering>::kNoSource;
    }
    return;
  }
  int64_t offset[kOrderDepth], value[kOrderDepth];
#pragma unroll
  for (int n = 0; n < kOrderDepth; ++n) {
    const int64_t i = first + batch->place(batch->has(n) ? n : 0);
    offset[n] = (i < a.indices ? i : a.indices - 1) * a.index_step;
  }
  const int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
  for (int n = 0; n < kOrderDepth; ++n) {
    const int64_t i = first + batch->place(n);
    int64_t row = kNothing;
    if (batch->has(n) && i < a.indices) row = checked_index(a.index, value[n], mark, i * a.report_step, a.reported);
    batch->entry[n] = {key_of(o, uint32_t(row)), row != kNothing ? uint32_t(i) : Batch<Ordering>::kNoSource};
  }
}

// False if scatter_add has found a row with different indices. The first round sets the state; all its blocks agree.
HIPOPS_FN bool may_order(const RowOrder& o) {
  if (o.from != nullptr) return o.state[0] == 0;
  uint32_t differ = 0;
  for (int64_t i = thread_index(); i < o.differs; i += kOrderBlock) differ |= o.differ[i];
  differ = block_scan<kOrderBlock>(uint32_t(differ != 0)).total;
  barrier();
  if (block_index() == 0 && thread_index() == 0) {
    o.state[0] = differ != 0;
    o.state[1] = 0;
  }
  return differ == 0;
}

template <class Args>
HIPOPS_FN void order_split(const Args& a) {
  HIPOPS_SHARED(uint16_t, tally, Ordering::kWaves * kMostDigits);
  HIPOPS_SHARED(uint16_t, start_of, kMostDigits);
  HIPOPS_SHARED(OrderEntry, sorted, kOrderBatch);
  const RowOrder& o = a.order;
  const int64_t first = int64_t(block_index()) * o.batch;
  if (block_index() == 0 && thread_index() < 2) o.long_count[thread_index()] = 0;
  if (o.state != nullptr && !may_order(o)) return;
  Batch<Ordering> batch;
  batch.begin(o.batch);
  load_share(a, first, &batch);
  batch.rank_by_digit(tally, o.shift + o.low_bits, o.high_bits);
  barrier();

  uint32_t entries = 0;
  for_each_digit<Ordering>(tally, o.high_bits, [&](uint32_t digit, uint32_t count) {
    const Scanned<uint32_t> scan = block_scan<kOrderBlock>(count);
    if (digit < 1u << o.high_bits) {
      start_of[digit] = uint16_t(entries + scan.before);
      o.starts[int64_t(digit) * o.blocks + block_index()] = entries + scan.before;
    }
    entries += uniform(scan.total);
    barrier();
  });
  if (thread_index() == 0) o.starts[(int64_t(1) << o.high_bits) * o.blocks + block_index()] = entries;

  const uint32_t own = wave_index() << o.high_bits;
#pragma unroll
  for (int n = 0; n < kOrderDepth; ++n)
    if (batch.there(n))
      sorted[uint32_t(start_of[batch.digit[n]]) + tally[own + batch.digit[n]] + batch.rank[n]] = batch.entry[n];
  barrier();
#pragma unroll 1
  for (uint32_t i = thread_index(); i < entries; i += kOrderBlock) o.split[first + i] = sorted[i];
  if (!o.only_round || !o.by_position) return;
#pragma unroll 1
  for (int64_t i = first + thread_index(); i < first + o.batch && i < a.indices; i += kOrderBlock)
    o.lists[i] = {0, 0};
}

// The end of the entries, from i on, that have entry i's key.
HIPOPS_FN uint32_t end_of_key(const OrderEntry* entry, uint32_t i, uint32_t entries) {
  uint64_t step = 1;
  while (i + step < entries && entry[i + step].key == entry[i].key) step *= 2;
  uint64_t within = step / 2, past = i + step < entries ? step : entries - i;
  while (past - within > 1) {
    const uint64_t middle = (within + past) / 2;
    (entry[i + middle].key == entry[i].key ? within : past) = middle;
  }
  return i + uint32_t(past);
}

// Stores the lists by position, and the sources, of sorted entries.
template <class Args>
HIPOPS_FN void order_bound(const Args& a) {
  const RowOrder& o = a.order;
  if (o.state != nullptr && o.state[0] != 0) return;
  const uint32_t entries = *o.entries;
  for (int64_t i = int64_t(block_index()) * kOrderBlock + thread_index(); i < a.indices;
       i += a.grid * kOrderBlock) {
    RowList list{0, 0};
    if (i < entries) {
      const uint32_t key = o.from[i].key;
      o.sources[i] = o.from[i].source;
      if (i == 0 || o.from[i - 1].key != key) {
        list = {row_of(o, key), end_of_key(o.from, uint32_t(i), entries)};
        if (list.end - uint32_t(i) > o.longest) atomic_max(&o.state[1], 1u);
      }
    }
    o.lists[i] = list;
  }
}

}  // namespace
}  // namespace hipops
