// index_add: y[.., index[j], ..] += x[.., j, ..], j = 0, 1, 2, ... along dim, in place in y.
//
//   y      any shape and strides; f32, f16, bf16, f64, or integers of 8, 32 or 64 bits, which wrap around
//   x      y's shape, except the index's length in dim; any strides
//   index  1-D, any stride
//   sums   in the order that hipops.h promises. f16 and bf16 are added in f32 and rounded once. Other types round each
//          addition. No atomics on y; no bit depends on the variant or the grid.
//   bytes  of x, and twice of the rows of y that an index names: x is read, these rows are read and written
//
// A row is the part of y at one place of dim. Rows that no index names are not touched.
//
//   few    up to 128 indices, in f32, f16 and bf16. A wave has one index and a part of its row. It loads all indices.
//          If its own index is the first that names the row, the wave adds all sources of the row.
//   scan   without a workspace, or up to some thousand indices. Each block reads the whole index, and lists the indices
//          that name the rows of its bucket, by row. A group of lanes adds the sources of a row, in a part of the row.
//          All groups of the block load a row with many sources. A lane for each element and chunk adds.
//   line   the same for scatter_add: each element of a row has a line of indices of its own.
//   joined, sum  with a workspace (device/index/segmented_sum.h). The indices are sorted by row: by `split` and
//          `joined` (device/index/sorted_sources.h), or by the passes of a radix sort (device/index/radix_passes.h):
//          `count`, `offsets`, `partition`. `joined` also sums rows of few sources. `sum` follows both sorts: it adds
//          the sources that are left in chunks of 128, and then the chunks' sums.
//
// Alone: hipcc --genco -std=c++17 --offload-arch=gfx942 -O3 -I kernels kernels/index_add.hip -o index_add.co
#include "index_add.h"

#include "device/index/chunk_sums.h"
#include "device/index/row_bucket.h"
#include "device/index/radix_passes.h"
#include "device/index/running_sum.h"
#include "device/index/segmented_sum.h"
#include "device/core/cache.h"
#include "device/core/strided.h"

namespace hipops {
namespace {

// ---- The modes. On NVIDIA, their constructors run while the previous launch is still under way.

// The walk is over one row. A block has a part of it: a vector, or element, for each lane of a group. ByLines: a part
// is an element with a line of indices of its own. A block may then have several pairs of a RowBucket and a part.
template <class T, int Length, bool ByLines = false>
class ScanSums {
 public:
  explicit HIPOPS_METHOD ScanSums(const IndexAddArgs& args)
      : args_(load_arguments(args)), bucket_(args) {
    if constexpr (!ByLines) begin_part(block_index());
    wait_for_arguments(args.index.size, args.index_step, args.indices, args.x_step);
  }

  HIPOPS_METHOD void add() {
    if constexpr (!ByLines) return add_part();
    if (rows_are_added(args_.scan.rows_differ)) return;
    const auto blocks = [this] {
      const ScanArgs& s = reload_arguments(args_).scan;
      return (s.last_bucket + 1) * s.parts;
    };
#pragma unroll 1
    for (uint32_t block = block_index(); block < blocks(); block += uint32_t(reload_arguments(args_).grid)) {
      begin_part(block);
      add_part();
    }
  }

 private:
  HIPOPS_METHOD void begin_part(uint32_t block) {
    const IndexAddArgs& a = ByLines ? reload_arguments(args_) : args_;
    const ScanArgs& s = a.scan;
    const uint32_t number = divide(block, s.by_parts);
    const int64_t part = s.first_part + (block - number * s.parts);
    lane_ = thread_index() & ((1u << s.lane_bits) - 1);
    const int64_t i = (part << s.lane_bits) + lane_;
    is_live_ = i < a.walk.count;
    const Offsets<kIndexAddOperands> at = locate_in_loop(a.walk, is_live_ ? i : 0);
    x_ = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    y_ = static_cast<T*>(a.y) + at.of[kIndexAddY] + s.first_row * a.y_step;
    bucket_.begin(s.hashes, number, number == s.last_bucket, block < s.reports);
    if constexpr (ByLines) line_ = {at.of[kIndexAddIndex], at.of[kIndexAddPlace]};
  }

  // If a list has no room, the window is narrowed to fewer rows, or to less of the index.
  HIPOPS_METHOD void add_part() {
    ListWindow window{0, args_.scan.rows, 0, 0, false};
    window.whole(args_.indices);
    do {
      auto prefetch = [&](uint32_t found, int64_t place) {
        const IndexAddArgs& a = reload_arguments(args_);
        if (a.scan.prefetches == 0) return;
        prefetch_l1(x_ + place * a.x_step);
        prefetch_l1(y_ + found * a.y_step);
      };
      while (!bucket_.list(ByLines ? line_ : IndexLine{0, 0}, window, prefetch))
        window.narrow(bucket_.crowded_row(), Bucket::kLeastPlaces);
      const bool is_alone = window.rows == 1;
      if (!is_alone) add_rows();
      uint32_t from = 0;
#pragma unroll 1
      while (true) {
        const Segment segment = is_alone ? Segment{window.row, 0, bucket_.entries()} : bucket_.next_segment(from);
        if (!is_alone && segment.end == 0) break;
        if (is_alone || segment.end - segment.begin > bucket_.most_of_short()) add_to_row(segment, window);
        if (is_alone) break;
        from = segment.end;
      }
    } while (window.next(reload_arguments(args_).scan.rows, reload_arguments(args_).indices));
  }

  static HIPOPS_METHOD const IndexAddArgs& load_arguments(const IndexAddArgs& a) {
    load_walk_arguments(a.walk, a.x, a.y, a.scan.parts, a.scan.by_parts.multiplier, a.scan.by_parts.shift,
                        a.scan.first_part, a.scan.first_row, a.scan.hashes, a.scan.last_bucket, a.y_step, a.index.data,
                        a.index.type, a.indices, a.index_step, a.scan.rows, a.scan.lane_bits);
    return a;
  }
  HIPOPS_METHOD int lane_bits() const { return ByLines ? 0 : reload_arguments(args_).scan.lane_bits; }
  using Bucket = RowBucket<IndexAddArgs, kScanBlock, kScanRoom>;
  using Segment = typename Bucket::Segment;
  using Sum = typename Summed<T>::Sum;
  static constexpr bool kShowsOrder = Summed<T>::kShowsOrder;
  static constexpr int kFlight = Length == 16 ? 2 : 4;  // sources
  static constexpr int kUnrolled = kShowsOrder ? 8 : 4;  // gfx9 has too few scalar registers for 8 integer additions
  static_assert(kFlight <= Bucket::kPastEnd, "add_segment reads kFlight entries");
  // Vectors that a work-item stages together: vectors of 16 bytes have room for one. More elements would need too many
  // registers, and a line of indices has a source for each work-item.
  static constexpr uint32_t kStaged = ByLines || Length > 1 ? 1 : 2;
  static_assert(kStaged * kScanBlock * Length * sizeof(T) <= kScanRoom * sizeof(uint64_t), "they have room");

  HIPOPS_METHOD void add_rows() const {
    const IndexAddArgs& a = reload_arguments(args_);
    const uint32_t groups = kScanBlock >> lane_bits(), most = bucket_.most_of_short();
    if (!is_live_) return;
    for (uint32_t entry = thread_index() >> lane_bits(); entry < bucket_.entries(); entry += groups) {
      if (!bucket_.is_first_of_row(entry) || bucket_.has_more(entry, most)) continue;
      T* y = row(bucket_.row(entry));
      RunningSum<T, Length> sum;
      sum.issue_load(y);
      sum.template add_segment<kFlight>(x_, a.x_step, bucket_, entry);
      sum.store(y);
    }
  }

  // The sources of a row that have been added: full chunks, and sources of the last chunk, which may be full. Without
  // an order, in_last only shows whether there are any.
  struct Chunks {
    uint32_t full, in_last;
    HIPOPS_METHOD void add(uint32_t sources) {
      if (!kShowsOrder) return void(in_last = 1);
      const uint32_t before_last = in_last + sources - 1;
      full += before_last / kChunk;
      in_last = before_last % kChunk + 1;
    }
  };

  // The segment has a row's sources in the window. Between windows the sum is parked in shared memory.
  HIPOPS_METHOD void add_to_row(const Segment& segment, const ListWindow& window) const {
    const IndexAddArgs& a = reload_arguments(args_);
    const auto has_part = [this] { return is_live_ && hide_origin(thread_index()) == lane_; };
    const bool is_first = window.first == 0;
    RunningSum<T, Length> sum;
    Chunks chunks{0, 0};
    if (!is_first) chunks = {chunks_[0], chunks_[1]};
    if (segment.end != segment.begin) {
      if (has_part() && chunks.in_last == 0) {
        sum.load(row(segment.row));
        sum.park(parked_, lane_, kScanLanes);
      }
      add_parked(segment, x_ + window.first * a.x_step, a.x_step, lane_bits(), &chunks);
    }
    const bool is_last = window.has_last_of(reload_arguments(args_).indices);
    if (!is_last && (is_first || segment.end != segment.begin) && thread_index() == 0)
      chunks_[0] = chunks.full, chunks_[1] = chunks.in_last;
    if (!is_last || chunks.in_last == 0) return;
    if (kShowsOrder && chunks.full != 0) add_chunks_to_parked(Length << lane_bits(), chunks.full);
    if (!has_part()) return;
    sum.unpark(parked_, lane_, kScanLanes);
    sum.store(row(segment.row));
  }

  // All groups load sources, while work-items add the sources that were loaded before.
  HIPOPS_METHOD void add_parked(const Segment& segment, const T* x, int64_t step, int lane_bits, Chunks* chunks) const {
    const Shared<Vector<T, Length>> stage = bucket_.spare().template as<Vector<T, Length>>();
    const auto place = bucket_.places();
    const uint32_t groups = kScanBlock >> lane_bits, own = thread_index() >> lane_bits;
    const uint32_t count = segment.end - segment.begin, staged = kStaged * groups;
    Vector<T, Length> v[kStaged];
    const auto load = [&](uint32_t first) {
#pragma unroll
      for (uint32_t k = 0; k < kStaged; ++k) {
        const uint32_t n = first + k * groups + own;
        v[k] = load_once<Length>(x + int64_t(place[segment.begin + (n < count ? n : count - 1)]) * step);
      }
    };
    load(0);
#pragma unroll 1
    for (uint32_t first = 0; first < count; first += staged) {
      const uint32_t sources = count - first < staged ? count - first : staged;
#pragma unroll
      for (uint32_t k = 0; k < kStaged; ++k) stage[k * kScanBlock + thread_index()] = v[k];
      load(first + staged);
      barrier();
      add_staged(Length << lane_bits, sources, *chunks);
      chunks->add(sources);
    }
    barrier();
  }

  // A work-item for each chunk and element of the staged sources adds in order. A full chunk's sum moves to the levels
  // when another source follows.
  HIPOPS_METHOD void add_staged(uint32_t elements, uint32_t sources, const Chunks& before) const {
    const Shared<T> staged = bucket_.spare().template as<T>();
    const uint32_t chunks = kShowsOrder ? (before.in_last + sources - 1) / kChunk + 1 : 1;
    // A wave adds one chunk, because different chunks' elements are in the same banks of shared memory.
    const uint32_t lanes = elements < wave_size ? wave_size : elements, bits = uint32_t(count_bits(lanes - 1));
#pragma unroll 1
    for (uint32_t i = thread_index(); i < chunks * lanes; i += kScanBlock) {
      const uint32_t chunk = uniform(i >> bits), element = i & (lanes - 1);
      if (element >= elements) continue;
      uint32_t n = chunk == 0 ? 0 : chunk * kChunk - before.in_last;
      const uint32_t end = chunk + 1 == chunks ? sources : (chunk + 1) * kChunk - before.in_last;
      Sum sum = chunk == 0 ? Sum(parked_[place_of(element)]) : Sum(0);
#pragma unroll kUnrolled
      for (; n < end; ++n) sum += Summed<T>::of(T(staged[n * elements + element]));
      if (chunks == 1) parked_[place_of(element)] = sum;
      else chunk_sums_[chunk * elements + element] = sum;
    }
    barrier();
    if (chunks != 1) push_chunk_sums(elements, chunks - 1, before.full);
  }

  // Pushes the sums of full chunks to the levels, and parks the sum of the last chunk.
  HIPOPS_METHOD void push_chunk_sums(uint32_t elements, uint32_t full, uint32_t before) const {
#pragma unroll 1
    for (uint32_t element = thread_index(); element < elements; element += kScanBlock) {
      for (uint32_t chunk = 0; chunk < full; ++chunk)
        push_sum(levels(element), Sum(chunk_sums_[chunk * elements + element]), before + chunk);
      parked_[place_of(element)] = chunk_sums_[full * elements + element];
    }
  }

  HIPOPS_METHOD void add_chunks_to_parked(uint32_t elements, uint32_t chunks) const {
#pragma unroll 1
    for (uint32_t i = thread_index(); i < elements; i += kScanBlock)
      parked_[place_of(i)] = sum_with_chunks(levels(i), Sum(parked_[place_of(i)]), chunks);
    barrier();
  }

  static HIPOPS_METHOD uint32_t place_of(uint32_t element) { return element % Length * kScanLanes + element / Length; }

  // An element's sums of full chunks, behind the parked sums of last chunks.
  struct Levels {
    Shared<Sum> sums;
    uint32_t place;
    HIPOPS_METHOD decltype(auto) operator[](int k) const { return sums[place + (k + 1) * (kScanLanes * Length)]; }
  };
  HIPOPS_METHOD Levels levels(uint32_t element) const { return {parked_, place_of(element)}; }

  HIPOPS_METHOD T* row(uint32_t number) const { return y_ + number * reload_arguments(args_).y_step; }

  const IndexAddArgs& args_;
  Bucket bucket_;
  static constexpr int kParked = (kShowsOrder ? 1 + kChunkLevels : 1) * kScanLanes * Length;
  const Shared<Sum> parked_ = shared_member<ScanSums, Sum, kParked>();
  const Shared<uint32_t> chunks_ = shared_member<ScanSums, uint32_t, 2>();  // Chunks of the windows before
  // The sums of the staged sources' chunks, if there are several.
  static constexpr int kChunkSums = (2 * kScanLanes + kStaged * kScanBlock / kChunk) * Length;
  const Shared<Sum> chunk_sums_ = shared_member<ScanSums, Sum, kShowsOrder ? kChunkSums : 1, 1>();
  const T* x_;
  T* y_;
  uint32_t lane_;
  bool is_live_;
  [[maybe_unused]] IndexLine line_;
};

// The walk is over one row. A wave has a part of it and one index. It loads its source together with the indices.
template <class T, int Length>
class FewSums {
 public:
  explicit HIPOPS_METHOD FewSums(const IndexAddArgs& args) : args_(args) {
    load_walk_arguments(args.walk, args.x, args.scan.parts, args.scan.by_parts.multiplier, args.scan.by_parts.shift,
                        args.indices, args.index_step, args.index.data, args.index.type, args.index.size, args.x_step);
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
    HIPOPS_SHARED(uint32_t, listed, kFewBlock / wave_size * kFewIndices);
    const Places places{listed};
    if (sources > 1) list(same, places);
    if (!is_live_) return;
    T* y = y_ + row * a.y_step;
    RunningSum<T, Length> sum;
    if (sources == 1) {
      sum.load(y);
      sum.add(source);
    } else {
      sum.template sum_chunk<kFlight>(y, true, x_, a.x_step, places, sources);
    }
    sum.store(y);
  }

 private:
  static constexpr int kLoads = kFewIndices / wave_size, kFlight = Length == 16 ? 2 : 4;
  static_assert(kFewIndices <= kChunk, "a row has one chunk");

  // The places of the sources, in order.
  struct Places {
    Shared<uint32_t> listed;
    HIPOPS_METHOD uint32_t operator[](uint32_t n) const { return listed[wave_index() * kFewIndices + n]; }
  };
  HIPOPS_METHOD void list(const LaneMask (&same)[kLoads], const Places& places) const {
    uint32_t before = wave_index() * kFewIndices;
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      if ((same[n] >> lane_index() & 1) != 0)
        places.listed[before + uint32_t(count_bits(same[n] & lanes_below()))] = n * wave_size + lane_index();
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

// `resident`: blocks that a multiprocessor holds together; the compiler limits registers accordingly.
#define SORT_KERNEL(name, step, resident)                                             \
  HIPOPS_KERNEL(kSortBlock, resident) index_add_##name(HIPOPS_ARGS(IndexAddArgs) a) { \
    follow_launch_before();                                                           \
    step(a);                                                                          \
  }
SORT_KERNEL(split, sort_split, 1)
SORT_KERNEL(count, count_digits, 4)
SORT_KERNEL(offsets, add_counts, 4)
SORT_KERNEL(partition_index, partition<true>, 3)
SORT_KERNEL(partition, partition<false>, 3)

// The block and the sums of each mode.
constexpr int joined_block = kJoinedBlock, sum_block = kSumBlock, scan_block = kScanBlock,
              line_block = kScanBlock, few_block = kFewBlock;
template <class T, int Length> using joined_sums = JoinedSums<T, Length>;
template <class T, int Length> using sum_sums = PortionSums<T, Length>;
template <class T, int Length> using scan_sums = ScanSums<T, Length>;
template <class T, int Length> using line_sums = ScanSums<T, Length, true>;
template <class T, int Length> using few_sums = FewSums<T, Length>;
[[maybe_unused]] constexpr int kResident_joined = 2, kResident_sum = 8, kResident_scan = 2,
                               kResident_line = 2, kResident_few = 1;
#define KERNEL(name, T, bytes, mode)                                                                     \
  HIPOPS_KERNEL(mode##_block, kResident_##mode) name(HIPOPS_ARGS(IndexAddArgs) a) {                      \
    mode##_sums<T, bytes == 0 ? 1 : bytes / sizeof(T)> sums(a);                                          \
    wait_for_launch_before();                                                                            \
    sums.add();                                                                                          \
  }
HIPOPS_INDEX_ADD_SUM_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(index_add, IndexAddArgs, HIPOPS_INDEX_ADD_KERNELS)

}  // namespace hipops
