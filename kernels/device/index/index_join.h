// The second step of index_order.h: a block for each high digit gathers its runs and sorts them by the low digit.
#pragma once

#include "device/index/index_order.h"
#include "device/index/long_lists.h"

namespace hipops {
namespace {

// The entries of the block's high digit.
template <class Shape>
class Runs {
 public:
  explicit HIPOPS_METHOD Runs(const RowOrder& order) : o(order) {
#pragma unroll 1
    for (uint32_t i = hide_origin(thread_index()); i < Shape::kBatch; i += Shape::kBlock) head[i] = 0;
  }

  // Calls f(), which must end with a barrier, for each loaded batch. Returns the number of entries with smaller digits.
  template <class F>
  HIPOPS_METHOD uint32_t for_each_batch(Batch<Shape>* batch, uint32_t* batches, F f) const {
    const uint32_t blocks = o.blocks;
    const uint32_t* starts = o.starts + int64_t(block_index()) * blocks;
    uint32_t smaller = 0;
    *batches = 0;
    uint32_t tile = 0;
#pragma unroll 1
    do {
      const uint32_t last = blocks - tile < kOrderRuns ? blocks - tile : kOrderRuns;
      uint32_t runs = 0, entries = 0;  // of the tile, without empty runs
#pragma unroll 1
      for (uint32_t first = 0; first < last; first += Shape::kBlock) {
        const uint32_t block = first + hide_origin(thread_index());
        uint32_t start = 0, end = 0;
        if (block < last) {
          start = starts[tile + block];
          end = starts[blocks + tile + block];
        }
        const Counts own{start, end - start};
        const Scanned<uint64_t> scan = block_scan<Shape::kBlock>(own.packed);
        const Counts before{scan.before}, total{uniform(scan.total)};
        if (end > start) {
          begin[runs + before.runs()] = entries + before.entries();
          shift[runs + before.runs()] = (tile + block) * o.batch + start - (entries + before.entries());
        }
        runs += total.runs();
        entries += total.entries();
        smaller += total.starts();
        barrier();
      }
#pragma unroll 1
      for (uint32_t first = 0; first < entries; first += Shape::kBatch) {
        ++*batches;
        batch->begin(entries - first);
        load(runs, first, entries, batch);
        f();
      }
      tile += kOrderRuns;
    } while (tile < blocks);
    return smaller;
  }

 private:
  // The counts of one run, packed so that one scan adds all three.
  struct Counts {
    static constexpr int kEntryBits = 21;  // a tile has fewer entries
    uint64_t packed;
    explicit HIPOPS_METHOD Counts(uint64_t v) : packed(v) {}
    HIPOPS_METHOD Counts(uint32_t start, uint32_t entries)
        : packed(uint64_t(start) << 32 | uint32_t(entries != 0) << kEntryBits | entries) {}
    HIPOPS_METHOD uint32_t starts() const { return uint32_t(packed >> 32); }
    HIPOPS_METHOD uint32_t runs() const { return uint32_t(packed) >> kEntryBits; }
    HIPOPS_METHOD uint32_t entries() const { return uint32_t(packed) & ((1u << kEntryBits) - 1); }
  };
  static_assert(kOrderRuns * kOrderBatch < 1 << Counts::kEntryBits && Shape::kBlock < 1 << (32 - Counts::kEntryBits),
                "both have room");

  // Loads a batch of the tile's entries. It marks the places where runs begin. Lanes count marks to find their runs.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t entries, Batch<Shape>* batch) const {
#pragma unroll 1
    for (uint32_t run = hide_origin(thread_index()); run < runs; run += Shape::kBlock) {
      const int begins = int(begin[run] - first), ends = int((run + 1 < runs ? begin[run + 1] : entries) - first);
      if (begins >= 0 && begins < Shape::kBatch) head[begins] = 1;
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w)
        if (begins <= w * int(batch->share) && w * int(batch->share) < ends) first_run[w] = run;
    }
    barrier();
    bool begins[Shape::kDepth];
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) begins[n] = batch->has(n) && head[batch->place(n)] != 0;
    uint32_t before = first_run[wave_index()] - uint32_t(ballot(begins[0]) & 1);
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      batch->entry[n] = {0, Batch<Shape>::kNoSource};
      if (!batch->has(n)) continue;
      head[batch->place(n)] = 0;  // for the next batch
      const LaneMask heads = ballot(begins[n]);
      const uint32_t run = before + uint32_t(count_bits(heads & (2 * lanes_below() + 1)));
      const uint32_t i = first + batch->place(n);
      if (i < entries) batch->entry[n] = o.split[shift[run] + i];
      before += uint32_t(count_bits(heads));
    }
  }

  template <class T, int Count, int Which>
  static HIPOPS_METHOD Shared<T> storage() {
    HIPOPS_SHARED(T, elements, Count);
    return elements;
  }

  const RowOrder& o;
  // For each run of the tile: its begin among the tile's entries, and the distance from there to its place in o.split.
  Shared<uint32_t> begin = storage<uint32_t, kOrderRuns, 0>(), shift = storage<uint32_t, kOrderRuns, 1>();
  Shared<uint8_t> head = storage<uint8_t, Shape::kBatch, 2>();
  Shared<uint32_t> first_run = storage<uint32_t, Shape::kWaves, 3>();
};

// Sorts the block's entries by up to Digits low digits. It calls these functions of `lists`, in this order:
//   has_work(batches)                true if there is anything to do;
//   list(digit, begin, count, scan)  each digit's entries: a work-item calls it for its own digit;
//   end_digits(end, total)           the end of the entries in `total`: all work-items call it;
//   begin_placing(only_batch, end)   the end of all entries;
//   place(where, entry, only_batch)  the place of each entry.
// scanned(count) is the value to scan; entries(sum) is the number of entries in a sum. tally() has Digits counts a
// wave.
template <class Shape, int Digits, class Lists>
HIPOPS_FN void join(const RowOrder& o, Lists& lists) {
  const Shared<uint16_t> tally = lists.tally();
  HIPOPS_SHARED(uint32_t, next, Digits);  // the place of a digit's next entry; in pass 0, its count
  HIPOPS_SHARED(uint32_t, of_batch, Digits);
  const Runs<Shape> runs(o);
  const uint32_t digits = 1u << o.low_bits;
  constexpr int kCounted = Digits < Shape::kBlock ? Digits : Shape::kBlock;
  Batch<Shape> batch{};
  auto place = [&](bool only_batch) {
    const uint32_t own = wave_index() << o.low_bits;
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      if (!batch.there(n)) continue;
      lists.place(of_batch[batch.digit[n]] + tally[own + batch.digit[n]] + batch.rank[n], batch.entry[n], only_batch);
    }
  };
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += Shape::kBlock) next[digit] = 0;

  // Counts the digits, then places the entries. An only batch is still in registers. Several batches are loaded again.
#pragma unroll 1
  for (uint32_t pass = 0;; ++pass) {
    uint32_t batches;
    uint32_t begin = runs.for_each_batch(&batch, &batches, [&] {
      batch.rank_by_digit(tally, o.shift, o.low_bits);
      barrier();
      for_each_digit<Shape>(tally, o.low_bits, [&](uint32_t digit, uint32_t count) {
        if (digit >= digits) return;
        const uint32_t before = next[digit];
        of_batch[digit] = before;
        next[digit] = before + count;
      });
      barrier();
      if (hide_origin(pass) != 0) place(false);
      barrier();
    });
    if (pass != 0 || !lists.has_work(batches)) return;

#pragma unroll 1
    for (uint32_t first = 0; first < digits; first += Shape::kBlock) {
      const uint32_t digit = first + hide_origin(thread_index()), count = digit < digits ? uint32_t(next[digit]) : 0;
      auto scan = block_scan<kCounted>(Lists::scanned(count));
      scan.total = uniform(scan.total);
      const uint32_t at = begin + Lists::entries(scan.before);
      if (digit < digits) {
        next[digit] = at;
        of_batch[digit] = at;
        lists.list(digit, at, count, scan);
      }
      begin += Lists::entries(scan.total);
      lists.end_digits(begin, scan.total);
      barrier();
    }
    lists.begin_placing(batches == 1, begin);
    if (batches == 1) return place(true);
    if (batches == 0) return;
  }
}

// True if the lists of the block are longer than o.longest on average: then one surely is. Records that in the state.
HIPOPS_FN bool has_long_list(const RowOrder& o) {
  const uint32_t* starts = o.starts + int64_t(block_index()) * o.blocks;
  uint32_t entries = 0;
#pragma unroll 1
  for (uint32_t i = thread_index(); i < o.blocks; i += kOrderBlock) entries += starts[o.blocks + i] - starts[i];
  entries = block_scan<kOrderBlock>(entries).total;
  barrier();
  if (entries >> o.low_bits <= o.longest) return false;
  if (thread_index() == 0) atomic_max(&o.state[1], 1u);
  return true;
}

// Stores lists for the launch that sums, or entries for the second round.
struct ListsInMemory {
  const RowOrder& o;

  static HIPOPS_METHOD Shared<uint16_t> tally() {
    HIPOPS_SHARED(uint16_t, tally, Ordering::kWaves * kMostDigits);
    return tally;
  }
  static HIPOPS_METHOD uint32_t scanned(uint32_t count) { return count; }
  static HIPOPS_METHOD uint32_t entries(uint32_t sum) { return sum; }

  HIPOPS_METHOD bool has_work(uint32_t batches) const { return batches != 0 || !o.only_round || !o.by_position; }

  HIPOPS_METHOD void list(uint32_t digit, uint32_t at, uint32_t count, const Scanned<uint32_t>&) const {
    if (!o.only_round) return;
    const uint32_t row = row_of(o, block_index() << o.low_bits | digit);
    if (count > o.longest) atomic_max(&o.state[1], 1u);
    const bool by_position = hide_origin(uint32_t(o.by_position)) != 0;
    if (by_position ? count != 0 : row < o.rows) o.lists[by_position ? at : row] = {by_position ? row : at, at + count};
  }

  HIPOPS_METHOD void end_digits(uint32_t, uint32_t) const {}

  HIPOPS_METHOD void begin_placing(bool, uint32_t end) const {
    if (hide_origin(block_index()) + 1 == 1u << o.high_bits && hide_origin(thread_index()) == 0) *o.entries = end;
  }

  HIPOPS_METHOD void place(uint32_t to, const OrderEntry& entry, bool) const {
    if (o.only_round) static_cast<uint32_t*>(o.joined)[to] = entry.source;
    else static_cast<OrderEntry*>(o.joined)[to] = entry;
  }
};

template <class Args>
HIPOPS_FN void order_join(const Args& a) {
  const RowOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] != 0 || (o.only_round && has_long_list(o)))) return;
  ListsInMemory lists{o};
  join<Ordering, kMostDigits>(o, lists);
}

// Vectors that a work-item of `joined` has in flight. With more, memory is no faster, and blocks finish further apart.
constexpr int kJoinedFlight = enough_loads;

// Counts of entries and lists, packed for a scan. Lists are counted by kind: the number of times that their sum waits
// for sources. Kind 0 has the longest lists.
class ListCounts {
 public:
  explicit HIPOPS_METHOD ListCounts(uint64_t sum) : packed(sum) {}
  static HIPOPS_METHOD ListCounts of_entries(uint32_t count) { return ListCounts(count); }
  static HIPOPS_METHOD ListCounts of_list(uint32_t count) {
    return ListCounts(uint64_t(1) << (kEntryBits + kBits * kind(count)) | count);
  }
  HIPOPS_METHOD uint32_t entries() const { return uint32_t(packed) & ((1u << kEntryBits) - 1); }
  HIPOPS_METHOD uint32_t lists() const { return of_kind(up_to_each(), kKinds - 1); }
  // The number of a list of `count` entries in the order of kinds, after the lists in `this`. `all` counts all lists.
  HIPOPS_METHOD uint32_t number(const ListCounts& all, uint32_t count) const {
    return of_kind((all.up_to_each() << kBits) + (packed >> kEntryBits), kind(count));
  }

  uint64_t packed;

 private:
  static constexpr int kEntryBits = kJoinedIndexBits, kKinds = 4, kBits = 9;
  static_assert(kEntryBits + kKinds * kBits <= 64 && 1 << kJoinedDigitBits < 1 << kBits, "there is room for all");

  static HIPOPS_METHOD int kind(uint32_t count) {
    const uint32_t waits = count / kJoinedFlight;
    return waits < kKinds ? int(kKinds - 1 - waits) : 0;
  }
  // For each kind, the number of lists of this kind and of the kinds before it.
  HIPOPS_METHOD uint64_t up_to_each() const {
    uint64_t sums = packed >> kEntryBits;
    sums += sums << kBits;
    return sums + (sums << 2 * kBits);
  }
  static HIPOPS_METHOD uint32_t of_kind(uint64_t counts, int kind) {
    return uint32_t(counts >> (kBits * kind)) & ((1u << kBits) - 1);
  }
};

// Lists that the block itself sums. Long lists are apart if other blocks help with them. The other lists come longest
// first, so that waves finish closer together. The sources of an only batch, the usual case, stay in shared memory.
template <bool LongApart>
class ListsAtHand {
 public:
  explicit HIPOPS_METHOD ListsAtHand(const RowOrder& order) : o_(order) {
    if (thread_index() == 0) long_count_[0] = 0;
  }

  HIPOPS_METHOD void find() {
    join<Shape, kDigits>(o_, *this);
    barrier_for_memory();
  }

  // Publishes the long lists, and stores their sources to memory.
  HIPOPS_METHOD void say_long(LongLists<kJoinedBlock>* longs) const {
    const uint32_t count = long_count_[0];
    if (count == 0) return;
    if (in_shared_)
      for (uint32_t i = thread_index(); i < entries_; i += kJoinedBlock)
        o_.sources[first_ + i] = words()[kFirstSource + i];
    const uint32_t i = thread_index() < count ? long_place(thread_index()) : 0;
    longs->publish(thread_index() < count, {row_[i], first_ + bounds(i).begin, first_ + bounds(i).end, 0});
  }
  // Memory for the tallies and then the sources. It is free once all lists have been read.
  static constexpr int kStaged = 2 * kJoinedBlock;
  HIPOPS_METHOD Shared<b128> stage() const { return stage_; }

  HIPOPS_METHOD uint32_t rows() const { return rows_; }
  HIPOPS_METHOD uint32_t row(uint32_t list) const { return row_[list]; }

  template <class F>
  HIPOPS_METHOD void with_sources(uint32_t list, F f) const {
    const Bounds at = bounds(list);
    if (in_shared_) f(InShared{words(), kFirstSource + at.begin}, at.end - at.begin);
    else f(o_.sources + first_ + at.begin, at.end - at.begin);
  }

  // Called by join().
  HIPOPS_METHOD Shared<uint16_t> tally() const { return stage_.as<uint16_t>(); }
  static HIPOPS_METHOD uint64_t scanned(uint32_t count) {
    const bool is_listed = count != 0 && !is_apart(count);
    return (is_listed ? ListCounts::of_list(count) : ListCounts::of_entries(count)).packed;
  }
  static HIPOPS_METHOD uint32_t entries(uint64_t sum) { return ListCounts(sum).entries(); }
  HIPOPS_METHOD bool has_work(uint32_t batches) const { return batches != 0; }
  HIPOPS_METHOD void list(uint32_t digit, uint32_t, uint32_t count, const Scanned<uint64_t>& scan) const {
    if (count == 0) return;
    const ListCounts before(scan.before), all(scan.total);
    const uint32_t i = is_apart(count) ? long_place(long_count_.fetch_add(0, 1)) : before.number(all, count);
    bounds_[i] = uint64_t(before.entries() + count) << 32 | before.entries();
    row_[i] = row_of(o_, block_index() << o_.low_bits | digit);
  }
  HIPOPS_METHOD void end_digits(uint32_t end, uint64_t total) {
    const ListCounts all(total);
    rows_ = all.lists();
    entries_ = all.entries();
    first_ = end - entries_;
  }
  HIPOPS_METHOD void begin_placing(bool only_batch, uint32_t) { in_shared_ = only_batch; }
  HIPOPS_METHOD void place(uint32_t to, const OrderEntry& entry, bool only_batch) const {
    if (only_batch) words()[kFirstSource + (to - first_)] = entry.source;
    else o_.sources[to] = entry.source;
  }

 private:
  using Shape = OrderShape<kJoinedBlock, kJoinedDepth>;
  static constexpr int kDigits = 1 << kJoinedDigitBits;
  static constexpr int kWordsOfVector = sizeof(b128) / sizeof(uint32_t);
  static constexpr int kTallied = kJoinedBlock, kFirstSource = kTallied * kWordsOfVector;
  static_assert(Shape::kWaves * kDigits * sizeof(uint16_t) <= kTallied * sizeof(b128), "there is room for them");
  static_assert(kTallied + Shape::kBatch / kWordsOfVector <= kStaged, "and for the sources");
  static_assert(kDigits <= kJoinedBlock, "lists are counted in one step");

  HIPOPS_METHOD Shared<uint32_t> words() const { return stage_.as<uint32_t>(); }

  struct Bounds {
    uint32_t begin, end;  // relative to first_
  };
  HIPOPS_METHOD Bounds bounds(uint32_t list) const {
    const uint64_t packed = bounds_[list];
    return {uint32_t(packed), uint32_t(packed >> 32)};
  }
  static HIPOPS_METHOD bool is_apart(uint32_t count) { return LongApart && count > kLongList; }
  static HIPOPS_METHOD uint32_t long_place(uint32_t n) { return kDigits - 1 - n; }

  struct InShared {
    Shared<uint32_t> all;
    uint32_t begin;
    HIPOPS_METHOD uint32_t operator[](uint32_t i) const { return all[begin + i]; }
  };

  template <class T, int Count, int Which>
  static HIPOPS_METHOD Shared<T> storage() {
    HIPOPS_SHARED(T, elements, Count);
    return elements;
  }

  const RowOrder& o_;
  uint32_t rows_ = 0, entries_ = 0, first_ = 0;  // first_: the begin of the block's entries among all entries
  bool in_shared_ = true;
  // By list. Long lists fill the arrays from the end.
  Shared<uint32_t> row_ = storage<uint32_t, kDigits, 0>();
  Shared<uint64_t> bounds_ = storage<uint64_t, kDigits, 1>();
  Shared<b128> stage_ = storage<b128, kStaged, 2>();
  Shared<uint32_t> long_count_ = storage<uint32_t, 1, 3>();
};

}  // namespace
}  // namespace hipops
