// Sorts the indices of a tensor by the rows that they name, one digit after another, from the lowest digit to the
// highest. The work of a block does not depend on the indices. A pass, for one digit, has three launches:
//   count      A block counts each digit's entries in its batch. In the first pass it also reports indices out of range.
//   offsets    A block replaces one digit's counts by the number of entries in the batches before.
//   partition  A block sorts its batch by the digit, tile by tile, and stores each digit's entries behind the entries of
//              smaller digits and of earlier blocks. So a pass is stable. No block waits for another.
#pragma once

#include "device/core/radix.h"
#include "device/core/strided.h"
#include "device/index/sort_keys.h"

namespace hipops {
namespace {

// AMD's blocks sort fewer entries at a time, so that shared memory has room for several blocks.
constexpr bool has_small_tiles = on_amd || wave_size == 64;
using TileShape = RadixShape<kSortBlock, has_small_tiles ? 8 : kLargestTile / kSortBlock, kRadixBits, true>;
constexpr uint32_t kMoved = 4;  // sorted entries that a work-item moves together
static_assert(TileShape::kDepth % kMoved == 0, "the last entries that are loaded exist");
static_assert(kLargestTile % TileShape::kBatch == 0, "a batch has whole tiles");

// A tile of a block's batch. First: the first pass, which loads the index tensor.
template <class Args, bool First>
class SortTile {
 public:
  explicit HIPOPS_METHOD SortTile(const Args& args) : a(args), first_(int64_t(block_index()) * args.sort.batch) {
    const int64_t all = First ? a.indices : int64_t(*a.sort.entries);
    past_ = first_ + a.sort.batch < all ? first_ + a.sort.batch : all;
  }

  HIPOPS_METHOD bool is_there() const { return first_ < past_; }
  HIPOPS_METHOD void next() { first_ += TileShape::kBatch; }

  // Loads the entries or, with Counts, only their keys. With Counts it also reports indices out of range.
  template <bool Counts>
  HIPOPS_METHOD void load(Batch<TileShape>* batch) const {
    const uint32_t left = past_ - first_ < TileShape::kBatch ? uint32_t(past_ - first_) : uint32_t(TileShape::kBatch);
    batch->begin(left);
    const uint32_t place = batch->place(0), of_wave = batch->of_wave / wave_size;
    const uint32_t rest = place < left ? (left - place + wave_size - 1) / wave_size : 0;
    const uint32_t own = rest < of_wave ? rest : of_wave;  // entries of this lane
    const int64_t at = own != 0 ? first_ + place : first_;
    if constexpr (First) return load_sources<Counts>(at, own, batch);
    SortEntry entry[TileShape::kDepth];
    load_spaced<SortEntry>(a.pass.from + at, wave_size, own, entry);
#pragma unroll
    for (uint32_t n = 0; n < TileShape::kDepth; ++n)
      batch->entry[n] = {n < own ? entry[n].key : Batch<TileShape>::kNoKey, entry[n].value};
  }

 private:
  template <bool Counts>
  HIPOPS_METHOD void load_sources(int64_t at, uint32_t own, Batch<TileShape>* batch) const {
    int64_t value[TileShape::kDepth];
    const int64_t mark = load_spaced_indices(a.index, at * a.index_step, wave_size * a.index_step, own > 1 ? own : 1,
                                             value);
#pragma unroll
    for (uint32_t n = 0; n < TileShape::kDepth; ++n) {
      const int64_t i = at + n * wave_size;
      int64_t row = kNothing;
      if (n < own) row = checked_index(a.index, value[n], mark, i * a.report_step, Counts ? a.reported : 0);
      batch->entry[n] = {row != kNothing ? uint32_t(row) : Batch<TileShape>::kNoKey, uint32_t(i)};
    }
    if (Counts) return;
    switch (a.sort.element_bytes) {  // no value is used before the keys are sorted
      case 4: return load_rows<uint32_t>(at, own, batch);
      case 2: return load_rows<uint16_t>(at, own, batch);
      case 1: return load_rows<uint8_t>(at, own, batch);
    }
  }

  // Loads the rows of x, whose elements have one step, into one word each.
  template <class Word>
  HIPOPS_METHOD void load_rows(int64_t at, uint32_t own, Batch<TileShape>* batch) const {
    const Word* x = static_cast<const Word*>(a.x) + at * a.x_step;
#pragma unroll 1
    for (uint32_t shift = 0, e = 0; e < uint32_t(a.walk.count); shift += 8 * sizeof(Word), ++e) {
      Word element[TileShape::kDepth];
      load_spaced<Word>(x + int64_t(e) * a.walk.dim[0].stride[Args::kSource], wave_size * a.x_step, own, element);
#pragma unroll
      for (int n = 0; n < TileShape::kDepth; ++n) {
        uint32_t* const value = &batch->entry[n].value;
        *value = (e == 0 ? 0 : *value) | uint32_t(element[n]) << shift;
      }
    }
  }

  // Loads the `own` elements that a lane has.
  template <class T>
  static HIPOPS_METHOD void load_spaced(const T* at, int64_t step, uint32_t own, T (&element)[TileShape::kDepth]) {
#pragma unroll
    for (uint32_t n = 0; n < TileShape::kDepth; ++n) {
      if (loads_are_predicated) {
        element[n] = {};
        if (n < own) element[n] = *at;
      } else {
        element[n] = *at;
      }
      if (loads_are_predicated || n + 1 < own) at += step;
    }
  }

  const Args& a;
  int64_t first_, past_;
};

template <bool First, class Args>
HIPOPS_FN void count_digits_of(const Args& a, Shared<uint32_t> count) {
  const RadixPassArgs& p = a.pass;
  const uint32_t digits = 1u << p.bits;
  if (First ? !may_sort(a.sort) : is_stopped(a.sort)) return;
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += kSortBlock) count[digit] = 0;
  if (First) clear_counters(a, block_index() * a.sort.batch);
  barrier();
  Batch<TileShape> batch;
#pragma unroll 1
  for (SortTile<Args, First> tile(a); tile.is_there(); tile.next()) {
    tile.template load<true>(&batch);
#pragma unroll
    for (int n = 0; n < TileShape::kDepth; ++n) {
      if (!batch.in_use(n)) break;
      const uint32_t digit = batch.entry[n].key >> p.shift & (digits - 1), first = first_lane_value(digit);
      const bool has_entry = batch.has_entry(n);
      // One addition for a wave's sources of one row: additions to one word wait for each other.
      const bool is_one = count_bits(ballot(has_entry && digit == first)) == wave_size;
      if (is_one ? lane_index() == 0 : has_entry) count.fetch_add(digit, is_one ? wave_size : 1);
    }
  }
  barrier();
#pragma unroll 1
  for (uint32_t digit = thread_index(); digit < digits; digit += kSortBlock)
    p.counts[int64_t(digit) * a.sort.blocks + block_index()] = count[digit];
}

template <class Args>
HIPOPS_FN void count_digits(const Args& a) {
  HIPOPS_SHARED(uint32_t, count, TileShape::kDigits);
  if (a.pass.from == nullptr) count_digits_of<true>(a, count);
  else count_digits_of<false>(a, count);
}

template <class Args>
HIPOPS_FN void add_counts(const Args& a) {
  const RadixPassArgs& p = a.pass;
  if (is_stopped(a.sort)) return;
  const uint32_t blocks = a.sort.blocks, first = thread_index() * kCountsEach;
  uint32_t* const counts = p.counts + int64_t(block_index()) * blocks;
  uint32_t count[kCountsEach], own = 0;
#pragma unroll
  for (uint32_t n = 0; n < kCountsEach; ++n) {
    count[n] = counts[first + n < blocks ? first + n : 0];
    if (first + n >= blocks) count[n] = 0;
  }
#pragma unroll
  for (uint32_t n = 0; n < kCountsEach; ++n) own += count[n];
  const Scanned<uint32_t> scan = block_scan<kSortBlock>(own);
  uint32_t before = scan.before;
#pragma unroll
  for (uint32_t n = 0; n < kCountsEach; ++n) {
    if (first + n < blocks) counts[first + n] = before;
    before += count[n];
  }
  if (thread_index() == 0) p.totals[block_index()] = scan.total;
}

template <bool First, class Args>
HIPOPS_FN void partition(const Args& a) {
  HIPOPS_SHARED(SortEntry, sorted, TileShape::kBatch);
  HIPOPS_SHARED(uint16_t, start_of, TileShape::kDigits);
  HIPOPS_SHARED(uint32_t, next, TileShape::kDigits);   // the place of a digit's next entry
  HIPOPS_SHARED(uint32_t, shift, TileShape::kDigits);  // from a digit's places in `sorted` to its places in memory
  static_assert(TileShape::kTally * sizeof(uint16_t) <= TileShape::kBatch * sizeof(SortEntry), "they share memory");
  const RadixPassArgs& p = a.pass;
  if (is_stopped(a.sort)) return;
  const uint32_t digits = 1u << p.bits;
  uint32_t entries = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < digits; first += kSortBlock) {
    const uint32_t digit = first + hide_origin(thread_index());
    const bool there = digit < digits;
    const uint32_t before = there ? p.counts[int64_t(digit) * a.sort.blocks + block_index()] : 0;
    const Scanned<uint32_t> scan = block_scan<kSortBlock>(there ? p.totals[digit] : 0u);
    if (there) next[digit] = entries + scan.before + before;
    entries += uniform(scan.total);
    barrier();
  }
  if (First && block_index() == 0 && thread_index() == 0) *a.sort.entries = entries;
  Batch<TileShape> batch;
#pragma unroll 1
  for (SortTile<Args, First> tile(a); tile.is_there(); tile.next()) {
    tile.template load<false>(&batch);
    const auto place_digit = [&](uint32_t digit, uint32_t start, uint32_t count) {
      const uint32_t to = next[digit];
      shift[digit] = to - start;
      next[digit] = to + count;
    };
    const uint32_t count = sort_batch(&batch, p.shift, p.bits, sorted.template as<uint16_t>(), start_of, sorted,
                                      place_digit);
#pragma unroll 1
    for (uint32_t first = thread_index(); first < count; first += kMoved * kSortBlock) {
      SortEntry entry[kMoved];
#pragma unroll
      for (uint32_t n = 0; n < kMoved; ++n) entry[n] = sorted[first + n * kSortBlock];
#pragma unroll
      for (uint32_t n = 0; n < kMoved; ++n) {
        const uint32_t i = first + n * kSortBlock, to = i + shift[entry[n].key >> p.shift & (digits - 1)];
        if (i < count) p.to[to] = entry[n];
      }
    }
    barrier();
  }
}

}  // namespace
}  // namespace hipops
