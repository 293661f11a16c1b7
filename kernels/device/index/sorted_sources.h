// Sorts the indices of a tensor by the rows that they name, in two launches, for rows that `joined` mostly sums:
//   split   Each block loads a batch of up to 2048 indices. It drops the indices that name nothing, and reports those
//           out of range. It sorts the others by the high digit. If a digit has many entries, the batch is crowded. The
//           block then also sorts it by the low digit, and lists each key's first entry: the heads.
//   joined  A block for each high digit collects that digit's entries of all batches, and sorts them by the low digit.
//           If batches have heads, it sorts only the heads, and then copies each head's entries. So a row with many
//           sources costs little more than its copy.
// Sorts are stable, and runs are collected in the order of batches, so the entries of a key stay in index order. No
// block waits for another. radix_passes.h sorts the indices of other calls.
#pragma once

#include "device/index/sort_tile.h"

namespace hipops {
namespace {

using SortShape = RadixShape<kSortBlock, kSortDepth, kRadixBits>;
using JoinedShape = RadixShape<kJoinedBlock, kSortBatch / kJoinedBlock, kJoinedBits>;
constexpr uint32_t kPlaceMask = 0xffff;      // of a head or a start: the lower half
constexpr uint32_t kHasHeads = 1u << 31;     // of a start: the batch has heads
constexpr int kCopied = 4;                   // entries that a work-item copies together

template <class Args>
HIPOPS_FN void sort_split(const Args& a) {
  HIPOPS_SHARED(uint16_t, tally, SortShape::kTally);
  HIPOPS_SHARED(uint16_t, start_of, SortShape::kDigits);
  HIPOPS_SHARED(uint32_t, crowded, 1);
  HIPOPS_SHARED(SortEntry, sorted, kSortBatch);
  const SortArgs& s = a.sort;
  const uint32_t first = block_index() * s.batch, usual = kCrowd + (kCrowdOfAverage * s.batch >> s.high_bits);
  const uint32_t crowd = usual < kMostCrowd ? usual : kMostCrowd;
  if (block_index() == 0 && thread_index() == 0) *s.entries = 0;
  if (!may_sort(s)) return;
  Batch<SortShape> batch;
  SortTile<SortShape, Args, true>(a).template load<true>(&batch);
#pragma unroll
  for (int n = 0; n < kSortDepth; ++n)
    if (batch.has_entry(n)) batch.entry[n].key = key_of(s, batch.entry[n].key);
  clear_counters(a, first);  // behind the loads, so that no load waits for these stores
  if (thread_index() == 0) crowded[0] = 0;
  const auto count_crowd = [&](uint32_t, uint32_t, uint32_t count) {
    if (count > crowd) crowded.fetch_add(0, 1);
  };
  const uint32_t entries = sort_batch(&batch, s.low_bits, s.high_bits, tally, start_of, sorted, count_crowd);
  const bool is_crowded = uniform(uint32_t(crowded[0])) != 0;
  // Stores where each digit's run begins. upper_half(start): of the run that begins at entry `start`.
  const auto store_starts = [&](auto upper_half) {
#pragma unroll 1
    for (uint32_t digit = thread_index(); digit <= 1u << s.high_bits; digit += kSortBlock) {
      const uint32_t start = digit < 1u << s.high_bits ? uint32_t(start_of[digit]) : entries;
      s.starts[int64_t(digit) * s.blocks + block_index()] = upper_half(start) << 16 | start;
    }
  };
  if (!is_crowded) {
#pragma unroll 1
    for (uint32_t i = thread_index(); i < entries; i += kSortBlock) s.split[first + i] = sorted[i];
    return store_starts([](uint32_t start) { return start; });
  }
  if (s.low_bits != 0) {  // sorted by the low digit and then by the high one, entries are in the order of keys
    batch.load(sorted, entries);
    barrier();
    sort_batch(&batch, 0, s.low_bits, tally, start_of, sorted);
    batch.load(sorted, entries);
    barrier();
    sort_batch(&batch, s.low_bits, s.high_bits, tally, start_of, sorted);
  }

  // Numbers the heads. heads_before[i] is the number of heads before entry i.
  const Shared<uint16_t> heads_before = tally;
  uint32_t heads = 0;
#pragma unroll 1
  for (uint32_t from = 0; from < entries; from += kSortBlock) {
    const uint32_t i = from + hide_origin(thread_index());
    const bool there = i < entries;
    const SortEntry entry = sorted[there ? i : 0];
    const bool begins = there && (i == 0 || SortEntry(sorted[i - 1]).key != entry.key);
    const Scanned<uint32_t> scan = block_scan<kSortBlock>(uint32_t(begins));
    const uint32_t before = heads + scan.before;
    if (there) {
      heads_before[i] = uint16_t(before);
      s.split[first + i] = entry;
      if (begins) s.heads[first + before] = (entry.key & ((1u << s.low_bits) - 1)) << 16 | i;
    }
    heads += uniform(scan.total);
    barrier();
  }
  store_starts([&](uint32_t start) {
    return kHasHeads >> 16 | (start < entries ? uint32_t(heads_before[start]) : heads);
  });
}

// The entries of the block's high digit, collected from the runs of the batches. If any run has heads, each entry of
// the other runs counts as a head.
template <class Shape>
class Runs {
 public:
  // A head is sorted like an entry: its key has the low digit and, above it, the number of its entries. Its value is
  // the first entry's place in s.split.
  static HIPOPS_METHOD uint32_t count_of(const SortEntry& head) { return head.key >> kRadixBits; }

  HIPOPS_METHOD Runs(const SortArgs& args, uint32_t digit) : s(args), digit_(digit) {
    if (thread_index() == 0) with_heads_[0] = 0;
#pragma unroll 1
    for (uint32_t i = hide_origin(thread_index()); i < kSortBatch; i += Shape::kBlock) flag_[i] = 0;
  }

  struct Counted {
    uint32_t items;      // the block's entries, or heads
    bool has_heads;      // whether a tile up to this one has heads; in a second loop over the tiles, whether any has
    bool is_one_batch;   // whether all items are one batch, which then stays in registers
  };

  // Calls f(Counted), which must end with a barrier, for each loaded batch.
  template <class F>
  HIPOPS_METHOD Counted for_each_batch(Batch<Shape>* batch, F f) const {
    const uint32_t* starts = s.starts + int64_t(digit_) * s.blocks;
    Counted counted{};
#pragma unroll 1
    for (uint32_t tile = 0; tile < s.blocks; tile += kSortRuns) {
      const uint32_t last = s.blocks - tile < kSortRuns ? s.blocks - tile : kSortRuns;
      uint32_t runs = 0, heads = 0;  // of the tile, without empty runs
#pragma unroll 1
      for (uint32_t first = 0; first < last; first += Shape::kBlock) {
        const uint32_t block = first + hide_origin(thread_index());
        uint32_t start = 0, end = 0;
        if (block < last) {
          start = starts[tile + block];
          end = starts[s.blocks + tile + block];
        }
        // One scan counts the heads and, in the upper bits, the runs.
        const uint32_t own = first_of_run(end) - first_of_run(start);
        const Scanned<uint32_t> scan = block_scan<Shape::kBlock>(uint32_t(own != 0) << kHeadBits | own);
        const uint32_t total = uniform(scan.total);
        if (own != 0) {
          const uint32_t run = runs + (scan.before >> kHeadBits);
          begin_[run] = heads + (scan.before & kHeadMask);
          block_[run] = tile + block;
          bounds_[run] = (start & ~kPlaceMask) | (end & kPlaceMask);
          if ((start & kHasHeads) != 0) with_heads_.fetch_add(0, 1);
        }
        runs += total >> kHeadBits;
        heads += total & kHeadMask;
        barrier();
      }
#pragma unroll 1
      for (uint32_t first = 0; first < heads; first += kSortBatch) {
        batch->begin(heads - first);
        counted.has_heads = uniform(uint32_t(with_heads_[0])) != 0;
        counted.is_one_batch = s.blocks <= kSortRuns && heads <= kSortBatch;
        load(runs, first, heads, counted.has_heads, batch);
        f(counted);
      }
      counted.items += heads;
    }
    return counted;
  }

 private:
  static constexpr int kHeadBits = 21;  // a tile has fewer than 2^21 heads
  static constexpr uint32_t kHeadMask = (1u << kHeadBits) - 1;
  static_assert(kSortRuns << kRadixBits < 1 << kHeadBits && kMostCrowd <= 1 << kRadixBits &&
                    kSortRuns < 1 << (32 - kHeadBits),
                "a batch has at most kMostCrowd entries of a digit, or a head for each low digit");

  static HIPOPS_METHOD uint32_t first_of_run(uint32_t start) { return (start & ~kHasHeads) >> 16; }

  // Loads a batch of the tile. It sets a flag where a run begins. Lanes count flags to find their runs.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t heads, bool has_heads, Batch<Shape>* batch) const {
#pragma unroll 1
    for (uint32_t run = hide_origin(thread_index()); run < runs; run += Shape::kBlock) {
      const int begins = int(begin_[run] - first), ends = int(begin_of(run + 1, runs, heads) - first);
      if (begins >= 0 && begins < kSortBatch) flag_[begins] = 1;
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w)
        if (begins <= w * int(batch->of_wave) && w * int(batch->of_wave) < ends) first_run_[w] = run;
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
      flag_[batch->place(n)] = 0;  // for the next batch
      const LaneMask flags = ballot(begins[n]);
      const uint32_t run = before + uint32_t(count_bits(flags & (2 * lanes_below() + 1)));
      const uint32_t i = first + batch->place(n);
      if (i < heads) {
        const uint32_t within = i - begin_[run], base = block_[run] * s.batch, bounds = bounds_[run];
        if (!has_heads) batch->entry[n] = s.split[base + first_of_run(bounds) + within];
        else batch->entry[n] = head(base, bounds, within, i + 1 == begin_of(run + 1, runs, heads));
      }
      before += uint32_t(count_bits(flags));
    }
  }

  HIPOPS_METHOD uint32_t begin_of(uint32_t run, uint32_t runs, uint32_t heads) const {
    return run < runs ? uint32_t(begin_[run]) : heads;
  }

  HIPOPS_METHOD SortEntry head(uint32_t base, uint32_t bounds, uint32_t i, bool is_last) const {
    const uint32_t at = base + first_of_run(bounds) + i;
    const uint32_t digits = 1u << s.low_bits;
    if ((bounds & kHasHeads) == 0) return {(s.split[at].key & (digits - 1)) | 1 << kRadixBits, at};
    const uint32_t head = s.heads[at], next = s.heads[is_last ? at : at + 1] & kPlaceMask;
    const uint32_t count = (is_last ? bounds & kPlaceMask : next) - (head & kPlaceMask);
    return {head >> 16 | count << kRadixBits, base + (head & kPlaceMask)};
  }

  const SortArgs& s;
  const uint32_t digit_;
  // For each run of the tile: the entries or heads before it; its batch; its start's upper half | its entries' end.
  Shared<uint32_t> begin_ = shared_member<Runs, uint32_t, kSortRuns, 0>();
  Shared<uint32_t> block_ = shared_member<Runs, uint32_t, kSortRuns, 1>();
  Shared<uint32_t> bounds_ = shared_member<Runs, uint32_t, kSortRuns, 2>();
  Shared<uint8_t> flag_ = shared_member<Runs, uint8_t, kSortBatch>();  // 1 where a run begins in the batch
  Shared<uint32_t> first_run_ = shared_member<Runs, uint32_t, Shape::kWaves>();
  Shared<uint32_t> with_heads_ = shared_member<Runs, uint32_t, 1>();  // how many runs have heads
};

// Shared memory of a block that joins, in words: for tallies, then for the number of entries before each head, or for
// the list of chunks.
constexpr int kJoinWords = JoinedShape::kTally / 2 > kSortBatch ? JoinedShape::kTally / 2 : kSortBatch + 1;

// Copies the entries of sorted heads. A digit's first entry moves to to[next[digit]], and the others follow.
// before[i] becomes the number of entries of the heads before head i, and before[count] the number of all entries.
template <class Shape>
HIPOPS_FN void copy_entries(const SortArgs& s, SortEntry* to, uint32_t count, uint32_t digit_mask,
                            Shared<uint32_t> before, Shared<uint16_t> start_of, Shared<SortEntry> sorted,
                            Shared<uint32_t> next) {
  uint32_t total = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < count; first += Shape::kBlock) {
    const uint32_t i = first + hide_origin(thread_index());
    const uint32_t own = i < count ? Runs<Shape>::count_of(SortEntry(sorted[i])) : 0;
    const Scanned<uint32_t> scan = block_scan<Shape::kBlock>(own);
    if (i < count) before[i] = total + scan.before;
    total += uniform(scan.total);
    barrier();
  }
  if (thread_index() == 0) before[count] = total;
#pragma unroll 1
  for (uint32_t first = thread_index(); first < total; first += kCopied * Shape::kBlock) {
    uint32_t i[kCopied], from[kCopied], place[kCopied];
    SortEntry entry[kCopied];
#pragma unroll
    for (int n = 0; n < kCopied; ++n) {
      i[n] = first + n * Shape::kBlock;
      i[n] = i[n] < total ? i[n] : total - 1;
    }
    last_not_above(before, count, i, from);
#pragma unroll
    for (int n = 0; n < kCopied; ++n) {
      const SortEntry head = sorted[from[n]];
      const uint32_t digit = head.key & digit_mask;
      entry[n] = s.split[head.value + (i[n] - before[from[n]])];
      place[n] = uint32_t(next[digit]) + (i[n] - before[uint32_t(start_of[digit])]);
    }
#pragma unroll
    for (int n = 0; n < kCopied; ++n)
      if (first + n * Shape::kBlock < total) to[place[n]] = entry[n];
  }
}

// Joins a digit. The entries stay in `sorted` if they have room there, come from no crowded batch, and no row has
// several chunks (only `sum` stores chunk sums). The function then returns the number of entries, and start_of has the
// place of each low digit's first entry. Otherwise it returns 0. If `stores` is set, it has then stored the entries to
// s.sorted, behind the entries of other blocks.
HIPOPS_FN uint32_t sort_join(const SortArgs& args, uint32_t high_digit, bool stores, Shared<uint32_t> words,
                             Shared<uint16_t> start_of, Shared<SortEntry> sorted) {
  using Shape = JoinedShape;
  HIPOPS_SHARED(uint32_t, next, Shape::kDigits);  // a digit's entries, and then the place of the digit's next entry
  HIPOPS_SHARED(uint32_t, long_rows, 1);  // their number
  HIPOPS_SHARED(uint32_t, reserved, 1);
  const Shared<uint16_t> tally = words.as<uint16_t>();
  const Shared<uint32_t> before = words;  // for each head in the order of digits: the batch's entries before it
  const SortArgs& s = args;
  const uint32_t digits = 1u << s.low_bits;
  if (thread_index() == 0) long_rows[0] = 0;
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += Shape::kBlock) next[digit] = 0;
  const Runs<Shape> runs(s, high_digit);
  barrier();
  Batch<Shape> batch{};

  // Counts the entries of each low digit. If there is one batch without heads, sort_batch counts them instead.
  const auto counted = runs.for_each_batch(&batch, [&](const auto& now) {
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      const SortEntry& entry = batch.entry[n];
      if ((now.is_one_batch && !now.has_heads) || !batch.has_entry(n)) continue;
      if (now.has_heads) next.fetch_add(entry.key & (digits - 1), Runs<Shape>::count_of(entry));
      else next.fetch_add(entry.key & (digits - 1), 1);
    }
    barrier();
  });
  const auto reserve_places = [&](uint32_t entries) {
    if (thread_index() == 0) reserved[0] = atomic_fetch_add(s.entries, entries);
    barrier();
    return uniform(uint32_t(reserved[0]));
  };
  if (counted.items == 0) return 0;
  if (counted.is_one_batch && !counted.has_heads) {
    const auto count_long = [&](uint32_t, uint32_t, uint32_t count) {
      if (count > kChunk) long_rows.fetch_add(0, 1);
    };
    const uint32_t entries = sort_batch(&batch, 0, s.low_bits, tally, start_of, sorted, count_long);
    if (uniform(uint32_t(long_rows[0])) == 0) return entries;
    if (!stores) return 0;
    const uint32_t begin = reserve_places(entries);
#pragma unroll 2
    for (uint32_t i = thread_index(); i < entries; i += Shape::kBlock) s.sorted[begin + i] = sorted[i];
    return 0;
  }
  if (!stores) return 0;
  uint32_t entries = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < digits; first += Shape::kBlock) {
    const uint32_t digit = first + hide_origin(thread_index()), count = digit < digits ? uint32_t(next[digit]) : 0;
    const Scanned<uint32_t> scan = block_scan<Shape::kBlock>(count);
    if (digit < digits) next[digit] = entries + scan.before;
    entries += uniform(scan.total);
    barrier();
  }
  const uint32_t begin = reserve_places(entries);

  const auto place = [&](const auto& now) {
    const SortArgs& s = reload_arguments(args);
    const bool has_heads = now.has_heads;
    const uint32_t count = sort_batch(&batch, 0, s.low_bits, tally, start_of, sorted);
    if (has_heads) {
      copy_entries<Shape>(s, s.sorted + begin, count, digits - 1, before, start_of, sorted, next);
    } else {
#pragma unroll 4
      for (uint32_t i = thread_index(); i < count; i += Shape::kBlock) {
        const SortEntry entry = sorted[i];
        const uint32_t digit = entry.key & (digits - 1);
        s.sorted[begin + next[digit] + i - start_of[digit]] = entry;
      }
    }
    barrier();
    if (now.is_one_batch) return;
#pragma unroll 1
    for (uint32_t digit = thread_index(); digit < digits; digit += Shape::kBlock) {
      const uint32_t own = start_of[digit], past = digit + 1 < digits ? uint32_t(start_of[digit + 1]) : count;
      if (own != past) next[digit] = uint32_t(next[digit]) + (has_heads ? before[past] - before[own] : past - own);
    }
    barrier();
  };
  if (counted.is_one_batch) place(counted);
  else runs.for_each_batch(&batch, place);
  return 0;
}

}  // namespace
}  // namespace hipops
