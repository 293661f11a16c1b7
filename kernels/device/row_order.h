// The indices of a tensor, ordered by the rows that they name: for each row, a list of those that name it, in order.
//
// Ordering is a stable sort of entries {key, place in the index} by two digits of up to 10 bits, in two launches. No
// block waits for another, so none has to run beside another.
//   split  each block reads 2048 indices, drops what names no row, reports what is out of range, orders the rest by the
//          high digit in its own part of the workspace, and says where each digit's run starts in it.
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
#pragma unroll
      for (int n = 0; n < kOrderDepth; ++n) others[n] |= lanes_apart(digit[n], bit) | lanes_apart(digit[n], bit + 1);
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
#pragma unroll
      for (int w = 0; w < kOrderWaves; ++w) {
        const uint32_t at = (uint32_t(w) << bits) + digit, count = tally[at];
        tally[at] = uint16_t(total);
        total += count;
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
      batch->entry[n] = o.from[i < entries ? i : 0];
      if (i >= entries) batch->entry[n].source = Batch::kNoSource;
    }
    return;
  }
  int64_t offset[kOrderDepth], value[kOrderDepth];
#pragma unroll
  for (int n = 0; n < kOrderDepth; ++n) {
    const int64_t i = first + batch->place(n);
    offset[n] = (i < a.indices ? i : a.indices - 1) * a.index_step;
  }
  const int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
  for (int n = 0; n < kOrderDepth; ++n) {
    const int64_t i = first + batch->place(n);
    int64_t row = kNothing;
    if (i < a.indices) row = checked_index(a.index, value[n], mark, i * o.report_step, o.reported);
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
  const int64_t first = int64_t(block_index()) * kOrderBatch;
  if (o.state != nullptr && !may_order(o)) return;
  Batch batch;
  batch.begin(kOrderBatch);
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
  for (int64_t i = first + thread_index(); i < first + kOrderBatch && i < a.indices; i += kOrderBlock)
    o.lists[i] = {0, 0};
}

// A block joins the runs of one high digit, one of each block that split.
class Runs {
 public:
  HIPOPS_METHOD Runs(const RowOrder& order, Shared<uint32_t> begins, Shared<uint32_t> froms)
      : o(order), begin(begins), from(froms) {}

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
      const uint32_t runs = blocks - tile < kOrderRuns ? blocks - tile : kOrderRuns;
      uint32_t entries = 0;
#pragma unroll 1
      for (uint32_t first = 0; first < runs; first += kOrderBlock) {
        const uint32_t run = first + in_place(thread_index());
        uint32_t start = 0, end = 0;
        if (run < runs) {
          start = starts[tile + run];
          end = starts[blocks + tile + run];
        }
        const Scanned<uint64_t> scan = block_scan<kOrderBlock>(uint64_t(start) << 32 | (end - start));
        if (run < runs) {
          begin[run] = entries + uint32_t(scan.before);
          from[run] = (tile + run) * kOrderBatch + start;
        }
        const uint64_t total = uniform(scan.total);
        entries += uint32_t(total);
        smaller += uint32_t(total >> 32);
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
  // Of the tile's entries, those from `first` on.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t entries, Batch* batch) const {
    uint32_t run[kOrderDepth] = {};
#pragma unroll 1
    for (uint32_t step = runs > 256 ? 256 : runs > 128 ? 128 : 64; step != 0; step /= 2) {
#pragma unroll
      for (int n = 0; n < kOrderDepth; ++n) {
        const uint32_t next = run[n] + step;
        if (next < runs && begin[next] <= first + batch->place(n)) run[n] = next;
      }
    }
#pragma unroll
    for (int n = 0; n < kOrderDepth; ++n) {
      const uint32_t i = first + batch->place(n);
      const bool there = batch->has(n) && i < entries;
      batch->entry[n] = o.split[there ? from[run[n]] + (i - begin[run[n]]) : 0];
      if (!there) batch->entry[n].source = Batch::kNoSource;
    }
  }

  static_assert(kOrderRuns == 512, "the search's first step is half of it");

  const RowOrder& o;
  Shared<uint32_t> begin;  // of the tile's runs: where they begin among the digit's entries,
  Shared<uint32_t> from;   // and in o.split
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
  HIPOPS_SHARED(uint32_t, begins, kOrderRuns);
  HIPOPS_SHARED(uint32_t, froms, kOrderRuns);
  const RowOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] != 0 || (o.only_round && has_long_list(o)))) return;
  const Runs runs(o, begins, froms);
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
