// Rows of any length: a block has a row, or a part of a row.
//
// Elements above a bound are appended to a list in shared memory, in the order of columns. If the list has no room, it
// is reduced to its k best elements, and the bound becomes the key of the last. Elements that cannot be selected cost a
// comparison. With a large k, a lower bound of the whole row is found first, so that few elements are appended.
#pragma once

#include "device/core/radix.h"
#include "device/select/keys.h"
#include "device/select/threshold.h"

namespace hipops {
namespace {

// MostK: the most elements that are selected. T: the row's elements. The room has place for MostK elements and a group
// of a tile, so a group has room after a reduction.
template <int MostK, class T>
class Selection {
 public:
  explicit HIPOPS_METHOD Selection(const TopkArgs& args)
      : room_(shared_member<Selection, SortEntry, kRoom>()), over_(kSelectBlock), args_(args) {}

  // Selects among the window's elements from key `bound` on. column_of(tile, place): the column of an element of a tile.
  // Afterwards the list has the k best elements, or all if they are fewer, and up to `most` elements: k or more.
  template <class Rule, class Column>
  HIPOPS_METHOD void select(const Window<T>& w, uint32_t bound, uint32_t most, Column column_of) {
    fill_ = 0;
    begin_at(bound);
    int done = 0;  // groups of the tile
    for (int64_t tile = w.first;;) {
      if (tile < w.end) {
        done = add_groups<Rule>(w, tile, done, column_of);
        if (done == kGroups) {
          tile += kTile;
          done = 0;
          continue;
        }
      } else if (fill_ <= most) {
        break;
      }
      reduce();
    }
    barrier();
  }

  // Whether the list will often be full. Each time the loaded tiles double, about k more elements are above the bound.
  HIPOPS_METHOD bool fills_room(const Window<T>& w) { return int64_t(k()) * bits_in(w.count() / kTile) > 2 * kRoom; }

  // A bound for the window. At least k elements of the row reach the least bound of the row's windows. Each whole tile
  // contributes the greatest elements of groups of kLength neighbours. Up to two tiles of a row are not whole, and ignored.
  HIPOPS_METHOD uint32_t bound_of(const Window<T>& w, int64_t all) {
    constexpr uint32_t kOfTile = kTile / kLength;
    if (all < 4 * kTile) return 0;
    const uint32_t each = uint32_t(int64_t(k()) * kTile / (all - 2 * kTile)) + 1;
    if (each > kOfTile / 2) return 0;
    uint32_t least = UINT32_MAX;
#pragma unroll 1
    for (int64_t tile = w.first; tile < w.end; tile += kTile) {
      const int64_t begin = w.begin > tile ? w.begin : tile;
      if ((w.end < tile + kTile ? w.end : tile + kTile) - begin <= kTile - kLength) continue;
      uint32_t key[kTileDepth], greatest[kGroups];
      load_keys<kSelectBlock>(KeyRule(reload_arguments(args_)), w, tile, hide_origin(thread_index()), key);
      greatest_of<kLength>(key, greatest);
      const uint32_t bound = find_threshold(over_, greatest, kOfTile, each, each / 8).key;
      least = bound < least ? bound : least;
    }
    return least;
  }

  // Stores the list for a later launch, in the order of columns. It is filled up to `count` with keys of 0.
  HIPOPS_METHOD void store_candidates(uint32_t* keys, uint32_t* columns, int32_t count) {
    for (uint32_t i = hide_origin(thread_index()); i < uint32_t(count); i += kSelectBlock) {
      const SortEntry e = i < fill_ ? SortEntry(room_[i]) : SortEntry{0, 0};
      keys[i] = e.key;
      columns[i] = e.value;
    }
    barrier();
  }

  // Stores the row's results, in order if `is_sorted`. If `run` is not null, the entries go there instead, in order, for
  // `merge_runs`. Unless `is_whole`, absent elements fill them up to k. Returns the number of entries.
  HIPOPS_METHOD uint32_t store(const RowResults& results, bool is_sorted, SortEntry* run, bool is_whole) {
    bool is_ranked = is_sorted;
    if constexpr (MostK > kFewK) {
      if (is_sorted && fill_ > kFewK) {
        sort_entries();
        is_ranked = false;
      }
    }
    const uint32_t k = this->k(), most = fill_ > k || is_whole ? fill_ : k;
#pragma unroll 1
    for (uint32_t i = hide_origin(thread_index()); i < most; i += kSelectBlock) {
      const bool is_element = i < fill_;
      const SortEntry entry = room_[is_element ? i : 0];
      const uint32_t rank = rank_of(room_, 0, fill_, i, entry.key, is_ranked && is_element);
      const bool is_inverted = is_sorted && !is_ranked;
      const uint32_t key = is_inverted ? ~entry.key : entry.key;
      if (MostK > kFewK && run != nullptr) run[rank] = is_element ? SortEntry{~key, entry.value} : SortEntry{UINT32_MAX, kNoColumn};
      else if (rank < k) results.store(rank, is_element, key, entry.value);
    }
    barrier();
    return most;
  }

 private:
  static constexpr int kLength = Window<T>::kLength, kGroups = kTileDepth / kLength;
  static constexpr int kRoom = MostK + kSelectBlock * kLength;
  // Neighbours whose greatest key counts for the first bound. Above kFewK each key counts: a tile may have fewer than k vectors.
  static constexpr int kCompared = MostK > kFewK ? 1 : kLength;
  static constexpr int kMostOfEach = (kRoom + kSelectBlock - 1) / kSelectBlock | 1;

  HIPOPS_METHOD void begin_at(uint32_t bound) { above_ = bound == 0 ? 0 : bound - 1; }
  HIPOPS_METHOD uint32_t k() const { return uint32_t(reload_arguments(args_).k); }

  template <int Neighbours>
  static HIPOPS_METHOD void greatest_of(const uint32_t (&key)[kTileDepth], uint32_t (&greatest)[kTileDepth / Neighbours]) {
#pragma unroll
    for (int n = 0; n < kTileDepth; ++n) {
      uint32_t& of_group = greatest[n / Neighbours];
      if (n % Neighbours == 0 || key[n] > of_group) of_group = key[n];
    }
  }

  // Keeps the k best elements, in the order of columns.
  HIPOPS_METHOD void reduce() {
    barrier();
    // An odd number of entries for each work-item: shared memory then serves all lanes together.
    const uint32_t of_each = (fill_ + kSelectBlock - 1) / kSelectBlock | 1, first = thread_index() * of_each;
    uint32_t key[kMostOfEach], column[kMostOfEach];
#pragma unroll
    for (int n = 0; n < kMostOfEach; ++n) {
      const bool is_own = uint32_t(n) < of_each && first + uint32_t(n) < fill_;
      const SortEntry entry = room_[is_own ? first + uint32_t(n) : 0];
      key[n] = is_own ? entry.key : 0;
      column[n] = entry.value;
    }
    const uint32_t k = this->k();
    Threshold t = find_threshold(over_, key, fill_, k, 0);
    uint32_t counts = 0;  // elements above the threshold; in the upper half, equal elements
#pragma unroll
    for (int n = 0; n < kMostOfEach; ++n) counts += key[n] > t.key ? 1u : key[n] == t.key && key[n] != 0 ? 1u << 16 : 0;
    barrier();
    recompute_derived(t.key);
    const Scanned<uint32_t> s = block_scan<kSelectBlock>(counts);  // every work-item has loaded its entries
    const uint32_t ties = k - (s.total & 0xffff);
    uint32_t above = s.before & 0xffff, equal = s.before >> 16;
#pragma unroll
    for (int n = 0; n < kMostOfEach; ++n) {
      const bool is_equal = key[n] == t.key && key[n] != 0;
      const uint32_t place = above + (equal < ties ? equal : ties);
      if (key[n] > t.key || (is_equal && equal < ties)) room_[place] = {key[n], column[n]};
      above += key[n] > t.key;
      equal += is_equal;
    }
    fill_ = k;
    above_ = t.key;
    barrier();
  }

  // Sorts up to kManyK entries, by inverted keys, so that the order is ascending.
  HIPOPS_METHOD void sort_entries() {
    using Shape = RadixShape<kSelectBlock, kManyK / kSelectBlock, 8>;
    HIPOPS_SHARED(uint16_t, tally, Shape::kTally);
    HIPOPS_SHARED(uint16_t, start_of, Shape::kDigits);
    Batch<Shape> batch;
    batch.begin(fill_);
    batch.load(room_, fill_);
    uint32_t key[Shape::kDepth];
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      key[n] = batch.in_use(n) && batch.place(n) < fill_ ? batch.entry[n].key : 0;
      batch.entry[n].key = ~key[n];
    }
    const WordRange range = range_of(over_, key);
    const int bits = bits_in(range.least ^ range.most);
#pragma unroll 1
    for (int shift = 0; shift == 0 || shift < bits; shift += Shape::kBits) {
      if (shift != 0) batch.load(room_, fill_);
      sort_batch(&batch, shift, Shape::kBits, tally, start_of, room_);
    }
  }

  // Appends the tile's elements above the bound, from group `done` on. Returns the groups that had room.
  template <class Rule, class Column>
  HIPOPS_METHOD int add_groups(const Window<T>& w, int64_t tile, int done, Column column_of) {
    const uint32_t thread = hide_origin(thread_index());
    uint32_t key[kTileDepth];
    load_keys<kSelectBlock>(Rule(reload_arguments(args_)), w, tile, thread, key);
    if (fill_ == 0 && above_ == 0) raise_bound<Rule>(w, tile, key);
    uint32_t marks = 0;
#pragma unroll
    for (int n = 0; n < kTileDepth; ++n) marks |= uint32_t(key[n] > above_) << n;
    marks &= ~0u << done * kLength;
    recompute_derived(marks);
    barrier();  // the last scan's sums have been read
    const MarkedPlaces<kGroups, kLength> places(marks, [](uint64_t v) { return block_scan<kSelectBlock>(v); });
    const uint32_t first = fill_;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (g < done) continue;
      const uint32_t count = uniform(places.total[g]);
      if (fill_ + count > kRoom) return g;
      fill_ += count;
      if (count == 0) continue;
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        if ((marks >> (g * kLength + e) & 1) == 0) continue;
        const uint32_t place = (uint32_t(g) * kSelectBlock + thread) * kLength + uint32_t(e);
        room_[first + places.place(marks, g, e)] = {key[g * kLength + e], column_of(tile, place)};
      }
    }
    return kGroups;
  }

  // Finds a bound in a row's first tile, so low that k or more of the keys compared are above it. With fewer keys there is none.
  template <class Rule>
  HIPOPS_METHOD void raise_bound(const Window<T>& w, int64_t tile, const uint32_t (&key)[kTileDepth]) {
    const uint32_t low = w.begin > tile ? uint32_t(w.begin - tile) : 0;
    const uint32_t high = w.end - tile < kTile ? uint32_t(w.end - tile) : uint32_t(kTile);
    uint32_t present = (high + kCompared - 1) / kCompared - low / kCompared;  // groups with elements
    const uint32_t k = this->k();
    if (present < k) return;
    constexpr int kOfAll = kTileDepth / kCompared;
    uint32_t greatest[kOfAll], not_absent = 0;
    greatest_of<kCompared>(key, greatest);
#pragma unroll
    for (int g = 0; g < kOfAll; ++g) not_absent += greatest[g] != 0;
    if constexpr (Rule::kHasAbsent) {
      present = uniform(over_(WordPair{not_absent, 0}, Sum())).first;
      if (present < k) return;
    }
    begin_at(find_threshold(over_, greatest, present, k, MostK > kFewK ? 0 : k / 4 + 4).key);
  }

  Shared<SortEntry> room_;
  Reduce<WordRange, kSelectBlock> over_;
  const TopkArgs& args_;
  uint32_t fill_, above_;
};

// The elements of the row's first vector that are before the row.
template <class T>
HIPOPS_FN int32_t elements_before_vector(const TopkArgs& a, const Offsets<kSelectOperands>& at) {
  return a.x_step == 1 ? misalignment(static_cast<const T*>(a.x) + at.of[kSelectX]) : 0;
}

template <int MostK, class T>
HIPOPS_FN void select_rows(const TopkArgs& args) {
  Selection<MostK, T> selection(args);
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const bool is_part = a.parts > 1;
    const int64_t row = is_part ? divide(unit, a.parts, a.parts_divisor) : unit;
    const Offsets<kSelectOperands> at = locate_row(a, row);
    // A part begins with a whole vector.
    const int64_t from = is_part ? (unit - row * a.parts) * a.part_columns - elements_before_vector<T>(a, at) : 0;
    const Window<T> w = window_of<T>(a, at, from, is_part ? from + a.part_columns : a.columns);
    uint32_t bound = 0;
    if constexpr (MostK > kFewK) {
      if (is_part ? a.finds_bounds != 0 : selection.fills_room(w))
        bound = selection.bound_of(w, window_of<T>(a, at, 0, a.columns).count());
      const TopkArgs& b = reload_arguments(args);
      if (b.finds_bounds) {
        if (thread_index() == 0) b.bounds[unit] = bound;
        continue;
      }
      if (b.bounds != nullptr) bound = range_of_parts(b, b.bounds, row).least;
    }
    selection.template select<KeyRule>(w, bound, uint32_t(reload_arguments(args).most_listed),
                                       [](int64_t tile, uint32_t place) { return uint32_t(tile) + place; });
    const TopkArgs& b = reload_arguments(args);
    SortEntry* const run = b.entries == nullptr ? nullptr : b.entries + unit * b.of_part;
    if (b.keys == nullptr) {
      const uint32_t stored = selection.store(RowResults(b, run ? 0 : unit), b.is_sorted, run, b.run_entries && bound != 0);
      if (b.run_entries != nullptr && thread_index() == 0) b.run_entries[unit] = stored;
    } else selection.store_candidates(b.keys + unit * b.most_listed, b.places + unit * b.most_listed, b.most_listed);
  }
}

// The candidates of a row's parts, which the launch before stored.
template <int MostK>
HIPOPS_FN void merge_rows(const TopkArgs& args) {
  Selection<MostK, uint32_t> selection(args);
  for (int64_t row = block_index(); row < reload_arguments(args).units; row += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const uint32_t* const places = a.places + row * a.of_row;
    const Window<uint32_t> w(a.keys + row * a.of_row, 1, 0, a.of_row);
    selection.template select<StoredKeys>(w, 0, uint32_t(a.most_listed),
                                          [=](int64_t tile, uint32_t place) { return places[tile + place]; });
    const TopkArgs& b = reload_arguments(args);
    selection.store(RowResults(b, row), MostK == kFewK && b.is_sorted, nullptr, false);  // above kFewK, `merge_runs` orders the results
  }
}

}  // namespace
}  // namespace hipops
