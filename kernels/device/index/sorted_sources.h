// Sorts the indices of a tensor by the rows that they name, in two launches, for rows that `joined` mostly sums:
//   split   Each block loads a batch of up to 2048 indices. It drops the indices that name nothing, and reports those
//           out of range. It sorts the others by the high digit.
//   joined  A block for each high digit collects that digit's entries of all batches, and sorts them by the low digit.
// Sorts are stable, and runs are collected in the order of batches, so the entries of a key stay in index order. No
// block waits for another. radix_passes.h sorts the indices of other calls.
#pragma once

#include "device/index/sort_tile.h"

namespace hipops {
namespace {

using SortShape = RadixShape<kSortBlock, kSortDepth, kSplitBits>;
using JoinedShape = RadixShape<kJoinedBlock, kSortBatch / kJoinedBlock, kJoinedBits>;

template <class Args>
HIPOPS_FN void sort_split(const Args& a) {
  HIPOPS_SHARED(uint16_t, tally, SortShape::kTally);
  HIPOPS_SHARED(uint16_t, start_of, SortShape::kDigits);
  HIPOPS_SHARED(SortEntry, sorted, kSortBatch);
  const SortArgs& s = a.sort;
  const uint32_t first = block_index() * s.batch;
  if (block_index() == 0 && thread_index() == 0) *s.entries = 0;
  if (!may_sort(s)) return;
  Batch<SortShape> batch;
  SortTile<SortShape, Args, true>(a).template load<true>(&batch);
#pragma unroll
  for (int n = 0; n < kSortDepth; ++n)
    if (batch.has_entry(n)) batch.entry[n].key = key_of(s, batch.entry[n].key);
  clear_counters(a, first);  // behind the loads, so that no load waits for these stores
  const uint32_t entries = sort_batch(&batch, s.low_bits, s.high_bits, tally, start_of, sorted);
#pragma unroll 1
  for (uint32_t i = thread_index(); i < entries; i += kSortBlock) s.partly_sorted[first + i] = sorted[i];
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit <= 1u << s.high_bits; digit += kSortBlock) {
    const uint32_t start = digit < 1u << s.high_bits ? uint32_t(start_of[digit]) : entries;
    s.starts[int64_t(digit) * s.blocks + block_index()] = start;
  }
}

// The entries of the block's high digit, collected from the runs of the batches that blocks split.
template <class Shape>
class Runs {
 public:
  HIPOPS_METHOD Runs(const SortArgs& args, uint32_t digit) : s(args), digit_(digit) {
#pragma unroll 1
    for (uint32_t i = hide_origin(thread_index()); i < kSortBatch; i += Shape::kBlock) flag_[i] = 0;
  }

  struct Loaded {
    uint32_t entries;   // of the block
    bool is_one_batch;  // one `Batch` has all entries, from up to kBlock blocks. It then stays in registers
  };

  // Calls f(is_one_batch), which must end with a barrier, for each loaded `Batch`: up to kSortBatch entries of runs.
  template <class F>
  HIPOPS_METHOD Loaded for_each_batch(Batch<Shape>* batch, F f) const {
    const uint32_t* starts = s.starts + int64_t(digit_) * s.blocks;
    Loaded loaded{};
#pragma unroll 1
    for (uint32_t round = 0; round < s.blocks; round += Shape::kBlock) {  // in which a work-item has one run
      const uint32_t block = round + hide_origin(thread_index());
      uint32_t start = 0, end = 0;
      if (block < s.blocks) {
        start = starts[block];
        end = starts[s.blocks + block];
      }
      // One scan counts the entries and, in the upper bits, the runs. Empty runs are left out.
      const uint32_t own = end - start;
      const Scanned<uint32_t> scan = block_scan<Shape::kBlock>(uint32_t(own != 0) << kEntryBits | own);
      const uint32_t total = uniform(scan.total), runs = total >> kEntryBits, entries = total & kEntryMask;
      if (own != 0) {
        const uint32_t run = scan.before >> kEntryBits, begin = scan.before & kEntryMask;
        begin_[run] = begin;
        distance_[run] = block * s.batch + start - begin;
      }
      if (thread_index() == 0) begin_[runs] = entries;
      barrier();
      loaded.is_one_batch = s.blocks <= Shape::kBlock && entries <= kSortBatch;
#pragma unroll 1
      for (uint32_t first = 0; first < entries; first += kSortBatch) {
        batch->begin(entries - first);
        load(runs, first, entries, batch);
        f(loaded.is_one_batch);
      }
      loaded.entries += entries;
    }
    return loaded;
  }

 private:
  static constexpr int kEntryBits = 21;  // a round has fewer than 2^21 entries
  static constexpr uint32_t kEntryMask = (1u << kEntryBits) - 1;
  static_assert(Shape::kBlock * kSortBatch <= kEntryMask && Shape::kBlock < 1 << (32 - kEntryBits), "both have room");

  // Loads a `Batch` of the round. It sets a flag where a run begins. Lanes count flags to find their runs.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t entries, Batch<Shape>* batch) const {
#pragma unroll 1
    for (uint32_t run = hide_origin(thread_index()); run < runs; run += Shape::kBlock) {
      const int begin = int(begin_[run] - first), end = int(begin_[run + 1] - first);
      if (begin >= 0 && begin < kSortBatch) flag_[begin] = 1;
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w)
        if (begin <= w * int(batch->of_wave) && w * int(batch->of_wave) < end) first_run_[w] = run;
    }
    barrier();
    bool begins[Shape::kDepth];
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) begins[n] = batch->in_use(n) && flag_[batch->place(n)] != 0;
    // A flag at the wave's first place counts the first run again.
    uint32_t before = first_run_[wave_index()] - uint32_t(ballot(begins[0]) & 1);
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      batch->entry[n] = {Batch<Shape>::kNoKey, 0};
      if (!batch->in_use(n)) continue;
      flag_[batch->place(n)] = 0;  // for the next `Batch`
      const LaneMask flags = ballot(begins[n]);
      const uint32_t run = before + uint32_t(count_bits(flags & (2 * lanes_below() + 1)));
      const uint32_t i = first + batch->place(n);
      if (i < entries) batch->entry[n] = s.partly_sorted[i + distance_[run]];
      before += uint32_t(count_bits(flags));
    }
  }

  const SortArgs& s;
  const uint32_t digit_;
  // For each run of the round: the entries before it. distance_ is added to the number of an entry in the round, and
  // gives its place in partly_sorted.
  Shared<uint32_t> begin_ = shared_member<Runs, uint32_t, Shape::kBlock + 1>();
  Shared<uint32_t> distance_ = shared_member<Runs, uint32_t, Shape::kBlock>();
  Shared<uint8_t> flag_ = shared_member<Runs, uint8_t, kSortBatch>();  // 1 where a run begins in the `Batch`
  Shared<uint32_t> first_run_ = shared_member<Runs, uint32_t, Shape::kWaves>();
};

// Shared memory of a block that joins, in words: for tallies, and then for the list of chunks.
constexpr int kJoinWords = JoinedShape::kTally / 2 > kSortBatch ? JoinedShape::kTally / 2 : kSortBatch;

// Joins a digit. The entries stay in sorted_batch if they are one `Batch` (Loaded), and no row has several chunks: only
// `sum` stores chunk sums. Then it returns their number, and start_of has the place of each low digit's first entry.
// Otherwise it returns 0, and if `stores` is set, it has stored the entries to s.sorted, behind other blocks' entries.
HIPOPS_FN uint32_t sort_join(const SortArgs& args, uint32_t high_digit, bool stores, Shared<uint32_t> words,
                             Shared<uint16_t> start_of, Shared<SortEntry> sorted_batch) {
  using Shape = JoinedShape;
  HIPOPS_SHARED(uint32_t, next, Shape::kDigits);  // a digit's entries, and then the place of the digit's next entry
  HIPOPS_SHARED(uint32_t, long_rows, 1);  // their number
  HIPOPS_SHARED(uint32_t, reserved, 1);
  const Shared<uint16_t> tally = words.as<uint16_t>();
  const SortArgs& s = args;
  const uint32_t digits = 1u << s.low_bits;
  static_assert(Shape::kDigits <= Shape::kBlock, "a work-item for each low digit");
  const uint32_t digit = hide_origin(thread_index());
  if (digit == 0) long_rows[0] = 0;
  if (digit < digits) next[digit] = 0;
  const Runs<Shape> runs(s, high_digit);
  barrier();
  Batch<Shape> batch{};

  // Counts the entries of each low digit. If there is one batch, sort_batch counts them instead.
  const auto loaded = runs.for_each_batch(&batch, [&](bool is_one_batch) {
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n)
      if (!is_one_batch && batch.has_entry(n)) next.fetch_add(batch.entry[n].key & (digits - 1), 1);
    barrier();
  });
  const auto reserve_places = [&](uint32_t entries) {
    if (thread_index() == 0) reserved[0] = atomic_fetch_add(s.entries, entries);
    barrier();
    return uniform(uint32_t(reserved[0]));
  };
  if (loaded.entries == 0) return 0;
  if (loaded.is_one_batch) {
    const auto count_long = [&](uint32_t, uint32_t, uint32_t count) {
      if (count > kChunk) long_rows.fetch_add(0, 1);
    };
    const uint32_t entries = sort_batch(&batch, 0, s.low_bits, tally, start_of, sorted_batch, count_long);
    if (uniform(uint32_t(long_rows[0])) == 0) return entries;
    if (!stores) return 0;
    const uint32_t begin = reserve_places(entries);
#pragma unroll 2
    for (uint32_t i = thread_index(); i < entries; i += Shape::kBlock) s.sorted[begin + i] = sorted_batch[i];
    return 0;
  }
  if (!stores) return 0;
  const uint32_t before = block_scan<Shape::kBlock>(digit < digits ? uint32_t(next[digit]) : 0u).before;
  if (digit < digits) next[digit] = before;
  const uint32_t begin = reserve_places(loaded.entries);

  runs.for_each_batch(&batch, [&](bool) {
    const SortArgs& s = reload_arguments(args);
    const uint32_t count = sort_batch(&batch, 0, s.low_bits, tally, start_of, sorted_batch);
#pragma unroll 4
    for (uint32_t i = thread_index(); i < count; i += Shape::kBlock) {
      const SortEntry entry = sorted_batch[i];
      const uint32_t own = entry.key & (digits - 1);
      s.sorted[begin + next[own] + i - start_of[own]] = entry;
    }
    barrier();
    if (digit < digits) {
      const uint32_t past = digit + 1 < digits ? uint32_t(start_of[digit + 1]) : count;
      next[digit] = uint32_t(next[digit]) + past - start_of[digit];
    }
    barrier();
  });
  return 0;
}

}  // namespace
}  // namespace hipops
