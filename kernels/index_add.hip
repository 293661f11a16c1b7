// index_add: y[.., index[j], ..] += x[.., j, ..], j = 0, 1, 2, ... along dim, in place in y.
//
//   y      any shape and strides; f32, f16, bf16, f64, or integers of 8, 32 or 64 bits, which wrap around
//   x      y's shape, but for the index's length in dim; any strides
//   index  1-D, any stride
//   sums   the sources of an element of y are added to it in index order, in f32 (f64: in f64), and the sum is rounded
//          once. So each element has one reader, there are no atomics, and no bit depends on the variant or the grid.
//   bytes  each source is read, and each row of y that an index names is read and written:
//          sizeof(element) * (x + 2 * those rows)
//
// A row is what y has at one place of dim. Rows that no index names are not touched.
//
//   scan   without a workspace, or for few indices. One wave for as much of a row as its lanes hold: it goes over all
//          of the index and adds the sources that are for its row. That is rows x indices comparisons; or
//          indices x indices, where these are fewer than the rows: then a wave belongs to an index, and gives up when
//          an earlier one names the same row.
//   list   with the workspace. The indices are ordered first: a list for each row of y, in index order. Then a
//          work-item adds, for one vector of y, the sources on its row's list, 8 in flight at a time.
//   deep   the same by elements, 32 in flight, for long lists of a few rows: vectors would make few work-items.
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
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/index_add.hip -o index_add.co
#include "index_add.h"

#include "device/indices.h"
#include "device/scan.h"
#include "device/stream.h"
#include "device/strided.h"

namespace hipops {
namespace {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

// ---- Sums

// What an element is summed in. Integers are without sign, which shows in no bit of a sum, so that they wrap around.
template <class T> struct Summed {
  using Sum = compute_t<T>;
  static HIPOPS_METHOD Sum of(T v) { return widen(v); }
  static HIPOPS_METHOD T rounded(Sum v) { return narrow<T>(v); }
};
template <class T, class S> struct SummedInteger {
  using Sum = S;
  static HIPOPS_METHOD Sum of(T v) { return v; }
  static HIPOPS_METHOD T rounded(Sum v) { return T(v); }
};
template <> struct Summed<u8> : SummedInteger<u8, u32> {};
template <> struct Summed<u32> : SummedInteger<u32, u32> {};
template <> struct Summed<u64> : SummedInteger<u64, u64> {};

// The sums of a vector of y.
template <class T, int Length>
class RunningSum {
 public:
  using Row = Summed<T>;

  HIPOPS_METHOD void load(const T* y) {
    Vector<T, Length> v = load_vector<Length>(y);
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = Row::of(v.element[i]);
  }

  HIPOPS_METHOD void store(T* y) const {
    Vector<T, Length> v;
#pragma unroll
    for (int i = 0; i < Length; ++i) v.element[i] = Row::rounded(sum_[i]);
    store_vector<Length>(y, v);
  }

  // Adds `count` sources, one after the other, each `step` times next() from x. Up to Flight of them, a power of two,
  // are in flight together.
  template <int Flight, class Next>
  HIPOPS_METHOD void add(const T* x, int64_t step, uint32_t count, Next next) {
    for (; count >= Flight; count -= Flight) add_some<Flight>(x, step, next);
    add_rest<Flight / 2>(x, step, count, next);
  }

  // Adds the sources that are listed, in order, Flight of them in flight together, while where the next ones are is on
  // its way too. What lies past the end is the last one again, which is in the cache, and dropped: without a branch
  // between loads.
  template <int Flight>
  HIPOPS_METHOD void add_list(const T* x, int64_t step, const uint32_t* source, uint32_t count) {
    uint32_t from[Flight];
    find(source, count, from);
    for (uint32_t first = 0; first < count; first += Flight) {
      const uint32_t left = count - first;
      Vector<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) v[n] = load_once<Length>(x + int64_t(from[n]) * step);
      ask_for_all(v);
#pragma unroll
      for (uint32_t n = 0; n < Flight; ++n) from[n] = source[first + (n + Flight < left ? n + Flight : left - 1)];
#pragma unroll
      for (uint32_t n = 0; n < Flight; ++n) {
#pragma unroll
        for (int i = 0; i < Length; ++i) {
          const typename Row::Sum sum = sum_[i] + Row::of(v[n].element[i]);
          sum_[i] = n < left ? sum : sum_[i];
        }
      }
    }
  }

  // The same of long lists.
  template <int Flight>
  HIPOPS_METHOD void add_long_list(const T* x, int64_t step, const uint32_t* source, uint32_t count) {
    uint32_t from[Flight], first = 0;
    find(source, count, from);
    for (; count - first >= Flight; first += Flight) {
      Vector<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) v[n] = load_once<Length>(x + int64_t(from[n]) * step);
      if (count - first > Flight) find(source + first + Flight, count - first - Flight, from);
#pragma unroll
      for (int n = 0; n < Flight; ++n) {
#pragma unroll
        for (int i = 0; i < Length; ++i) sum_[i] += Row::of(v[n].element[i]);
      }
    }
    if (first < count) add_list<8>(x, step, source + first, count - first);
  }

 private:
  // The next sources; past the end, the last one again: there is no branch between loads.
  template <int Count>
  static HIPOPS_METHOD void find(const uint32_t* source, uint32_t count, uint32_t (&from)[Count]) {
#pragma unroll
    for (uint32_t n = 0; n < Count; ++n) from[n] = source[n < count ? n : count - 1];
  }

  template <int Count, class Next>
  HIPOPS_METHOD void add_some(const T* x, int64_t step, Next& next) {
    uint32_t source[Count];
    Vector<T, Length> v[Count];
#pragma unroll
    for (int n = 0; n < Count; ++n) source[n] = next();
#pragma unroll
    for (int n = 0; n < Count; ++n) v[n] = load_vector<Length>(x + int64_t(source[n]) * step);
#pragma unroll
    for (int n = 0; n < Count; ++n) {
#pragma unroll
      for (int i = 0; i < Length; ++i) sum_[i] += Row::of(v[n].element[i]);
    }
  }

  template <int Count, class Next>
  HIPOPS_METHOD void add_rest(const T* x, int64_t step, uint32_t count, Next& next) {
    if (count & Count) add_some<Count>(x, step, next);
    if constexpr (Count > 1) add_rest<Count / 2>(x, step, count, next);
  }

  typename Row::Sum sum_[Length] = {};
};

constexpr int kSumBlock = kIndexAddSumBlock;

// The walk is over all of y, or, by position, over as many rows as there are indices: neighbouring work-items have
// neighbouring vectors, whatever dim is, and mostly one list.
template <class T, int Length, bool Long = false>
HIPOPS_FN void index_add_list(const IndexAddArgs& a) {
  const IndexAddOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] | o.state[1]) != 0) return;
  for (int64_t i = int64_t(block_index()) * kSumBlock + thread_index(); i < a.walk.count; i += a.grid * kSumBlock) {
    const Offsets<kIndexAddOperands> at = locate(a.walk, i);
    const uint32_t slot = uint32_t(at.of[kIndexAddRow]);
    const IndexAddList list = o.lists[slot];
    const uint32_t begin = o.by_position ? slot : list.row_or_begin, row = o.by_position ? list.row_or_begin : slot;
    if (list.end <= begin) continue;
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(row) * a.y_step;
    RunningSum<T, Length> sum;
    sum.load(y);
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    if (Long) sum.template add_long_list<32>(x, a.x_step, o.sources + begin, list.end - begin);
    else sum.template add_list<8>(x, a.x_step, o.sources + begin, list.end - begin);
    sum.store(y);
  }
}

template <class T, int Length>
HIPOPS_FN void index_add_deep(const IndexAddArgs& a) { index_add_list<T, Length, true>(a); }

// The part of the index that `scan` looks at in one step: kScanDepth loads of each lane.
constexpr int kScanDepth = 4;

// The lanes whose index, of the kScanDepth of each, names `row`.
struct Hits {
  LaneMask of[kScanDepth];

  // of[n] without an address of its own.
  HIPOPS_METHOD LaneMask at(int n) const {
    LaneMask mask = of[0];
#pragma unroll
    for (int i = 1; i < kScanDepth; ++i) mask = n == i ? of[i] : mask;
    return mask;
  }
};
HIPOPS_FN Hits find_row(const IndexAddArgs& a, int64_t first, int64_t row) {
  constexpr int64_t kStep = kScanDepth * wave_size;
  const int left = int(a.indices - first < kStep ? a.indices - first : kStep);
  int64_t offset[kScanDepth], value[kScanDepth];
#pragma unroll
  for (int n = 0; n < kScanDepth; ++n) {
    int place = n * wave_size + int(lane_index());
    offset[n] = (first + (place < left ? place : 0)) * a.index_step;
  }
  int64_t mark = load_indices(a.index, offset, value);
  if (row == mark) row = kNothing;  // a row that no index of this type can name
  Hits hits;
#pragma unroll
  for (int n = 0; n < kScanDepth; ++n)
    hits.of[n] = ballot(n * wave_size + int(lane_index()) < left && value[n] == row && row != kNothing);
  return hits;
}

// Reads each index once, for the report.
HIPOPS_FN void report_indices(const IndexAddArgs& a) {
  for (int64_t i = int64_t(block_index()) * kSumBlock + thread_index(); i < a.indices; i += a.grid * kSumBlock)
    read_index(a.index, i * a.index_step, i, true);
}

// Walks over one row; the units of work are (target, as much of a row as a wave holds).
template <class T, int Length>
HIPOPS_FN void index_add_scan(const IndexAddArgs& a) {
  constexpr int kWaves = kSumBlock / wave_size;
  if (a.index.report != nullptr) report_indices(a);
  const int64_t parts = (a.walk.count + wave_size - 1) / wave_size, units = a.targets * parts;
  for (int64_t unit = int64_t(block_index()) * kWaves + uniform(wave_index()); unit < units; unit += a.grid * kWaves) {
    const int64_t target = unit / parts, part = unit - target * parts;
    int64_t row = target;
    if (a.by_source) {
      row = uniform(read_index(a.index, target * a.index_step, target, false));
      if (row == kNothing) continue;
    }
    const int64_t i = part * wave_size + lane_index();
    const bool live = i < a.walk.count;  // the other lanes help to look
    Offsets<kIndexAddOperands> at = locate(a.walk, live ? i : 0);
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + row * a.y_step;
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    RunningSum<T, Length> sum;
    bool found = false, earlier = false;
    for (int64_t first = 0; first < a.indices && !earlier; first += kScanDepth * wave_size) {
      Hits hits = find_row(a, first, row);
#pragma unroll 1
      for (int n = 0; n < kScanDepth && !earlier; ++n) {
        LaneMask lanes = hits.at(n);
        if (lanes == 0) continue;
        const int64_t base = first + n * wave_size;
        if (!found) {
          found = true;
          earlier = a.by_source && base + first_lane(lanes) != target;  // that one's wave takes the row
          if (live && !earlier) sum.load(y);
        }
        if (live && !earlier) {
          sum.template add<4>(x + base * a.x_step, a.x_step, uint32_t(count_lanes(lanes)), [&] {
            uint32_t lane = uint32_t(first_lane(lanes));
            lanes &= lanes - 1;
            return lane;
          });
        }
      }
    }
    if (found && !earlier && live) sum.store(y);
  }
}

// ---- Order

constexpr int kOrderWaves = kIndexAddOrderBlock / wave_size;
constexpr int kMostDigits = 1 << kIndexAddDigitBits;

// Keys are a permutation of the rows (and of what there is up to the next power of two): rows that are neighbours, or a
// power of two apart, as those that occur often may be, differ in the high digit, and so are spread over the blocks
// that join.
constexpr uint32_t kMix = 0x9e3779b1u, kUnmix = 0x0e8b2f51u;
static_assert(uint32_t(kMix * kUnmix) == 1, "the one undoes the other");

HIPOPS_FN uint32_t key_of(const IndexAddOrder& o, uint32_t row) { return row * kMix & o.key_mask; }
HIPOPS_FN uint32_t row_of(const IndexAddOrder& o, uint32_t key) { return key * kUnmix & o.key_mask; }

// Up to kIndexAddBatch entries that a block has in registers: a wave's are neighbours, as many of them for each wave.
// These kernels run for a few microseconds, in which what is executed but once has to be fetched as well: so loops that
// need not be unrolled are not.
struct Batch {
  static constexpr uint32_t kNoSource = UINT32_MAX;  // of places without an entry: sources are fewer
  IndexAddEntry entry[kIndexAddDepth];
  uint32_t digit[kIndexAddDepth];
  uint32_t rank[kIndexAddDepth];  // how many entries of its wave before it have the digit
  uint32_t share;                 // of a wave, a multiple of wave_size

  HIPOPS_METHOD void begin(uint32_t entries) {
    const uint32_t steps = (entries + kIndexAddOrderBlock - 1) / kIndexAddOrderBlock;
    share = (steps < kIndexAddDepth ? steps : kIndexAddDepth) * wave_size;
  }

  HIPOPS_METHOD uint32_t place(int n) const { return wave_index() * share + uint32_t(n) * wave_size + lane_index(); }
  HIPOPS_METHOD bool has(int n) const { return uint32_t(n) * wave_size < share; }  // the same for all work-items

  HIPOPS_METHOD bool there(int n) const { return entry[n].source != kNoSource; }

  // Finds the ranks. `tally`, a row of which belongs to each wave, becomes how many entries of each digit the wave has.
  HIPOPS_METHOD void rank_by_digit(Shared<uint16_t> tally, int shift, int bits) {
    const uint32_t own = wave_index() << bits;
#pragma unroll 1
    for (uint32_t d = in_place(lane_index()); d < 1u << bits; d += wave_size) tally[own + d] = 0;
    LaneMask peers[kIndexAddDepth];
#pragma unroll
    for (int n = 0; n < kIndexAddDepth; ++n) {
      digit[n] = entry[n].key >> shift & ((1u << bits) - 1);
      peers[n] = ballot(there(n));
    }
#pragma unroll 1
    for (int bit = 0; bit < bits; ++bit) {
#pragma unroll
      for (int n = 0; n < kIndexAddDepth; ++n) {
        const uint32_t set = digit[n] >> bit & 1;
        peers[n] &= ~(ballot(set != 0) ^ (LaneMask(0) - set));  // those that have it, or those that don't
      }
    }
    wave_barrier();
#pragma unroll
    for (int n = 0; n < kIndexAddDepth; ++n) {
      if (!has(n)) break;
      const LaneMask earlier = peers[n] & lanes_below();
      const uint32_t before = tally[own + digit[n]];
      rank[n] = before + uint32_t(count_lanes(earlier));
      wave_barrier();
      if (there(n) && earlier == 0) tally[own + digit[n]] = uint16_t(before + uint32_t(count_lanes(peers[n])));
      wave_barrier();
    }
  }
};

// Calls f(digit, how many entries the block has of it) for every work-item, one digit each; past the last digit there
// are none. `tally` becomes how many of those the waves before have.
template <class F>
HIPOPS_FN void for_each_digit(Shared<uint16_t> tally, int bits, F f) {
#pragma unroll 1
  for (uint32_t first = 0; first < 1u << bits; first += kIndexAddOrderBlock) {
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
HIPOPS_FN void load_share(const IndexAddArgs& a, int64_t first, Batch* batch) {
  const IndexAddOrder& o = a.order;
  if (o.from != nullptr) {
    const int64_t entries = *o.entries;
#pragma unroll
    for (int n = 0; n < kIndexAddDepth; ++n) {
      const int64_t i = first + batch->place(n);
      batch->entry[n] = o.from[i < entries ? i : 0];
      if (i >= entries) batch->entry[n].source = Batch::kNoSource;
    }
    return;
  }
  int64_t offset[kIndexAddDepth], value[kIndexAddDepth];
#pragma unroll
  for (int n = 0; n < kIndexAddDepth; ++n) {
    const int64_t i = first + batch->place(n);
    offset[n] = (i < a.indices ? i : a.indices - 1) * a.index_step;
  }
  const int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
  for (int n = 0; n < kIndexAddDepth; ++n) {
    const int64_t i = first + batch->place(n);
    int64_t row = kNothing;
    if (i < a.indices) row = checked_index(a.index, value[n], mark, i * o.report_step, o.reported);
    batch->entry[n] = {key_of(o, uint32_t(row)), row != kNothing ? uint32_t(i) : Batch::kNoSource};
  }
}

// Sets the state. All blocks of the launch find the same.
HIPOPS_FN bool may_order(const IndexAddOrder& o) {
  uint32_t differ = 0;
  const int64_t differs = o.differ != nullptr ? o.differs : 0;
  for (int64_t i = thread_index(); i < differs; i += kIndexAddOrderBlock) differ |= o.differ[i];
  differ = block_scan<kIndexAddOrderBlock>(uint32_t(differ != 0)).total;
  barrier();
  if (block_index() == 0 && thread_index() == 0) {
    o.state[0] = differ != 0;
    o.state[1] = 0;
  }
  return differ == 0;
}

HIPOPS_FN void order_split(const IndexAddArgs& a) {
  HIPOPS_SHARED(uint16_t, tally, kOrderWaves * kMostDigits);
  HIPOPS_SHARED(uint16_t, start_of, kMostDigits);
  HIPOPS_SHARED(IndexAddEntry, sorted, kIndexAddBatch);
  const IndexAddOrder& o = a.order;
  const int64_t first = int64_t(block_index()) * kIndexAddBatch;
  if (o.state != nullptr && !may_order(o)) return;
  Batch batch;
  batch.begin(kIndexAddBatch);
  load_share(a, first, &batch);
  batch.rank_by_digit(tally, o.shift + o.low_bits, o.high_bits);
  barrier();

  uint32_t entries = 0;
  for_each_digit(tally, o.high_bits, [&](uint32_t digit, uint32_t count) {
    const Scanned<uint32_t> scan = block_scan<kIndexAddOrderBlock>(count);
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
  for (int n = 0; n < kIndexAddDepth; ++n)
    if (batch.there(n))
      sorted[uint32_t(start_of[batch.digit[n]]) + tally[own + batch.digit[n]] + batch.rank[n]] = batch.entry[n];
  barrier();
#pragma unroll 1
  for (uint32_t i = thread_index(); i < entries; i += kIndexAddOrderBlock) o.split[first + i] = sorted[i];
  if (!o.last || !o.by_position) return;
#pragma unroll 1
  for (int64_t i = first + thread_index(); i < first + kIndexAddBatch && i < a.indices; i += kIndexAddOrderBlock)
    o.lists[i] = {0, 0};
}

// A block joins the runs of one high digit, one of each block that split.
class Runs {
 public:
  HIPOPS_METHOD Runs(const IndexAddOrder& order, Shared<uint32_t> begins, Shared<uint32_t> froms)
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
      const uint32_t runs = blocks - tile < kIndexAddRuns ? blocks - tile : kIndexAddRuns;
      uint32_t entries = 0;
#pragma unroll 1
      for (uint32_t first = 0; first < runs; first += kIndexAddOrderBlock) {
        const uint32_t run = first + in_place(thread_index());
        uint32_t start = 0, end = 0;
        if (run < runs) {
          start = starts[tile + run];
          end = starts[blocks + tile + run];
        }
        const Scanned<uint64_t> scan = block_scan<kIndexAddOrderBlock>(uint64_t(start) << 32 | (end - start));
        if (run < runs) {
          begin[run] = entries + uint32_t(scan.before);
          from[run] = (tile + run) * kIndexAddBatch + start;
        }
        const uint64_t total = uniform(scan.total);
        entries += uint32_t(total);
        smaller += uint32_t(total >> 32);
        barrier();
      }
#pragma unroll 1
      for (uint32_t first = 0; first < entries; first += kIndexAddBatch) {
        ++*batches;
        batch->begin(entries - first);
        load(runs, first, entries, batch);
        f();
      }
      tile += kIndexAddRuns;
    } while (tile < blocks);
    return smaller;
  }

 private:
  // Of the tile's entries, those from `first` on.
  HIPOPS_METHOD void load(uint32_t runs, uint32_t first, uint32_t entries, Batch* batch) const {
    uint32_t run[kIndexAddDepth] = {};
#pragma unroll 1
    for (uint32_t step = runs > 256 ? 256 : runs > 128 ? 128 : 64; step != 0; step /= 2) {
#pragma unroll
      for (int n = 0; n < kIndexAddDepth; ++n) {
        const uint32_t next = run[n] + step;
        if (next < runs && begin[next] <= first + batch->place(n)) run[n] = next;
      }
    }
#pragma unroll
    for (int n = 0; n < kIndexAddDepth; ++n) {
      const uint32_t i = first + batch->place(n);
      const bool there = batch->has(n) && i < entries;
      batch->entry[n] = o.split[there ? from[run[n]] + (i - begin[run[n]]) : 0];
      if (!there) batch->entry[n].source = Batch::kNoSource;
    }
  }

  static_assert(kIndexAddRuns == 512, "the search's first step is half of it");

  const IndexAddOrder& o;
  Shared<uint32_t> begin;  // of the tile's runs: where they begin among the digit's entries,
  Shared<uint32_t> from;   // and in o.split
};

// Whether the block has so many entries that one of its lists is bound to be too long, which it notes.
HIPOPS_FN bool has_long_list(const IndexAddOrder& o) {
  const uint32_t* starts = o.starts + int64_t(block_index()) * o.blocks;
  uint32_t entries = 0;
#pragma unroll 1
  for (uint32_t i = thread_index(); i < o.blocks; i += kIndexAddOrderBlock) entries += starts[o.blocks + i] - starts[i];
  entries = block_scan<kIndexAddOrderBlock>(entries).total;
  barrier();
  if (entries >> o.low_bits <= o.longest) return false;
  if (thread_index() == 0) atomic_max(&o.state[1], 1u);
  return true;
}

HIPOPS_FN void order_join(const IndexAddArgs& a) {
  HIPOPS_SHARED(uint16_t, tally, kOrderWaves * kMostDigits);
  HIPOPS_SHARED(uint32_t, next, kMostDigits);  // where the next entry of a digit goes; at first, how many there are
  HIPOPS_SHARED(uint32_t, of_batch, kMostDigits);
  HIPOPS_SHARED(uint32_t, begins, kIndexAddRuns);
  HIPOPS_SHARED(uint32_t, froms, kIndexAddRuns);
  const IndexAddOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] != 0 || has_long_list(o))) return;
  const Runs runs(o, begins, froms);
  const uint32_t digits = 1u << o.low_bits;
  Batch batch{};
  auto place = [&] {
    const uint32_t own = wave_index() << o.low_bits;
#pragma unroll
    for (int n = 0; n < kIndexAddDepth; ++n) {
      if (!batch.there(n)) continue;
      const uint32_t to = of_batch[batch.digit[n]] + tally[own + batch.digit[n]] + batch.rank[n];
      if (o.last) static_cast<uint32_t*>(o.joined)[to] = batch.entry[n].source;
      else static_cast<IndexAddEntry*>(o.joined)[to] = batch.entry[n];
    }
  };
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += kIndexAddOrderBlock) next[digit] = 0;

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
    if (pass != 0 || (batches == 0 && o.last && o.by_position)) return;

#pragma unroll 1
    for (uint32_t first = 0; first < digits; first += kIndexAddOrderBlock) {
      const uint32_t digit = first + in_place(thread_index()), count = digit < digits ? uint32_t(next[digit]) : 0;
      const Scanned<uint32_t> scan = block_scan<kIndexAddOrderBlock>(count);
      const uint32_t at = begin + scan.before;
      if (digit < digits) {
        next[digit] = at;
        of_batch[digit] = at;
        const uint32_t row = row_of(o, block_index() << o.low_bits | digit);
        if (count > o.longest) atomic_max(&o.state[1], 1u);
        const bool by_position = in_place(uint32_t(o.by_position)) != 0;
        if (o.last && (by_position ? count != 0 : row < o.rows))
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
HIPOPS_FN uint32_t end_of_key(const IndexAddEntry* entry, uint32_t i, uint32_t entries) {
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
HIPOPS_FN void order_bound(const IndexAddArgs& a) {
  const IndexAddOrder& o = a.order;
  if (o.state != nullptr && o.state[0] != 0) return;
  const uint32_t entries = *o.entries;
  for (int64_t i = int64_t(block_index()) * kIndexAddOrderBlock + thread_index(); i < a.indices;
       i += a.grid * kIndexAddOrderBlock) {
    IndexAddList list{0, 0};
    if (i < entries) {
      const uint32_t key = o.from[i].key;
      o.sources[i] = o.from[i].source;
      if (i == 0 || o.from[i - 1].key != key) list = {row_of(o, key), end_of_key(o.from, uint32_t(i), entries)};
    }
    o.lists[i] = list;
  }
}

}  // namespace

#define KERNEL(name, step, block)                          \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexAddArgs) a) { \
    follow_launch_before();                                \
    order_##step(a);                                       \
  }
HIPOPS_INDEX_ADD_ORDER_KERNELS(KERNEL)
#undef KERNEL

#define KERNEL(name, T, bytes, mode)                              \
  HIPOPS_KERNEL(kSumBlock, 1) name(HIPOPS_ARGS(IndexAddArgs) a) { \
    follow_launch_before();                                       \
    index_add_##mode<T, bytes == 0 ? 1 : bytes / sizeof(T)>(a);   \
  }
HIPOPS_INDEX_ADD_SUM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(index_add, IndexAddArgs, HIPOPS_INDEX_ADD_KERNELS)

}  // namespace hipops
