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
//          work-item adds, for one vector of y, the sources on its row's list.
//
// Ordering is a radix sort of entries {row, place in the index} from the lowest digit of the row to the highest, each
// pass of which keeps the order of equal digits: 2 launches for each 8 bits of the number of rows.
//   count  each block counts, in a range of the entries of its own, how often each digit occurs.
//   place  each block finds where its entries of each digit go: behind all of smaller digits, and behind those of the
//          same digit in earlier blocks. So do its waves, each of which owns a part of the range, among themselves;
//          and the lanes of a wave, which find those with the same digit by ballots.
//   bound  finds where each row's entries begin and end.
// The first pass reads the index itself, drops what names no row, and reports what is out of range. Entries are
// 8 bytes, read twice and written once in a pass, mostly in the L2 cache. For 2^18 indices into 2^14 rows there are 4
// launches of 128 blocks, bound, and list.
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/index_add.hip -o index_add.co
#include "index_add.h"

#include "device/indices.h"
#include "device/scan.h"
#include "device/strided.h"
#include "device/vector.h"

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

 private:
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

constexpr int kSumBlock = 256;

// The walk is over all of y: neighbouring work-items have neighbouring vectors, whatever dim is, and mostly one list.
template <class T, int Length>
HIPOPS_FN void index_add_list(const IndexAddArgs& a) {
  for (int64_t i = int64_t(block_index()) * kSumBlock + thread_index(); i < a.walk.count; i += a.grid * kSumBlock) {
    Offsets<kIndexAddOperands> at = locate(a.walk, i);
    IndexAddList list = a.pass.lists[at.of[kIndexAddRow]];
    if (list.begin == list.end) continue;
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY];
    uint32_t next = list.begin;
    RunningSum<T, Length> sum;
    sum.load(y);
    sum.template add<8>(static_cast<const T*>(a.x) + at.of[kIndexAddX], a.x_step, list.end - list.begin,
                        [&] { return a.pass.from[next++].source; });
    sum.store(y);
  }
}

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

// Entry i of what the pass orders; false for an index that names no row.
HIPOPS_FN bool load_entry(const IndexAddArgs& a, int64_t i, bool reports, IndexAddEntry* entry) {
  if (a.pass.from != nullptr) {
    *entry = a.pass.from[i];
    return true;
  }
  int64_t row = read_index(a.index, i * a.index_step, i, reports);
  *entry = {uint32_t(row), uint32_t(i)};
  return row != kNothing;
}

// What a wave has to do with the entries of its block: its own part of the block's range, and its own row of `tally`, a
// number for each digit.
struct WaveOrder {
  static constexpr int kWaves = kIndexAddOrderBlock / wave_size;

  const IndexAddArgs& a;
  Shared<uint32_t> tally;  // [kWaves][kIndexAddDigits]
  uint32_t own;
  int64_t begin, end;

  HIPOPS_METHOD WaveOrder(const IndexAddArgs& args, Shared<uint32_t> shared) : a(args), tally(shared) {
    own = wave_index() * kIndexAddDigits;
    begin = block_index() * a.pass.range + wave_index() * (a.pass.range / kWaves);
    end = begin + a.pass.range / kWaves;
    const int64_t entries = a.pass.from == nullptr ? a.indices : *a.pass.entries;
    if (end > entries) end = entries;
  }

  // Calls f(there, entry, its digit's place in tally, the lanes that have an entry of that digit) for a wave's worth of
  // entries at a time, in order, for every lane; `there` tells which lanes have an entry.
  template <class F>
  HIPOPS_METHOD void for_each(bool reports, F f) const {
    for (int64_t i = begin; i < end; i += wave_size) {
      IndexAddEntry entry{};
      bool there = i + lane_index() < end && load_entry(a, i + lane_index(), reports, &entry);
      uint32_t digit = (entry.row >> a.pass.shift) & ((1u << a.pass.bits) - 1);
      LaneMask peers = ballot(there);
      for (int bit = 0; bit < a.pass.bits; ++bit) {
        bool set = (digit >> bit) & 1;
        LaneMask with = ballot(set);
        peers &= set ? with : ~with;
      }
      f(there, entry, own + digit, peers);
    }
  }

  // How often each digit occurs.
  HIPOPS_METHOD void count(bool reports) const {
    for (uint32_t digit = lane_index(); digit < kIndexAddDigits; digit += wave_size) tally[own + digit] = 0;
    wave_barrier();
    for_each(reports, [&](bool there, const IndexAddEntry&, uint32_t at, LaneMask peers) {
      if (there && (peers & lanes_below()) == 0) tally[at] = tally[at] + uint32_t(count_lanes(peers));
      wave_barrier();
    });
  }
};

HIPOPS_FN void order_count(const IndexAddArgs& a) {
  HIPOPS_SHARED(uint32_t, tally, WaveOrder::kWaves * kIndexAddDigits);
  const bool first_pass = a.pass.from == nullptr;
  WaveOrder(a, tally).count(first_pass);
  barrier();
  const uint32_t digits = 1u << a.pass.bits;
  if (thread_index() < digits) {
    uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < WaveOrder::kWaves; ++w) sum += tally[w * kIndexAddDigits + thread_index()];
    a.pass.counts[block_index() * digits + thread_index()] = sum;
  }
  if (!first_pass) return;
  for (int64_t row = int64_t(block_index()) * kIndexAddOrderBlock + thread_index(); row < a.pass.rows;
       row += int64_t(a.pass.blocks) * kIndexAddOrderBlock)
    a.pass.lists[row] = {0, 0};
}

HIPOPS_FN void order_place(const IndexAddArgs& a) {
  HIPOPS_SHARED(uint32_t, tally, WaveOrder::kWaves * kIndexAddDigits);
  HIPOPS_SHARED(uint32_t, of_all, kIndexAddOrderBlock);
  HIPOPS_SHARED(uint32_t, of_earlier, kIndexAddOrderBlock);
  WaveOrder order(a, tally);
  order.count(false);

  // Of each digit, how many there are in all blocks and in those before this one: several work-items for a digit, each
  // of which adds up some of the blocks.
  const uint32_t digits = 1u << a.pass.bits, digit = thread_index() & (digits - 1);
  const uint32_t helpers = kIndexAddOrderBlock >> a.pass.bits;
  uint32_t all = 0, earlier = 0;
#pragma unroll 8
  for (uint32_t b = thread_index() >> a.pass.bits; b < uint32_t(a.pass.blocks); b += helpers) {
    uint32_t n = a.pass.counts[b * digits + digit];
    all += n;
    earlier += b < block_index() ? n : 0;
  }
  of_all[thread_index()] = all;
  of_earlier[thread_index()] = earlier;
  barrier();
  all = earlier = 0;
  if (thread_index() < digits) {
    for (uint32_t part = digit; part < kIndexAddOrderBlock; part += digits) {
      all += of_all[part];
      earlier += of_earlier[part];
    }
  }
  Scanned<uint32_t> scan = block_scan<kIndexAddOrderBlock>(all);
  if (thread_index() < digits) {
    uint32_t to = scan.before + earlier;
#pragma unroll
    for (int w = 0; w < WaveOrder::kWaves; ++w) {
      uint32_t n = tally[w * kIndexAddDigits + digit];
      tally[w * kIndexAddDigits + digit] = to;
      to += n;
    }
  }
  if (a.pass.from == nullptr && block_index() == 0 && thread_index() == 0) *a.pass.entries = scan.total;
  barrier();

  // Now tally says where a wave's next entry of a digit goes.
  order.for_each(false, [&](bool there, const IndexAddEntry& entry, uint32_t at, LaneMask peers) {
    uint32_t to = tally[at];
    wave_barrier();
    LaneMask before = peers & lanes_below();
    if (there) {
      if (before == 0) tally[at] = to + uint32_t(count_lanes(peers));
      a.pass.to[to + uint32_t(count_lanes(before))] = entry;
    }
    wave_barrier();
  });
}

HIPOPS_FN void order_bound(const IndexAddArgs& a) {
  const IndexAddEntry* entry = a.pass.from;
  const int64_t entries = *a.pass.entries;
  for (int64_t i = int64_t(block_index()) * kSumBlock + thread_index(); i < entries; i += a.grid * kSumBlock) {
    uint32_t row = entry[i].row;
    if (i == 0 || entry[i - 1].row != row) a.pass.lists[row].begin = uint32_t(i);
    if (i + 1 == entries || entry[i + 1].row != row) a.pass.lists[row].end = uint32_t(i + 1);
  }
}

}  // namespace

#define KERNEL(name, step, block) \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexAddArgs) a) { order_##step(a); }
HIPOPS_INDEX_ADD_ORDER_KERNELS(KERNEL)
#undef KERNEL

#define KERNEL(name, T, bytes, mode)                                  \
  HIPOPS_KERNEL(kSumBlock, 1) name(HIPOPS_ARGS(IndexAddArgs) a) {     \
    index_add_##mode<T, bytes == 0 ? 1 : bytes / sizeof(T)>(a);       \
  }
HIPOPS_INDEX_ADD_SUM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(index_add, IndexAddArgs, HIPOPS_INDEX_ADD_KERNELS)

}  // namespace hipops
