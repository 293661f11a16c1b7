// Lists in shared memory the indices that name the rows of a bucket. A block reads the whole index, and uses no
// workspace. A bucket has the rows whose hashes (kSpread) are in one range.
#pragma once

#include "device/core/divide.h"
#include "device/index/indices.h"
#include "device/index/sum_contract.h"
#include "device/core/scan.h"
#include "device/core/wave.h"

namespace hipops {
namespace {

// The window of a list: the `places` places of the index from `first` on, and the `rows` rows from `row` on. The list
// has the places whose index names such a row. If the index has more than kMostPlaces, `places` is a power of two. So
// a window's indices out of range are all reported, or none.
struct ListWindow {
  static constexpr uint32_t kMostPlaces = 1 << 30;
  uint32_t row, rows;
  int64_t first;
  uint32_t places;
  bool before_crowded;  // the row after these rows is listed alone

  HIPOPS_METHOD bool has_last_of(int64_t indices) const { return first + places == indices; }

  // Keeps the rows before `crowded`, or only `crowded` if it is the first row. A window of one row is halved instead,
  // down to `least` places, a power of two.
  HIPOPS_METHOD void narrow(uint32_t crowded, uint32_t least) {
    if (rows > 1) {
      before_crowded = crowded - row - 1 < rows - 1;
      rows = before_crowded ? crowded - row : 1;
    } else {
      places = places / 2 > least ? places / 2 : least;
    }
  }
  // Moves to the next places of the index or, at its end, to the next rows. Returns false if there are none.
  HIPOPS_METHOD bool next(uint32_t all_rows, int64_t indices) {
    first += places;
    if (first < indices) {
      if (indices - first < places) places = uint32_t(indices - first);
      return true;
    }
    row += rows;
    rows = before_crowded ? 1 : all_rows - row;
    before_crowded = false;
    whole(indices);
    return rows != 0;
  }
  // Moves to the beginning of the index. Only one row is listed if the window cannot have all of the index.
  HIPOPS_METHOD void whole(int64_t indices) {
    first = 0;
    places = indices < kMostPlaces ? uint32_t(indices) : kMostPlaces;
    if (places != indices && rows > 1) rows = 1;
  }
};

// A line of an index tensor along dim. `offset` and `position`: of its first index, in memory and in row-major order.
struct IndexLine {
  int64_t offset, position;
};

// Rows are counted from args.scan.first_row on. Bucket `number` has rows with `hashes` hashes from number * hashes on;
// the last bucket also has all larger hashes. With `reports`, each index out of range is reported once.
template <class Args, int Block, int Room>
class RowBucket {
 public:
  static constexpr uint32_t kRoom = Room;              // entries of a list
  static constexpr uint32_t kLeastPlaces = 2 * Block;  // these places always have room in a list
  static constexpr uint32_t kPastEnd = 4;              // entries that may be read past the end of the list

  explicit HIPOPS_METHOD RowBucket(const Args& args) : args_(args) {
    if (thread_index() == 0) count_[0] = 0, keys_[0] = kNobody;
  }
  HIPOPS_METHOD void begin(uint32_t hashes, uint32_t number, bool is_last, bool reports) {
    least_ = number * hashes;
    above_ = is_last ? UINT32_MAX - least_ : hashes - 1;
    if (thread_index() == 0) reported_[0] = reports ? 0 : INT64_MAX;
  }

  // Returns false if the list has no room, and the window must be narrowed. All work-items call it. They call
  // found(row, place) for their entries. No branch may skip the barriers: ptxas 13.0 keeps the window in uniform
  // registers, and would let lanes that diverge later advance it twice.
  template <class F>
  HIPOPS_METHOD bool list(const IndexLine& line, const ListWindow& window, F found) {
    barrier();  // the last list has been read
    find(line, window, found);
    barrier();
    entries_ = uniform(uint32_t(count_[0]));
    const bool has_room = entries_ <= kRoom;
    if (has_room) order();
    barrier();
    if (thread_index() == 0) {
      count_[0] = 0;
      if (window.first >= reported_[0]) reported_[0] = window.first + window.places;
    }
    return has_room;
  }
  // After false: a guess of the row with most entries, which should be listed alone.
  HIPOPS_METHOD uint32_t crowded_row() const { return uniform(row_of(found_[kRoom / 2])); }

  // A row of more entries is long: all of the block adds it. Rows of several chunks are long, and up to three other
  // rows, because the block adds long rows one after the other.
  HIPOPS_METHOD uint32_t most_of_short() const {
    const uint32_t most = entries_ / 4 < kChunk ? entries_ / 4 : kChunk;
    return most > kFew ? most : kFew;
  }
  struct Segment {  // a row's entries of the list
    uint32_t row, begin, end;
  };
  // From entry `from` on, the first row with two neighbouring multiples of most_of_short() / 2 among its entries'
  // numbers. Each long row has two, and some shorter rows, too. An empty segment: there is none.
  HIPOPS_METHOD Segment next_segment(uint32_t from) const {
    static_assert(2 * kRoom / kChunk < wave_size, "a lane for each multiple");
    const uint32_t half = most_of_short() / 2;
    if (entries_ <= 2 * half) return {0, 0, 0};
    const uint32_t first = lane_index() * half, second = first + half;
    const LaneMask all = ballot(first >= from && second < entries_ && row(first) == row(second));
    if (all == 0) return {0, 0, 0};
    const uint32_t number = uniform(row(uint32_t(first_bit(all)) * half));
    return {number, first_entry(number), first_entry(number + 1)};
  }

  HIPOPS_METHOD uint32_t entries() const { return entries_; }
  // True if the row whose first entry this is has more than `most` entries.
  HIPOPS_METHOD bool has_more(uint32_t entry, uint32_t most) const {
    return entry + most < entries_ && row(entry + most) == row(entry);
  }
  HIPOPS_METHOD uint32_t row(uint32_t entry) const { return row_of(keys_[entry + 1]); }
  HIPOPS_METHOD bool is_first_of_row(uint32_t entry) const { return row_of(keys_[entry]) != row(entry); }
  // True if there is such an entry and it names the row. Sets its place, counted from the window's first place.
  HIPOPS_METHOD bool is_of_row(uint32_t entry, uint32_t row, uint32_t* place) const {
    const uint64_t key = keys_[entry + 1];
    *place = uint32_t(key);
    return row_of(key) == row;
  }
  struct Places {
    Shared<uint64_t> keys;
    HIPOPS_METHOD uint32_t operator[](uint32_t entry) const { return uint32_t(keys[entry + 1]); }
  };
  HIPOPS_METHOD Places places() const { return {keys_}; }
  // Free until the next list: at least 16 bytes for each work-item.
  HIPOPS_METHOD Shared<b128> spare() const { return spare_; }

 private:
  static constexpr uint32_t kLoads = 8;            // of a work-item, in flight together
  static constexpr uint32_t kFew = 16;             // entries that a group adds in less time than the block
  static constexpr uint32_t kTogether = 8;         // lanes that count the smaller keys of one key
  static constexpr uint32_t kComparedEach = 256;   // up to this number, each entry is compared with all others
  static constexpr uint64_t kNobody = UINT64_MAX;  // no row's key

  static HIPOPS_METHOD uint32_t row_of(uint64_t key) { return uint32_t(key >> 32); }

  // True if the window has only one row, in another bucket, and has nothing to report.
  HIPOPS_METHOD bool is_for_others(const ListWindow& window, bool reports, uint32_t row) const {
    return window.rows == 1 && !reports && !is_own(row);
  }

  // Stores keys (row, place) in any order, until there is no room. Counts all of them.
  template <class F>
  HIPOPS_METHOD void find(const IndexLine& line, const ListWindow& window, F found) {
    const Args& a = reload_arguments(args_);
    const bool reports = window.first >= reported_[0];
    const int64_t step = a.index_step * Block;
    const uint64_t first_row = uint64_t(a.scan.first_row) + window.row;
    const uint32_t places = is_for_others(window, reports, uint32_t(first_row)) ? 0 : window.places;
#pragma unroll 1
    for (uint32_t at = thread_index(); at < places; at += kLoads * Block) {
      const int64_t offset = line.offset + (window.first + at) * a.index_step;
      const uint32_t left = (places - at + Block - 1) / Block;
      int64_t value[kLoads];
      const int64_t mark = load_spaced_indices(a.index, offset, step, left, value);
      uint32_t own = 0;  // a bit each
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n)
        own |= uint32_t(uint64_t(value[n]) - first_row < window.rows && is_own(uint32_t(value[n]))) << n;
      if (own != 0) note(own, value, uint32_t(a.scan.first_row), window.first, at, found);
      if (reports) report(a, value, mark, line.position, window.first + at);
    }
  }

  template <class F>
  HIPOPS_METHOD void note(uint32_t own, const int64_t (&value)[kLoads], uint32_t first_row, int64_t first, uint32_t at,
                          F found) const {
    uint32_t to = count_.fetch_add(0, uint32_t(count_bits(own)));
#pragma unroll 1
    for (; own != 0 && to < kRoom; own &= own - 1, ++to) {
      const uint32_t n = uint32_t(first_bit(own));
      uint32_t row = 0;
#pragma unroll
      for (uint32_t k = 0; k < kLoads; ++k) row = k == n ? uint32_t(value[k]) - first_row : row;
      found_[to] = uint64_t(row) << 32 | (at + n * Block);
      found(row, first + at + n * Block);
    }
  }

  HIPOPS_METHOD void report(const Args& a, const int64_t (&value)[kLoads], int64_t mark, int64_t position,
                            int64_t place) const {
    uint32_t wrong = 0;  // a bit each
#pragma unroll
    for (uint32_t n = 0; n < kLoads; ++n)
      wrong |= uint32_t(uint64_t(value[n]) >= uint64_t(a.index.size) && value[n] != mark) << n;
    if (wrong == 0) return;
    place += uint32_t(first_bit(wrong)) * Block;
    checked_index(a.index, INT64_MIN, mark, position + place * a.report_step,
                  uint32_t(count_bits(wrong)) * a.reported);
  }

  HIPOPS_METHOD bool is_own(uint32_t row) const { return row * kSpread - least_ <= above_; }

  HIPOPS_METHOD void order() const {
    if (__builtin_expect(entries_ > kComparedEach, 0)) order_by_pairs();
    else order_by_all();
    if (hide_origin(thread_index()) < kPastEnd) keys_[entries_ + 1 + thread_index()] = kNobody;
  }

  // A key's place is the number of smaller keys. Several lanes count them together.
  HIPOPS_METHOD void order_by_all() const {
    const uint32_t lane = thread_index() % kTogether;
#pragma unroll 1
    for (uint32_t first = 0; first < entries_; first += Block / kTogether) {
      const uint32_t i = first + thread_index() / kTogether;
      const uint64_t own = found_[i < entries_ ? i : 0];
      uint32_t before = 0;
#pragma unroll 4
      for (uint32_t other = lane; other < entries_; other += kTogether) before += found_[other] < own;
      before = wave_reduce<kTogether>(before, Sum());
      if (lane == 0 && i < entries_) keys_[before + 1] = own;
    }
  }

  // The number of entries of smaller rows.
  HIPOPS_METHOD uint32_t first_entry(uint32_t number) const {
    uint32_t low = 0, high = entries_;
#pragma unroll 1
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (uniform(row(middle)) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Batcher's bitonic sort with all comparisons in one direction, so entries past the end can be skipped.
  HIPOPS_METHOD void order_by_pairs() const {
#pragma unroll 1
    for (uint32_t merged = 1; merged < entries_; merged *= 2) {
      uint32_t mirror = 2 * merged - 1;  // the first step reverses the second of two merged parts
#pragma unroll 1
      for (uint32_t half = merged; half != 0; half /= 2) {
#pragma unroll 1
        for (uint32_t i = thread_index();; i += Block) {
          const uint32_t low = 2 * i - (i & (half - 1)), high = low ^ mirror;
          if (low >= entries_) break;
          if (high >= entries_) continue;
          const uint64_t a = found_[low], b = found_[high];
          if (b < a) found_[low] = b, found_[high] = a;
        }
        barrier();
        mirror = half / 2;
      }
    }
#pragma unroll 1
    for (uint32_t i = thread_index(); i < entries_; i += Block) keys_[i + 1] = found_[i];
  }

  const Args& args_;
  uint32_t least_, above_;  // the least hash of the rows, and the range above it
  uint32_t entries_ = 0;
  const Shared<b128> spare_ = shared_member<RowBucket, b128, kRoom * sizeof(uint64_t) / sizeof(b128)>();
  const Shared<uint64_t> found_ = spare_.template as<uint64_t>();
  // Sorted keys, from 1 on, with kNobody before and after them.
  const Shared<uint64_t> keys_ = shared_member<RowBucket, uint64_t, 1 + kRoom + kPastEnd>();
  const Shared<uint32_t> count_ = shared_member<RowBucket, uint32_t, 1>();
  const Shared<int64_t> reported_ = shared_member<RowBucket, int64_t, 1>();  // places before this one need no report
};

}  // namespace
}  // namespace hipops
