// The indices of a tensor, ordered by the rows that they name: for each row, a list of those that name it, in order.
//
// Ordering is a stable sort of entries {key, place in the index} by two digits of up to 10 bits, in two launches. No
// block waits for another, so none has to run beside another.
//   split  each block reads up to 2048 indices, drops what names no row, reports what is out of range, orders the rest
//          by the high digit in its own part of the workspace, and says where each digit's run starts in it.
//   join   a block for each high digit: the starts tell it where its runs are, and where its entries go in the end. It
//          orders them by the low digit: in registers where there are up to 2048, as there mostly are, otherwise it
//          reads them twice, to count and to place them. What it knows then is each row's list.
// Within a block, waves own parts of the entries, and lanes find those with the same digit by ballots. Keys are rows
// multiplied by an odd number: so rows that are used often, which tend to be neighbours, fall into different digits.
// Lists are found by the row, or, where there are more rows than indices, by the position of their first source: then
// no work is proportional to the rows.
//   bound  Keys of more than 20 bits are ordered twice, by their low half and by their high one, 4 launches; and this
//          one finds where lists end.
// Of each index the ordering reads the index, writes 8 bytes and reads them, and writes 4, mostly in the L2 cache.
#pragma once

#include "device/indices.h"
#include "device/row_order_contract.h"
#include "device/scan.h"

namespace hipops {
namespace {

// Args of the kernels have the indices (`index`, `index_step`, `indices`), their `order`, and the `grid`.

constexpr int kOrderWaves = kOrderBlock / wave_size;
constexpr int kMostDigits = 1 << kOrderDigitBits;

// Keys are a permutation of the rows (and of what there is up to the next power of two): rows that are neighbours, or a
// power of two apart, as those that occur often may be, differ in the high digit, and so are spread over the blocks
// that join.
constexpr uint32_t kMix = 0x9e3779b1u, kUnmix = 0x0e8b2f51u;
static_assert(uint32_t(kMix * kUnmix) == 1, "the one undoes the other");

HIPOPS_FN uint32_t key_of(const RowOrder& o, uint32_t row) { return row * kMix & o.key_mask; }
HIPOPS_FN uint32_t row_of(const RowOrder& o, uint32_t key) { return key * kUnmix & o.key_mask; }

// Up to kOrderBatch entries that a block has in registers: a wave's are neighbours, as many of them for each wave.
// These kernels run for a few microseconds, in which what is executed but once has to be fetched as well: so loops that
// need not be unrolled are not.
struct Batch {
  static constexpr uint32_t kNoSource = UINT32_MAX;  // of places without an entry: sources are fewer
  OrderEntry entry[kOrderDepth];
  uint32_t digit[kOrderDepth];
  uint32_t rank[kOrderDepth];  // how many entries of its wave before it have the digit
  uint32_t share;              // of a wave, a multiple of wave_size

  HIPOPS_METHOD void begin(uint32_t entries) {
    const uint32_t steps = (entries + kOrderBlock - 1) / kOrderBlock;
    share = (steps < kOrderDepth ? steps : kOrderDepth) * wave_size;
  }

  HIPOPS_METHOD uint32_t place(int n) const { return wave_index() * share + uint32_t(n) * wave_size + lane_index(); }
  HIPOPS_METHOD bool has(int n) const { return uint32_t(n) * wave_size < share; }  // the same for all work-items

  HIPOPS_METHOD bool there(int n) const { return entry[n].source != kNoSource; }

  // Finds the ranks. `tally`, a row of which belongs to each wave, becomes how many entries of each digit the wave has.
  HIPOPS_METHOD void rank_by_digit(Shared<uint16_t> tally, int shift, int bits) {
    const uint32_t own = wave_index() << bits;
#pragma unroll 1
    for (uint32_t d = in_place(lane_index()); d < 1u << bits; d += wave_size) tally[own + d] = 0;
    LaneMask others[kOrderDepth];  // lanes that have another digit
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      digit[n] = entry[n].key >> shift & ((1u << bits) - 1);
      others[n] = 0;
    }
#pragma unroll 1
    for (int bit = 0; bit < bits; bit += 2) {  // there are zeros above
      compare<0, kMostlyHeld>(bit, others);
      if (has(kMostlyHeld)) compare<kMostlyHeld, kOrderDepth>(bit, others);
    }
    wave_barrier();
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      if (!has(n)) break;
      const LaneMask peers = ballot(there(n)) & ~others[n], earlier = peers & lanes_below();
      const uint32_t before = tally[own + digit[n]];
      rank[n] = before + uint32_t(count_lanes(earlier));
      wave_barrier();
      if (there(n) && earlier == 0) tally[own + digit[n]] = uint16_t(before + uint32_t(count_lanes(peers)));
      wave_barrier();
    }
  }

 private:
  static constexpr int kMostlyHeld = kOrderDepth / 2 + 1;  // by blocks that join, which expect half of a batch

  // Two bits of the digits from From to To: adds the lanes where they are others.
  template <int From, int To>
  HIPOPS_METHOD void compare(int bit, LaneMask (&others)[kOrderDepth]) const {
#pragma unroll
    for (int n = From; n < To; ++n) others[n] |= lanes_apart(digit[n], bit) | lanes_apart(digit[n], bit + 1);
  }
};

// Calls f(digit, how many entries the block has of it) for every work-item, one digit each; past the last digit there
// are none. `tally` becomes how many of those the waves before have.
template <class F>
HIPOPS_FN void for_each_digit(Shared<uint16_t> tally, int bits, F f) {
#pragma unroll 1
  for (uint32_t first = 0; first < 1u << bits; first += kOrderBlock) {
    const uint32_t digit = first + in_place(thread_index());
    uint32_t total = 0;
    if (digit < 1u << bits) {
      uint32_t count[kOrderWaves];  // all of them, before one is written: a single trip to shared memory
#pragma unroll
      for (int w = 0; w < kOrderWaves; ++w) count[w] = tally[(uint32_t(w) << bits) + digit];
#pragma unroll
      for (int w = 0; w < kOrderWaves; ++w) {
        tally[(uint32_t(w) << bits) + digit] = uint16_t(total);
        total += count[w];
      }
    }
    f(digit, total);
  }
}

// The block's share of the index, or of the entries there are.
template <class Args>
HIPOPS_FN void load_share(const Args& a, int64_t first, Batch* batch) {
  const RowOrder& o = a.order;
  if (o.from != nullptr) {
    const int64_t entries = *o.entries;
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      const int64_t i = first + batch->place(n);
      const bool there = batch->has(n) && i < entries;
      batch->entry[n] = o.from[there ? i : 0];
      if (!there) batch->entry[n].source = Batch::kNoSource;
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
    if (batch->has(n) && i < a.indices) row = checked_index(a.index, value[n], mark, i * o.report_step, o.reported);
    batch->entry[n] = {key_of(o, uint32_t(row)), row != kNothing ? uint32_t(i) : Batch::kNoSource};
  }
}

// Whether indices are those of whole rows, as far as is known. The first round sets the state; all blocks of its launch
// find the same.
HIPOPS_FN bool may_order(const RowOrder& o) {
  if (o.from != nullptr) return o.state[0] == 0;
  uint32_t differ = 0;
  const int64_t differs = o.differ != nullptr ? o.differs : 0;
  for (int64_t i = thread_index(); i < differs; i += kOrderBlock) differ |= o.differ[i];
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
  HIPOPS_SHARED(uint16_t, tally, kOrderWaves * kMostDigits);
  HIPOPS_SHARED(uint16_t, start_of, kMostDigits);
  HIPOPS_SHARED(OrderEntry, sorted, kOrderBatch);
  const RowOrder& o = a.order;
  const int64_t first = int64_t(block_index()) * o.batch;
  if (o.state != nullptr && !may_order(o)) return;
  Batch batch;
  batch.begin(o.batch);
  load_share(a, first, &batch);
  batch.rank_by_digit(tally, o.shift + o.low_bits, o.high_bits);
  barrier();

  uint32_t entries = 0;
  for_each_digit(tally, o.high_bits, [&](uint32_t digit, uint32_t count) {
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

// A block joins the runs of one high digit, one of each block that split.
class Runs {
 public:
  explicit HIPOPS_METHOD Runs(const RowOrder& order) : o(order) {
#pragma unroll 1
    for (uint32_t i = in_place(thread_index()); i < kOrderBatch; i += kOrderBlock) head[i] = 0;
  }

  // Loads every batch of the digit's entries, and calls f() for it, which ends with a barrier. Returns how many entries
  // with smaller digits there are, and sets *batches.
  template <class F>
  HIPOPS_METHOD uint32_t for_each_batch(Batch* batch, uint32_t* batches, F f) const {
    const uint32_t blocks = o.blocks;
    const uint32_t* starts = o.starts + int64_t(block_index()) * blocks;
    uint32_t smaller = 0;
    *batches = 0;
    uint32_t tile = 0;
#pragma unroll 1
    do {
      const uint32_t last = blocks - tile < kOrderRuns ? blocks - tile : kOrderRuns;
      uint32_t runs = 0, entries = 0;  // of the tile; runs that are empty don't count
#pragma unroll 1
      for (uint32_t first = 0; first < last; first += kOrderBlock) {
        const uint32_t block = first + in_place(thread_index());
        uint32_t start = 0, end = 0;
        if (block < last) {
          start = starts[tile + block];
          end = starts[blocks + tile + block];
        }
        const Counts own{start, end - start};
        const Scanned<uint64_t> scan = block_scan<kOrderBlock>(own.packed);
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
      for (uint32_t first = 0; first < entries; first += kOrderBatch) {
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
  // What is added up over a block's work-items, a run each, by one scan.
  struct Counts {
    static constexpr int kEntryBits = 21;  // a tile's are fewer
    uint64_t packed;
    explicit HIPOPS_METHOD Counts(uint64_t v) : packed(v) {}
    HIPOPS_METHOD Counts(uint32_t start, uint32_t entries)
        : packed(uint64_t(start) << 32 | uint32_t(entries != 0) << kEntryBits | entries) {}
    HIPOPS_METHOD uint32_t starts() const { return uint32_t(packed >> 32); }
    HIPOPS_METHOD uint32_t runs() const { return uint32_t(packed) >> kEntryBits; }
    HIPOPS_METHOD uint32_t entries() const { return uint32_t(packed) & ((1u << kEntryBits) - 1); }
  };
  static_assert(kOrderRuns * kOrderBatch < 1 << Counts::kEntryBits && kOrderBlock < 1 << (32 - Counts::kEntryBits),
                "both have room");

  // Of the tile's entries, those from `first` on. It is marked where runs begin among them, and noted in which run each
  // wave's first place is: that tells the others theirs.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t entries, Batch* batch) const {
#pragma unroll 1
    for (uint32_t run = in_place(thread_index()); run < runs; run += kOrderBlock) {
      const int begins = int(begin[run] - first), ends = int((run + 1 < runs ? begin[run + 1] : entries) - first);
      if (begins >= 0 && begins < kOrderBatch) head[begins] = 1;
#pragma unroll
      for (int w = 0; w < kOrderWaves; ++w)
        if (begins <= w * int(batch->share) && w * int(batch->share) < ends) first_run[w] = run;
    }
    barrier();
    bool begins[kOrderDepth];
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) begins[n] = batch->has(n) && head[batch->place(n)] != 0;
    uint32_t before = first_run[wave_index()] - uint32_t(ballot(begins[0]) & 1);
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      batch->entry[n] = {0, Batch::kNoSource};
      if (!batch->has(n)) continue;
      head[batch->place(n)] = 0;  // for the next batch
      const LaneMask heads = ballot(begins[n]);
      const uint32_t run = before + uint32_t(count_lanes(heads & (2 * lanes_below() + 1)));
      const uint32_t i = first + batch->place(n);
      if (i < entries) batch->entry[n] = o.split[shift[run] + i];
      before += uint32_t(count_lanes(heads));
    }
  }

  template <class T, int Count, int Which>
  static HIPOPS_METHOD Shared<T> storage() {
    HIPOPS_SHARED(T, elements, Count);
    return elements;
  }

  const RowOrder& o;
  // Of the tile's runs: where they begin among the digit's entries, and how much further on they lie in o.split.
  Shared<uint32_t> begin = storage<uint32_t, kOrderRuns, 0>(), shift = storage<uint32_t, kOrderRuns, 1>();
  // Of the batch: whether a run begins at a place, and the run of each wave's first place.
  Shared<uint8_t> head = storage<uint8_t, kOrderBatch, 2>();
  Shared<uint32_t> first_run = storage<uint32_t, kOrderWaves, 3>();
};

// Whether the block has so many entries that one of its lists is bound to be too long, which it notes.
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

template <class Args>
HIPOPS_FN void order_join(const Args& a) {
  HIPOPS_SHARED(uint16_t, tally, kOrderWaves * kMostDigits);
  HIPOPS_SHARED(uint32_t, next, kMostDigits);  // where the next entry of a digit goes; at first, how many there are
  HIPOPS_SHARED(uint32_t, of_batch, kMostDigits);
  const RowOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] != 0 || (o.only_round && has_long_list(o)))) return;
  const Runs runs(o);
  const uint32_t digits = 1u << o.low_bits;
  Batch batch{};
  auto place = [&] {
    const uint32_t own = wave_index() << o.low_bits;
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      if (!batch.there(n)) continue;
      const uint32_t to = of_batch[batch.digit[n]] + tally[own + batch.digit[n]] + batch.rank[n];
      if (o.only_round) static_cast<uint32_t*>(o.joined)[to] = batch.entry[n].source;
      else static_cast<OrderEntry*>(o.joined)[to] = batch.entry[n];
    }
  };
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += kOrderBlock) next[digit] = 0;

  // Counts the digits, and then places the entries: those of an only batch, which are still at hand, or all anew.
#pragma unroll 1
  for (uint32_t pass = 0;; ++pass) {
    uint32_t batches;
    uint32_t begin = runs.for_each_batch(&batch, &batches, [&] {
      batch.rank_by_digit(tally, o.shift, o.low_bits);
      barrier();
      for_each_digit(tally, o.low_bits, [&](uint32_t digit, uint32_t count) {
        if (digit >= digits) return;
        const uint32_t before = next[digit];
        of_batch[digit] = before;
        next[digit] = before + count;
      });
      barrier();
      if (in_place(pass) != 0) place();
      barrier();
    });
    if (pass != 0 || (batches == 0 && o.only_round && o.by_position)) return;

#pragma unroll 1
    for (uint32_t first = 0; first < digits; first += kOrderBlock) {
      const uint32_t digit = first + in_place(thread_index()), count = digit < digits ? uint32_t(next[digit]) : 0;
      const Scanned<uint32_t> scan = block_scan<kOrderBlock>(count);
      const uint32_t at = begin + scan.before;
      if (digit < digits) {
        next[digit] = at;
        of_batch[digit] = at;
        const uint32_t row = row_of(o, block_index() << o.low_bits | digit);
        if (o.only_round && count > o.longest) atomic_max(&o.state[1], 1u);
        const bool by_position = in_place(uint32_t(o.by_position)) != 0;
        if (o.only_round && (by_position ? count != 0 : row < o.rows))
          o.lists[by_position ? at : row] = {by_position ? row : at, at + count};
      }
      begin += uniform(scan.total);
      barrier();
    }
    if (in_place(block_index()) + 1 == 1u << o.high_bits && in_place(thread_index()) == 0) *o.entries = begin;
    if (batches == 1) return place();
    if (batches == 0) return;
  }
}

// Where the entries from i on that have its key end.
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

// The lists by position, and the sources, of entries that are in order.
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
