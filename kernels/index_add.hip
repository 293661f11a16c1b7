// index_add: y[.., index[j], ..] += x[.., j, ..], j = 0, 1, 2, ... along dim, in place in y.
//
//   y      any shape and strides; f32, f16, bf16, f64, or integers of 8, 32 or 64 bits, which wrap around
//   x      y's shape, except the index's length in dim; any strides
//   index  1-D, any stride
//   sums   the sources of an element of y are added in index order. f16 and bf16 are added in f32 and rounded once.
//          Other types round each addition. No atomics; no bit depends on the variant or the grid.
//   bytes  sizeof(element) * (x + 2 * rows that an index names): x is read, these rows are read and written
//
// A row is the part of y at one place of dim. Rows that no index names are not touched.
//
//   few    up to 128 indices, in f32, f16 and bf16. A wave has one index and a part of its row. It loads all indices.
//          If its own index is the first that names the row, the wave adds all sources of the row.
//   scan   without a workspace, or up to some thousand indices. Each block reads the whole index, and lists the indices
//          that name its rows, by row. A group of lanes adds the sources of a row, in a part of the row. A row
//          with many sources is listed alone: all of the block loads, and a lane for each element adds.
//   list   with a workspace. The indices are sorted into a list for each row of y. In another launch, a work-item adds
//          the sources on a row's list to one vector of y, 8 in flight together.
//   joined the same for many indices, in vectors, except u8. The block that makes the lists, mostly in shared memory,
//          adds them in the same launch. Lists of over 512 sources, in f32, f16 and bf16, are added in narrow parts of
//          the row, and other blocks help (device/index/long_lists.h, device/index/block_sum.h).
//   deep   as `list`, by elements, 48 or 96 in flight, for long lists of a few rows: vectors would make few work-items.
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/index_add.hip -o index_add.co
#include "index_add.h"

#include "device/index/block_sum.h"
#include "device/index/index_join.h"
#include "device/index/index_share.h"
#include "device/index/long_lists.h"
#include "device/index/running_sum.h"
#include "device/core/cache.h"
#include "device/core/strided.h"

namespace hipops {
namespace {

// ---- The modes. Their constructors run while the previous launch is still under way.

struct ExpectingSums {
  const IndexAddArgs& a;
  HIPOPS_METHOD ExpectingSums(const IndexAddArgs& args, uint32_t blocks) : a(args) {
    prefetch_l2_by_blocks(a.expected, a.expected_parts, blocks);
  }
};

// Elements in flight of a work-item. A compute unit has registers for some hundred work-items of `deep`.
template <class T> constexpr int kDeepFlight = (bounds_set_registers ? 96 : 48) / (sizeof(T) <= 4 ? 1 : 2);

// The walk is over all of y or, by position, over a row for each index. Neighbouring work-items have neighbouring
// vectors, and mostly one list.
template <class T, int Length, bool Deep = false>
struct ListSums : ExpectingSums {
  explicit HIPOPS_METHOD ListSums(const IndexAddArgs& args) : ExpectingSums(args, uint32_t(args.grid)) {}
  HIPOPS_METHOD void add() const {
    const RowOrder& o = a.order;
    load_walk_arguments(a.walk, o.lists, o.sources, o.by_position, o.state, a.y, a.x, a.x_step, a.y_step, a.grid);
    if (o.state != nullptr && (o.state[0] | o.state[1]) != 0) return;
    for (int64_t i = int64_t(block_index()) * kListBlock + thread_index(); i < a.walk.count; i += a.grid * kListBlock) {
      const Offsets<kIndexAddOperands> at = Deep ? locate_in_loop(a.walk, i) : locate(a.walk, i);
      const uint32_t slot = uint32_t(at.of[kIndexAddRow]);
      const RowList list = o.lists[slot];
      const uint32_t begin = o.by_position ? slot : list.row_or_begin, row = o.by_position ? list.row_or_begin : slot;
      if (list.end <= begin) continue;
      T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(row) * a.y_step;
      const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
      const uint32_t* sources = o.sources + begin;
      RunningSum<T, Length> sum;
      if constexpr (Deep) {
        sum.load(y);
        sum.template add_long_list<kDeepFlight<T>>(x, a.x_step, sources, list.end - begin);
      } else {
        sum.template add_list_to<8>(y, x, a.x_step, sources, list.end - begin, a.waves_have_one_list != 0);
      }
      sum.store(y);
    }
  }
};

template <class T> constexpr bool shares_long_lists = false;
#define SHARES(T) template <> [[maybe_unused]] constexpr bool shares_long_lists<T> = true;
HIPOPS_INDEX_ADD_SHARING(SHARES)
#undef SHARES

// The walk is over the rows of a block's digits. A wave claims the next vectors when it is done with its last vectors,
// as rows differ in their numbers of sources. Additional blocks only help with long lists.
template <class T, int Length>
class JoinedSums : ExpectingSums {
 public:
  explicit HIPOPS_METHOD JoinedSums(const IndexAddArgs& args)
      : ExpectingSums(args, 1u << args.order.high_bits), lists_(args.order), longs_(args.order) {}

  HIPOPS_METHOD void add() {
    if constexpr (!kShares) return add_lists();
    const uint32_t joins = 1u << a.order.high_bits;
    if (block_index() < joins) add_lists();
    else longs_.find_all(joins);
    longs_.take((row_vectors() + LongPart::kVectors - 1) / LongPart::kVectors,
                [this](const LongList& list, uint32_t part) { add_long(list, part * LongPart::kVectors); });
  }

 private:
  static constexpr bool kShares = shares_long_lists<T>;
  using LongPart = BlockSum<T, Length, kJoinedBlock>;
  static_assert(LongPart::kStaged <= ListsAtHand<kShares>::kStaged, "it stages where the lists were");

  HIPOPS_METHOD void add_lists() {
    HIPOPS_SHARED(uint32_t, taken, 1);
    if (thread_index() == 0) taken[0] = 0;
    lists_.find();
    if constexpr (kShares) {
      lists_.say_long(&longs_);
      longs_.finish_publishing();
    }
    const uint32_t count = lists_.rows() * row_vectors();
    auto next = [&] { return first_lane_value(lane_index() == 0 ? taken.fetch_add(0, wave_size) : 0u); };
    for (uint32_t first = next(); first < count; first = next()) {
      const uint32_t i = first + lane_index();
      if (i < count) add_list(locate(a.walk, i));
    }
  }

  HIPOPS_METHOD void add_list(const Offsets<kIndexAddOperands>& at) const {
    const uint32_t list = uint32_t(at.of[kIndexAddRow]);
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(lists_.row(list)) * a.y_step;
    RunningSum<T, Length> sum;
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    lists_.with_sources(list, [&](auto source, uint32_t sources) {
      sum.template add_list_to<kJoinedFlight>(y, x, a.x_step, source, sources, a.waves_have_one_list != 0);
    });
    sum.store(y);
  }

  // Adds the part of a long list's row from vector `first` on. (The walk begins with the first list's row.)
  HIPOPS_METHOD void add_long(const LongList& list, uint32_t first) const {
    const uint32_t last = row_vectors() - 1, to = first + LongPart::added_to(), from = first + LongPart::loaded();
    T* y = static_cast<T*>(a.y) + int64_t(list.row) * a.y_step +
           locate_compact(a.walk, to < last ? to : last).of[kIndexAddY];
    const T* x = static_cast<const T*>(a.x) + locate_compact(a.walk, from < last ? from : last).of[kIndexAddX];
    LongPart sum;
    sum.begin(y, to <= last);
    sum.add(lists_.stage(), x, a.x_step, a.order.sources + list.begin, list.end - list.begin);
    sum.store(y);
  }

  HIPOPS_METHOD uint32_t row_vectors() const { return uint32_t(a.walk.count) >> a.order.low_bits; }

  ListsAtHand<kShares> lists_;
  LongLists<kJoinedBlock> longs_;
};

// The walk is over one row. A block has a part of it: a vector, or element, for each lane of a group.
template <class T, int Length>
class ScanSums {
 public:
  explicit HIPOPS_METHOD ScanSums(const IndexAddArgs& args)
      : args_(asked_for(args)),
        number_(divide(block_index(), args.scan.by_parts)),
        share_(args, args.scan.first_row, args.scan.hashes, number_, number_ == args.scan.last_share,
               args.scan.reports != 0 && block_index() == 0),
        parked_(parked()) {
    const ScanArgs& s = args.scan;
    const int64_t part = s.first_part + (block_index() - number_ * s.parts);
    lane_ = thread_index() & ((1u << s.lane_bits) - 1);
    const int64_t i = (part << s.lane_bits) + lane_;
    is_live_ = i < args.walk.count;
    const Offsets<kIndexAddOperands> at = locate_in_loop(args.walk, is_live_ ? i : 0);
    x_ = static_cast<const T*>(args.x) + at.of[kIndexAddX];
    y_ = static_cast<T*>(args.y) + at.of[kIndexAddY] + s.first_row * args.y_step;
    wait_for_arguments(args.index.size, args.index_step, args.indices, args.x_step);
  }

  // If a list has no room, or is crowded by one row, the window is narrowed to fewer rows, or to less of the index.
  HIPOPS_METHOD void add() {
    const int64_t indices = args_.indices;
    ShareWindow window{0, args_.scan.rows, 0, 0, false};
    window.whole(indices);
    do {
      auto expect = [&](uint32_t found, int64_t place) {
        if (args_.scan.expects == 0) return;
        prefetch_l1(x_ + place * args_.x_step);
        prefetch_l1(row(found));
      };
      while (!share_.list(window, expect)) window.narrow(share_.crowded_row(), Share::kLeastPlaces);
      const bool is_of_one = window.rows == 1 || share_.has_many_of_one_row();
      if (__builtin_expect(is_of_one, 0)) add_to_row(window, window.rows == 1 ? window.row : share_.row(0));
      else add_rows();
    } while (window.next(args_.scan.rows, indices));
  }

 private:
  static HIPOPS_METHOD const IndexAddArgs& asked_for(const IndexAddArgs& a) {
    load_walk_arguments(a.walk, a.x, a.y, a.scan.parts, a.scan.by_parts.multiplier, a.scan.by_parts.shift, a.scan.first_part,
                 a.scan.first_row, a.scan.hashes, a.scan.last_share, a.y_step);
    return a;
  }
  using Share = RowShare<IndexAddArgs, kScanBlock>;
  using Sum = typename Summed<T>::Sum;
  static constexpr int kFlight = Length == 16 ? 2 : 4;  // sources
  static_assert(kFlight <= Share::kPastEnd, "add_run looks at so many entries");

  HIPOPS_METHOD void add_rows() const {
    const IndexAddArgs& a = reload_arguments(args_);
    const uint32_t groups = kScanBlock >> a.scan.lane_bits;
    if (!is_live_) return;
    for (uint32_t entry = thread_index() >> a.scan.lane_bits; entry < share_.entries(); entry += groups) {
      if (!share_.is_first_of_row(entry)) continue;
      T* y = row(share_.row(entry));
      RunningSum<T, Length> sum;
      sum.ask_for(y);
      sum.template add_run<kFlight>(x_, a.x_step, share_, entry);
      sum.store(y);
    }
  }

  // The list has all of one row's sources, or a part of them. Between parts the sum is parked in shared memory.
  HIPOPS_METHOD void add_to_row(const ShareWindow& window, uint32_t number) {
    const IndexAddArgs& a = reload_arguments(args_);
    const bool has_part = is_live_ && hide_origin(thread_index()) == lane_;
    T* y = row(number);
    if (window.first == 0) is_named_ = false;  // the row may be another block's
    RunningSum<T, Length> sum;
    if (share_.entries() != 0) {
      if (has_part && !is_named_) {
        sum.load(y);
        sum.park(parked_, lane_);
      }
      is_named_ = true;
      add_parked(x_ + window.first * a.x_step, a.x_step, a.scan.lane_bits);
    }
    if (!has_part || !is_named_ || !window.has_last_of(a.indices)) return;
    sum.unpark(parked_, lane_);
    sum.store(y);
  }

  // Each group loads another source while work-items, one for each element of the part, add the last sources in order.
  HIPOPS_METHOD void add_parked(const T* x, int64_t step, int lane_bits) const {
    const Shared<Vector<T, Length>> stage = share_.spare().template as<Vector<T, Length>>();
    const Shared<T> element = share_.spare().template as<T>();
    const auto place = share_.places();
    const uint32_t groups = kScanBlock >> lane_bits, own = thread_index() >> lane_bits, count = share_.entries();
    const uint32_t elements = Length << lane_bits;
    const auto load = [&](uint32_t n) {
      return load_once<Length>(x + int64_t(place[n < count ? n : count - 1]) * step);
    };
    Vector<T, Length> v = load(own);
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += groups) {
      const uint32_t sources = count - first < groups ? count - first : groups;
      stage[thread_index()] = v;
      v = load(first + groups + own);
      barrier();
#pragma unroll 1
      for (uint32_t i = thread_index(); i < elements; i += kScanBlock) {
        const uint32_t parked = i % Length * wave_size + i / Length;
        Sum sum = parked_[parked];
#pragma unroll 8
        for (uint32_t n = 0; n < sources; ++n) sum += Summed<T>::of(T(element[n * elements + i]));
        parked_[parked] = sum;
      }
      barrier();
    }
  }

  HIPOPS_METHOD T* row(uint32_t number) const { return y_ + number * args_.y_step; }

  static HIPOPS_METHOD Shared<Sum> parked() {
    HIPOPS_SHARED(Sum, parked, wave_size * Length);
    return parked;
  }

  const IndexAddArgs& args_;
  const uint32_t number_;
  Share share_;
  const Shared<Sum> parked_;
  const T* x_;
  T* y_;
  uint32_t lane_;
  bool is_live_, is_named_ = false;
};

// The walk is over one row. A wave has a part of it and one index. It loads its source together with the indices.
template <class T, int Length>
class FewSums {
 public:
  explicit HIPOPS_METHOD FewSums(const IndexAddArgs& args) : args_(args) {
    load_walk_arguments(args.walk, args.x, args.scan.parts, args.scan.by_parts.multiplier, args.scan.by_parts.shift, args.indices,
                 args.index_step, args.index.data, args.index.type, args.index.size, args.x_step);
    const uint32_t wave = uniform(uint32_t(block_index() * (kFewBlock / wave_size) + wave_index()));
    place_ = divide(wave, args.scan.by_parts);
    const uint32_t part = wave - place_ * args.scan.parts, i = part * wave_size + lane_index();
    is_live_ = i < args.walk.count;
    reports_ = i == 0;
    const Offsets<kIndexAddOperands> at = locate(args.walk, is_live_ ? int32_t(i) : 0);
    x_ = static_cast<const T*>(args.x) + at.of[kIndexAddX];
    y_ = static_cast<T*>(args.y) + at.of[kIndexAddY];
    wait_for_arguments(args.index.size, args.index_step, args.indices, args.x_step);
  }

  HIPOPS_METHOD void add() {
    const IndexAddArgs& a = args_;
    if (place_ >= a.indices) return;
    int64_t offset[kLoads + 1], value[kLoads + 1];  // the last one is the wave's own
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      const int64_t place = n * wave_size + lane_index();
      offset[n] = (place < a.indices ? place : a.indices - 1) * a.index_step;
    }
    offset[kLoads] = place_ * a.index_step;
    const int64_t mark = load_indices(a.index, offset, value);
    const Packed<T, Length> source = load_packed_once<Length>(x_ + place_ * a.x_step);

    const int64_t row = checked_index(a.index, value[kLoads], mark, place_ * a.report_step, reports_ ? a.reported : 0);
    uint32_t first = 0, sources = 0;
    LaneMask same[kLoads];
#pragma unroll
    for (int n = kLoads - 1; n >= 0; --n) {
      same[n] = ballot(n * wave_size + lane_index() < a.indices && value[n] == value[kLoads]);
      sources += uint32_t(count_bits(same[n]));
      if (same[n] != 0) first = n * wave_size + uint32_t(first_bit(same[n]));
    }
    if (row == kNothing || first != place_) return;
    const Others others{listed()};
    if (sources > 1) list_others(same, others);
    if (!is_live_) return;
    T* y = y_ + row * a.y_step;
    RunningSum<T, Length> sum;
    sum.load(y);
    sum.add(source);
    if (sources > 1) sum.template add_list<kFlight>(x_, a.x_step, others, sources - 1);
    sum.store(y);
  }

 private:
  static constexpr int kLoads = kFewIndices / wave_size, kFlight = Length == 16 ? 2 : 4;

  // The places of the sources after the first one, in order.
  struct Others {
    Shared<uint32_t> listed;
    HIPOPS_METHOD uint32_t operator[](uint32_t n) const { return listed[wave_index() * kFewIndices + n]; }
  };
  static HIPOPS_METHOD Shared<uint32_t> listed() {
    HIPOPS_SHARED(uint32_t, listed, kFewBlock / wave_size * kFewIndices);
    return listed;
  }
  HIPOPS_METHOD void list_others(const LaneMask (&same)[kLoads], const Others& others) const {
    uint32_t before = 0;
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      const uint32_t place = n * wave_size + lane_index();
      const uint32_t number = before + uint32_t(count_bits(same[n] & lanes_below()));
      if ((same[n] >> lane_index() & 1) != 0 && place != place_)
        others.listed[wave_index() * kFewIndices + number - 1] = place;
      before += uint32_t(count_bits(same[n]));
    }
    wave_barrier();
  }

  const IndexAddArgs& args_;
  uint32_t place_;  // of the wave's index
  const T* x_;
  T* y_;
  bool is_live_, reports_;
};

}  // namespace

#define KERNEL(name, step, block)                          \
  HIPOPS_KERNEL(block) name(HIPOPS_ARGS(IndexAddArgs) a) { \
    follow_launch_before(a.next_at_once);                  \
    order_##step(a);                                       \
  }
HIPOPS_INDEX_ADD_ORDER_KERNELS(KERNEL)
#undef KERNEL

// The block and the sums of each mode. A compute unit has registers for two blocks of 512 work-items.
constexpr int list_block = kListBlock, deep_block = kListBlock, scan_block = kScanBlock, few_block = kFewBlock,
              joined_block = kJoinedBlock;
template <class T, int Length> using list_sums = ListSums<T, Length>;
template <class T, int Length> using deep_sums = ListSums<T, Length, true>;
template <class T, int Length> using scan_sums = ScanSums<T, Length>;
template <class T, int Length> using few_sums = FewSums<T, Length>;
template <class T, int Length> using joined_sums = JoinedSums<T, Length>;
#define KERNEL(name, T, bytes, mode)                                                                     \
  HIPOPS_KERNEL(mode##_block, mode##_block == 512 ? 2 : 1) name(HIPOPS_ARGS(IndexAddArgs) a) {           \
    mode##_sums<T, bytes == 0 ? 1 : bytes / sizeof(T)> sums(a);                                          \
    wait_for_launch_before();                                                                            \
    sums.add();                                                                                          \
  }
HIPOPS_INDEX_ADD_SUM_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(index_add, IndexAddArgs, HIPOPS_INDEX_ADD_KERNELS)

}  // namespace hipops
