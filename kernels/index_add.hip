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
//   scan   without a workspace, or for few indices. Each block goes over all of the index, and lists those that name
//          its share of the rows; its waves add, for a part of such a row, what the list has for it.
//   list   with the workspace. The indices are ordered first: a list for each row of y, in index order. Then a
//          work-item adds, for one vector of y, the sources on its row's list, 8 in flight at a time.
//   joined the same in the launch that makes the lists, by the block that made them, which mostly has them in shared
//          memory: of many indices, in vectors.
//   deep   as `list`, by elements, 32 in flight, for long lists of a few rows: vectors would make few work-items.
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/index_add.hip -o index_add.co
#include "index_add.h"

#include "device/row_join.h"
#include "device/row_share.h"
#include "device/stream.h"
#include "device/strided.h"

namespace hipops {
namespace {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

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
    expect(y);
    begin();
  }
  // The same, where it is waited for when sources are on their way, too.
  HIPOPS_METHOD void expect(const T* y) {
    y_ = load_vector<Length>(y);
    if constexpr (Length == 16) begin();  // registers do not have it twice
  }
  HIPOPS_METHOD bool is_here() const { return is_here_; }

  HIPOPS_METHOD void store(T* y) const {
    Vector<T, Length> v;
#pragma unroll
    for (int i = 0; i < Length; ++i) v.element[i] = Row::rounded(sum_[i]);
    store_vector<Length>(y, v);
  }

  // Adds the sources that are listed, in order, Flight of them in flight together, while where the next ones are is on
  // its way too. What lies past the end is the last one again, which is in the cache, and dropped: without a branch
  // between loads.
  template <int Flight, class Sources>
  HIPOPS_METHOD void add_list(const T* x, int64_t step, const Sources& source, uint32_t count) {
    uint32_t from[Flight];
    find(source, count, from);
    for (uint32_t first = 0; first < count; first += Flight) {
      const uint32_t left = count - first;
      Vector<T, Length> v[Flight];
#pragma unroll
      for (int n = 0; n < Flight; ++n) v[n] = load_once<Length>(x + int64_t(from[n]) * step);
      ask_for_all(v);
      begin();
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

  // The same of lists that may be short: of fewer sources, half as many are in flight, and half of that.
  template <int Flight, class Sources>
  HIPOPS_METHOD void add_short_list(const T* x, int64_t step, const Sources& source, uint32_t count) {
    if constexpr (Flight > 1) {
      if (count <= Flight / 2) return add_short_list<Flight / 2>(x, step, source, count);
    }
    add_list<Flight>(x, step, source, count);
  }

  // The same of lists that may be short or not, where a wave's lanes may not have one list: those with shorter ones
  // would wait for the others, one after the other.
  template <int Flight, class Sources>
  HIPOPS_METHOD void add_list(const T* x, int64_t step, const Sources& source, uint32_t count, bool wave_has_one) {
    constexpr int kShort = 4;
    if (wave_has_one && count <= kShort) add_short_list<kShort>(x, step, source, count);
    else add_list<Flight>(x, step, source, count);
  }

  // The same of long lists, of a sum that is here.
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
  HIPOPS_METHOD void begin() {
    if (is_here_) return;
    is_here_ = true;
#pragma unroll
    for (int i = 0; i < Length; ++i) sum_[i] = Row::of(y_.element[i]);
  }

  // The next sources; past the end, the last one again: there is no branch between loads.
  template <int Count, class Sources>
  static HIPOPS_METHOD void find(const Sources& source, uint32_t count, uint32_t (&from)[Count]) {
#pragma unroll
    for (uint32_t n = 0; n < Count; ++n) from[n] = source[n < count ? n : count - 1];
  }

  typename Row::Sum sum_[Length] = {};
  Vector<T, Length> y_;
  bool is_here_ = false;
};

// The walk is over all of y, or, by position, over as many rows as there are indices: neighbouring work-items have
// neighbouring vectors, whatever dim is, and mostly one list.
template <class T, int Length, bool Long = false>
HIPOPS_FN void index_add_list(const IndexAddArgs& a) {
  const RowOrder& o = a.order;
  if (o.state != nullptr && (o.state[0] | o.state[1]) != 0) return;
  for (int64_t i = int64_t(block_index()) * kListBlock + thread_index(); i < a.walk.count; i += a.grid * kListBlock) {
    const Offsets<kIndexAddOperands> at = locate(a.walk, i);
    const uint32_t slot = uint32_t(at.of[kIndexAddRow]);
    const RowList list = o.lists[slot];
    const uint32_t begin = o.by_position ? slot : list.row_or_begin, row = o.by_position ? list.row_or_begin : slot;
    if (list.end <= begin) continue;
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(row) * a.y_step;
    RunningSum<T, Length> sum;
    sum.load(y);
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    if (Long) sum.template add_long_list<32>(x, a.x_step, o.sources + begin, list.end - begin);
    else sum.template add_list<8>(x, a.x_step, o.sources + begin, list.end - begin, a.waves_have_one_list != 0);
    sum.store(y);
  }
}

template <class T, int Length>
HIPOPS_FN void index_add_deep(const IndexAddArgs& a) { index_add_list<T, Length, true>(a); }

// Sources in flight: on AMD, sums of 16 elements leave registers for fewer.
template <int Length> constexpr int joined_flight = 8;
#if defined(HIPOPS_AMD)
template <> constexpr int joined_flight<16> = 4;
#endif

// The walk is over the rows of a block's digits. Its waves take as much of it at a time as they have lanes for, each
// when it is done with what it had: rows have more sources and less.
template <class T, int Length>
HIPOPS_FN void index_add_joined(const IndexAddArgs& a) {
  HIPOPS_SHARED(uint32_t, taken, 1);
  ListsAtHand lists(a.order);
  if (thread_index() == 0) taken[0] = 0;
  lists.find();
  const uint32_t count = lists.rows() * (uint32_t(a.walk.count) >> a.order.low_bits);
  auto next = [&] { return of_first_lane(lane_index() == 0 ? taken.fetch_add(0, wave_size) : 0u); };
  for (uint32_t first = next(); first < count; first = next()) {
    const uint32_t i = first + lane_index();
    if (i >= count) continue;
    const Offsets<kIndexAddOperands> at = locate(a.walk, i);
    const uint32_t list = uint32_t(at.of[kIndexAddRow]);
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(lists.row(list)) * a.y_step;
    RunningSum<T, Length> sum;
    sum.load(y);
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    const uint32_t sources = lists.sources(list);
    lists.with_sources(list, [&](auto source) {
      sum.template add_list<joined_flight<Length>>(x, a.x_step, source, sources, a.waves_have_one_list != 0);
    });
    sum.store(y);
  }
}

// Sources in flight: beside 16 sums, registers are left for one.
template <int Length> constexpr int scan_flight = Length == 16 ? 1 : 8;

// The walk is over one row, of which a block has as much as a wave's lanes hold; its waves take the entries of its list
// in turn.
template <class T, int Length>
HIPOPS_FN void index_add_scan(const IndexAddArgs& a) {
  const ScanArgs& s = a.scan;
  const uint32_t number = divide(block_index(), s.by_parts), part = block_index() - number * s.parts;
  const int64_t i = (s.first_part + part) * wave_size + lane_index();
  const bool live = i < a.walk.count;  // the other lanes help to look
  const Offsets<kIndexAddOperands> at = locate(a.walk, live ? i : 0);
  const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
  T* y = static_cast<T*>(a.y) + at.of[kIndexAddY];
  RowShare<IndexAddArgs, kScanBlock> share(a, s.first_row, s.rows, s.shares, number);
  if (s.reports != 0 && a.index.report != nullptr) share.report();
  int64_t end = 0;
  do {
    end = share.list(end);
    for (uint32_t entry = uniform(wave_index()); entry < share.entries(); entry = share.next_entry()) {
      T* sums = y + share.row(entry) * a.y_step;
      RunningSum<T, Length> sum;
      share.for_those_of(entry, [&](auto place, uint32_t count, int64_t base) {
        if (!live) return;
        if (!sum.is_here()) sum.expect(sums);
        sum.template add_short_list<scan_flight<Length>>(x + base * a.x_step, a.x_step, place, count);
      });
      if (sum.is_here()) sum.store(sums);
    }
  } while (end < a.indices);
}

}  // namespace

#define KERNEL(name, step, block)                          \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexAddArgs) a) { \
    follow_launch_before(a.next_at_once);                  \
    order_##step(a);                                       \
  }
HIPOPS_INDEX_ADD_ORDER_KERNELS(KERNEL)
#undef KERNEL

// The work-items of a block, by mode. Of 512, a unit has registers for two blocks.
constexpr int list_block = kListBlock, deep_block = kListBlock, scan_block = kScanBlock, joined_block = kJoinedBlock;
#define KERNEL(name, T, bytes, mode)                                                                     \
  HIPOPS_KERNEL(mode##_block, mode##_block == 512 ? 2 : 1) name(HIPOPS_ARGS(IndexAddArgs) a) {           \
    expect_loads(a.expected, a.expected_parts);                                                          \
    wait_for_launch_before();                                                                            \
    index_add_##mode<T, bytes == 0 ? 1 : bytes / sizeof(T)>(a);                                          \
  }
HIPOPS_INDEX_ADD_SUM_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(index_add, IndexAddArgs, HIPOPS_INDEX_ADD_KERNELS)

}  // namespace hipops
