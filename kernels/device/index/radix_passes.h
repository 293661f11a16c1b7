// Sorts the indices of a tensor by the rows that they name, one digit after another, from the lowest digit to the
// highest. The work of a block does not depend on the indices. A pass, for one digit, has three launches:
//   count      A block counts each digit's entries in its batch. In the first pass it also reports wrong indices.
//   offsets    A block replaces one digit's counts by the number of the digit's entries in earlier batches.
//   partition  A block sorts its batch by the digit, tile by tile, and stores each digit's entries behind the entries
//              of smaller digits and of earlier blocks. So a pass is stable. No block waits for another.
#pragma once

#include "device/index/sort_tile.h"

namespace hipops {
namespace {

using TileShape = RadixShape<kSortBlock, has_small_tiles ? 8 : kLargestTile / kSortBlock, kPassBits, true>;
constexpr uint32_t kMoved = 4;  // sorted entries that a work-item moves together
static_assert(TileShape::kDepth % kMoved == 0, "a round of loads does not pass the end of `sorted`");
static_assert(TileShape::kDigits <= kSortBlock, "a work-item for each digit");
static_assert(kLargestTile % TileShape::kBatch == 0, "if a batch has several tiles, all are whole");

template <bool First, class Args>
HIPOPS_FN void count_digits_of(const Args& a, Shared<uint32_t> count) {
  const RadixPassArgs& p = a.pass;
  const uint32_t digits = 1u << p.bits;
  if (First ? !may_sort(a.sort) : rows_do_differ(a.sort.rows_differ)) return;
  const uint32_t own = hide_origin(thread_index());
  if (own < digits) count[own] = 0;
  if (First) clear_counters(a, block_index() * a.sort.batch);
  barrier();
  Batch<TileShape> batch;
#pragma unroll 1
  for (SortTile<TileShape, Args, First> tile(a); tile.is_there(); tile.next()) {
    tile.template load<true>(&batch);
#pragma unroll
    for (int n = 0; n < TileShape::kDepth; ++n) {
      if (!batch.in_use(n)) continue;
      const uint32_t digit = batch.entry[n].key >> p.shift & (digits - 1), first = first_lane_value(digit);
      const bool has_entry = batch.has_entry(n);
      // One addition if all entries of a wave have one digit: additions to one word wait for each other.
      const bool is_one = count_bits(ballot(has_entry && digit == first)) == wave_size;
      if (is_one ? lane_index() == 0 : has_entry) count.fetch_add(digit, is_one ? wave_size : 1);
    }
  }
  barrier();
  if (own < digits) p.counts[int64_t(own) * a.sort.blocks + block_index()] = count[own];
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
  if (rows_do_differ(a.sort.rows_differ)) return;
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
  HIPOPS_SHARED(uint32_t, distance, TileShape::kDigits);  // from a digit's places in `sorted` to its places in memory
  static_assert(TileShape::kTally * sizeof(uint16_t) <= TileShape::kBatch * sizeof(SortEntry), "they share memory");
  const RadixPassArgs& p = a.pass;
  if (rows_do_differ(a.sort.rows_differ)) return;
  const uint32_t digits = 1u << p.bits, own = hide_origin(thread_index());
  const uint32_t before = own < digits ? p.counts[int64_t(own) * a.sort.blocks + block_index()] : 0;
  const Scanned<uint32_t> scan = block_scan<kSortBlock>(own < digits ? p.totals[own] : 0u);
  if (own < digits) next[own] = scan.before + before;
  if (First && block_index() == 0 && own == 0) *a.sort.entries = scan.total;
  barrier();
  Batch<TileShape> batch;
#pragma unroll 1
  for (SortTile<TileShape, Args, First> tile(a); tile.is_there(); tile.next()) {
    tile.template load<false>(&batch);
    const auto place_digit = [&](uint32_t digit, uint32_t start, uint32_t count) {
      const uint32_t to = next[digit];
      distance[digit] = to - start;
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
        const uint32_t i = first + n * kSortBlock, to = i + distance[entry[n].key >> p.shift & (digits - 1)];
        if (i < count) p.to[to] = entry[n];
      }
    }
    barrier();
  }
}

}  // namespace
}  // namespace hipops
