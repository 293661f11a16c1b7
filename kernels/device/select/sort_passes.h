// Long rows: sorted by one digit of the key after another, from the lowest to the highest. A pass has three launches:
//   count      A block counts each digit's entries in its batch of a row.
//   offsets    A block replaces the counts of a row's digit by the number of the digit's entries in earlier batches.
//   partition  A block sorts its batch by the digit, tile by tile, and stores each digit's entries behind the entries of
//              smaller digits and of earlier batches. So a pass is stable. No block waits for another.
// The first pass loads elements of x; the last one stores the results.
#pragma once

#include "device/core/radix.h"
#include "device/select/sort_keys.h"

namespace hipops {
namespace {

using SortTileShape =
    RadixShape<kSortRowsBlock, has_small_tiles ? 8 : kSortRowsTile / kSortRowsBlock, kSortDigitBits, true, true>;
static_assert(kSortDigits == kSortRowsBlock, "a work-item for each digit");
constexpr uint32_t kSortMoved = 4;  // sorted entries that a work-item moves together

// A block's batch of a row's entries, as the unit's number defines it.
struct SortBatch {
  int64_t row;
  uint32_t block, first, end;  // the batch's number in the row; its columns, or places, from `first` to `end` - 1

  HIPOPS_METHOD SortBatch(const SortRowsArgs& a, int64_t unit) {
    row = a.blocks == 1 ? unit : divide(unit, a.blocks, a.blocks_divisor);
    block = uint32_t(unit - row * a.blocks);
    first = block * uint32_t(a.batch);
    end = uint32_t(a.columns) - first > uint32_t(a.batch) ? first + uint32_t(a.batch) : uint32_t(a.columns);
  }
  HIPOPS_METHOD Offsets<kSortOperands> at(const SortRowsArgs& a) const { return locate_in_loop(a.rows, row); }
};

// The value at place `first + n * Step` from `from` on, `step` elements apart. After `last`: any value.
template <uint32_t Step, class T>
HIPOPS_FN T load_spaced(const T* from, int64_t step, uint32_t first, uint32_t n, uint32_t last) {
  const uint32_t place = first + n * Step;
  if constexpr (loads_are_predicated) {
    T value{};
    if (place <= last) value = from[int64_t(first) * step + int64_t(n * Step) * step];
    return value;
  }
  return from[int64_t(place < last ? place : last) * step];
}

// Loads a lane's entries of the tile at `base`: at places first, first + Step, ..
template <uint32_t Step, class Word, int Depth>
HIPOPS_FN void load_elements(const SortRowsArgs& a, const SortBatch& b, uint32_t base, uint32_t first, SortEntry (&entry)[Depth]) {
  const Word* const x = static_cast<const Word*>(a.x) + b.at(a).of[kSortX] + base * a.x_step;
  Word element[Depth];
#pragma unroll
  for (int n = 0; n < Depth; ++n) element[n] = load_spaced<Step>(x, a.x_step, first, uint32_t(n), b.end - 1 - base);
#pragma unroll
  for (int n = 0; n < Depth; ++n) entry[n] = {key_word(a, a.word, element[n]), base + first + uint32_t(n) * Step};
}
template <uint32_t Step, int Depth>
HIPOPS_FN void load_entries(const SortRowsArgs& a, const SortBatch& b, uint32_t base, uint32_t first, SortEntry (&entry)[Depth]) {
  if (a.from == nullptr)
    return with_word(a.bytes, [&](auto word) { load_elements<Step, decltype(word)>(a, b, base, first, entry); });
  const SortEntry* const from = a.from + b.row * a.columns + base;
#pragma unroll
  for (int n = 0; n < Depth; ++n) entry[n] = load_spaced<Step>(from, 1, first, uint32_t(n), b.end - 1 - base);
  if (!a.loads_word) return;
  const int64_t row = b.at(a).of[kSortX];
  uint64_t element[Depth];
#pragma unroll
  for (int n = 0; n < Depth; ++n) element[n] = element_at_column<uint64_t>(a, row, entry[n].value);
#pragma unroll
  for (int n = 0; n < Depth; ++n) entry[n].key = key_word(a, a.word, element[n]);
}

HIPOPS_FN void count_digits(const SortRowsArgs& args) {
  constexpr int kDepth = 8;
  constexpr uint32_t kStep = kDepth * kSortRowsBlock;
  HIPOPS_SHARED(uint32_t, count, kSortDigits);
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const SortRowsArgs& a = reload_arguments(args);
    const SortBatch b(a, unit);
    const uint32_t own = hide_origin(thread_index());
    count[own] = 0;
    barrier();
#pragma unroll 1
    for (uint32_t base = b.first, left = b.end - base; left > 0; base += kStep, left -= left < kStep ? left : kStep) {
      SortEntry entry[kDepth];
      load_entries<kSortRowsBlock>(reload_arguments(args), b, base, thread_index(), entry);
#pragma unroll
      for (int n = 0; n < kDepth; ++n) {
        const uint32_t digit = entry[n].key >> a.shift & (kSortDigits - 1), first = first_lane_value(digit);
        const bool has_entry = thread_index() + uint32_t(n) * kSortRowsBlock < left;
        // One addition if all entries of a wave have one digit: additions to one word wait for each other.
        const bool is_one = count_bits(ballot(has_entry && digit == first)) == wave_size;
        if (is_one ? lane_index() == 0 : has_entry) count.fetch_add(digit, is_one ? wave_size : 1);
      }
    }
    barrier();
    a.counts[(b.row * kSortDigits + own) * a.blocks + b.block] = count[own];
    barrier();
  }
}

HIPOPS_FN void add_counts(const SortRowsArgs& args) {
  constexpr uint32_t kEach = 8;
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const SortRowsArgs& a = reload_arguments(args);
    uint32_t* const counts = a.counts + unit * a.blocks;
    uint32_t sum = 0;
#pragma unroll 1
    for (int64_t base = 0; base < a.blocks; base += kEach * kSortRowsBlock) {
      const int64_t first = base + thread_index() * kEach;
      uint32_t count[kEach], own = 0;
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) count[n] = counts[first + n < a.blocks ? first + n : 0];
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) {
        if (first + n >= a.blocks) count[n] = 0;
        own += count[n];
      }
      barrier();  // the last scan's sums have been read, and counts[0] has
      const Scanned<uint32_t> scan = block_scan<kSortRowsBlock>(own);
      uint32_t before = sum + scan.before;
#pragma unroll
      for (uint32_t n = 0; n < kEach; ++n) {
        if (first + n < a.blocks) counts[first + n] = before;
        before += count[n];
      }
      sum += scan.total;
    }
    if (thread_index() == 0) a.totals[unit] = sum;
    barrier();
  }
}

HIPOPS_FN void partition(const SortRowsArgs& args) {
  using Shape = SortTileShape;
  HIPOPS_SHARED(SortEntry, sorted, Shape::kBatch);
  HIPOPS_SHARED(uint16_t, start_of, kSortDigits);
  HIPOPS_SHARED(uint32_t, next, kSortDigits);      // the place of a digit's next entry
  HIPOPS_SHARED(uint32_t, distance, kSortDigits);  // from a digit's places in `sorted` to its places in the row
  static_assert(Shape::kTally * sizeof(uint16_t) <= Shape::kBatch * sizeof(SortEntry), "they share memory");
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const SortRowsArgs& a = reload_arguments(args);
    const SortBatch b(a, unit);
    const uint32_t own = hide_origin(thread_index());
    const uint32_t earlier = a.counts[(b.row * kSortDigits + own) * a.blocks + b.block];
    next[own] = block_scan<kSortRowsBlock>(a.totals[b.row * kSortDigits + own]).before + earlier;
    barrier();
    Batch<Shape> batch;
#pragma unroll 1
    for (uint32_t base = b.first, left = b.end - base, own = 0; left > 0; base += own, left -= own) {
      const SortRowsArgs& a = reload_arguments(args);
      own = left < Shape::kBatch ? left : uint32_t(Shape::kBatch);
      batch.begin(own);
      load_entries<wave_size>(a, b, base, batch.place(0), batch.entry);
      const auto place_digit = [&](uint32_t digit, uint32_t start, uint32_t count) {
        const uint32_t to = next[digit];
        distance[digit] = to - start;
        next[digit] = to + count;
      };
      const uint32_t count =
          sort_batch(&batch, a.shift, kSortDigitBits, sorted.template as<uint16_t>(), start_of, sorted, place_digit);
      const SortRowsArgs& last = reload_arguments(args);
      const Offsets<kSortOperands> at = last.to == nullptr ? b.at(last) : Offsets<kSortOperands>{};
#pragma unroll 1
      for (uint32_t first = thread_index(); first < count; first += kSortMoved * kSortRowsBlock) {
        SortEntry entry[kSortMoved];
#pragma unroll
        for (uint32_t n = 0; n < kSortMoved; ++n)
          entry[n] = sorted[first + n * kSortRowsBlock < count ? first + n * kSortRowsBlock : count - 1];
#pragma unroll
        for (uint32_t n = 0; n < kSortMoved; ++n) {
          const uint32_t i = first + n * kSortRowsBlock;
          const uint32_t to = i + distance[entry[n].key >> last.shift & (kSortDigits - 1)];
          if (i >= count) continue;
          if (last.to != nullptr) last.to[b.row * last.columns + to] = entry[n];
          else with_word(last.bytes, [&](auto word) { store_sorted<decltype(word)>(last, at, to, entry[n].key, entry[n].value); });
        }
      }
      barrier();
    }
  }
}

}  // namespace
}  // namespace hipops
