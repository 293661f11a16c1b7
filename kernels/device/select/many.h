// k above kManyK: a block has a row, and reads it several times. The digits of the key of rank k are found one after
// another, by counts of each digit. Then the elements are stored in the order of columns. If they must be in order,
// later launches sort runs of them, and merge the runs: an element's rank is the sum of its ranks in all runs. The
// sorted candidates of a row's parts (block_rows.h) are runs, too.
#pragma once

#include "device/core/radix.h"
#include "device/select/keys.h"
#include "device/select/threshold.h"

namespace hipops {
namespace {

constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

struct Digit {
  uint32_t digit, above;  // `above` keys have a greater digit
};

// The digit of the key of rank k, counted from the greatest digit.
HIPOPS_FN Digit find_digit(Shared<uint32_t> counts, uint32_t k) {
  constexpr int kOfEach = kDigits / kSelectBlock;
  HIPOPS_SHARED(Digit, found, 1);
  const uint32_t first = kDigits - 1 - thread_index() * kOfEach;
  uint32_t own = 0;
#pragma unroll
  for (int n = 0; n < kOfEach; ++n) own += counts[first - uint32_t(n)];
  uint32_t before = block_scan<kSelectBlock>(own).before;
  if (before < k && k <= before + own) {
    uint32_t digit = first;
    for (; before + counts[digit] < k; --digit) before += counts[digit];
    found[0] = {digit, before};
  }
  barrier();
  return found[0];
}

// The key of rank k, which is one of the window's elements.
template <class T>
HIPOPS_FN Threshold find_threshold_by_digits(const KeyRule& rule, const Window<T>& w, uint32_t k) {
  HIPOPS_SHARED(uint32_t, counts, kDigits);
  uint32_t prefix = 0, above = 0;
#pragma unroll 1
  for (int bits = 8 * int(sizeof(T)); bits > 0;) {  // bits of the key that are not known
    const int shift = bits > kDigitBits ? bits - kDigitBits : 0;
    for (uint32_t d = thread_index(); d < kDigits; d += kSelectBlock) counts[d] = 0;
    barrier();
#pragma unroll 1
    for (int64_t tile = w.first; tile < w.end; tile += kTile) {
      uint32_t key[kTileDepth];
      load_keys<kSelectBlock>(rule, w, tile, thread_index(), key);
#pragma unroll
      for (int n = 0; n < kTileDepth; ++n) {
        const bool is_counted = key[n] != 0 && uint64_t(key[n]) >> bits == prefix;
        if (is_counted) counts.fetch_add(key[n] >> shift & ((1u << (bits - shift)) - 1), 1u);
      }
    }
    barrier();
    const Digit found = find_digit(counts, k - above);
    prefix = prefix << (bits - shift) | found.digit;
    above += found.above;
    bits = shift;
    barrier();
  }
  return {prefix, above};  // `above` keys are greater
}

template <class T>
HIPOPS_FN void select_many(const TopkArgs& args) {
  constexpr int kLength = Window<T>::kLength, kGroups = kTileDepth / kLength;
  const auto scan = [](uint64_t v) {
    barrier();
    return block_scan<kSelectBlock>(v);
  };
  for (int64_t row = block_index(); row < reload_arguments(args).units; row += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const Window<T> w = window_of<T>(a, locate_row(a, row), 0, a.columns);
    const uint32_t k = uint32_t(a.k) < w.count() ? uint32_t(a.k) : w.count();
    const Threshold t = k == 0 ? Threshold{0, 0} : find_threshold_by_digits(KeyRule(a), w, k);
    const TopkArgs& b = reload_arguments(args);
    const RowResults results(b, row);
    const auto store = [&](int64_t i, uint32_t key, uint32_t column) {
      if (b.entries != nullptr) b.entries[row * b.k + i] = {~key, column};
      else results.store(i, column != kNoColumn, key, column);
    };
    uint32_t stored = 0, ties = k - t.count;  // ties that are still to be selected
#pragma unroll 1
    for (int64_t tile = w.first; tile < w.end && stored < k; tile += kTile) {
      uint32_t key[kTileDepth], marks = 0, equal = 0;
      load_keys<kSelectBlock>(KeyRule(b), w, tile, thread_index(), key);
#pragma unroll
      for (int n = 0; n < kTileDepth; ++n) {
        marks |= uint32_t(key[n] > t.key) << n;
        equal |= uint32_t(key[n] == t.key) << n;
      }
      const MarkedPlaces<kGroups, kLength> of_ties(equal, scan);
#pragma unroll
      for (int n = 0; n < kTileDepth; ++n)
        if ((equal >> n & 1) != 0 && of_ties.place(equal, n / kLength, n % kLength) < ties) marks |= 1u << n;
      const uint32_t equal_keys = uniform(of_ties.all());
      ties -= equal_keys < ties ? equal_keys : ties;
      const MarkedPlaces<kGroups, kLength> places(marks, scan);
#pragma unroll 1
      for (uint32_t rest = marks; rest != 0; rest &= rest - 1) {  // the key is computed again: no register has a number
        const int n = bits_in(rest & (0 - rest)) - 1;
        const uint32_t vector = uint32_t(n / kLength) * kSelectBlock + thread_index();
        const uint32_t place = vector * kLength + uint32_t(n % kLength);
        const uint32_t selected = KeyRule(b).key_of(w.row[(tile + place) * w.step]);
        store(stored + places.place_of(marks, n), selected, uint32_t(tile) + place);
      }
      stored += uniform(places.all());
    }
    // The key of an absent element is the least, and its entry is behind all others.
    for (uint32_t i = k + thread_index(); i < uint32_t(b.k); i += kSelectBlock) store(i, 1, kNoColumn);
    barrier();
  }
}

// The entries of a row's run. Without parts only the last run may have fewer than the others.
HIPOPS_FN uint32_t entries_of(const TopkArgs& a, int64_t row, uint32_t run) {
  if (a.run_entries != nullptr) return a.run_entries[row * a.parts + run];
  const uint32_t of_part = uint32_t(a.of_part), rest = uint32_t(a.of_row) - run * of_part;
  return rest < of_part ? rest : of_part;
}

HIPOPS_FN void sort_runs(const TopkArgs& args) {
  using Shape = RadixShape<kSelectBlock, kSortRun / kSelectBlock, 8>;
  HIPOPS_SHARED(SortEntry, room, kSortRun);
  HIPOPS_SHARED(uint16_t, tally, Shape::kTally);
  HIPOPS_SHARED(uint16_t, start_of, Shape::kDigits);
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const int64_t row = divide(unit, a.parts, a.parts_divisor), run = unit - row * a.parts;
    SortEntry* const first = a.entries + row * a.of_row + run * a.of_part;
    const uint32_t entries = entries_of(a, row, uint32_t(run));
    Batch<Shape> batch;
    batch.begin(entries);
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      const bool is_there = batch.in_use(n) && batch.place(n) < entries;
      const SortEntry e = first[is_there ? batch.place(n) : 0];
      batch.entry[n] = {is_there ? e.key : Batch<Shape>::kNoKey, e.value};
    }
#pragma unroll 1
    for (int shift = 0; shift < 32; shift += Shape::kBits) {
      if (shift != 0) batch.load(room, entries);
      sort_batch(&batch, shift, Shape::kBits, tally, start_of, room);
    }
    for (uint32_t i = thread_index(); i < entries; i += kSelectBlock) first[i] = room[i];
    barrier();
  }
}

// The number of entries before an entry of run `own`, in kTogether sorted runs from run `first` on. Their loads are issued
// together. Equal entries are in the order of runs. `half`: a power of 2. No run has twice that number of entries.
template <uint32_t kTogether>
HIPOPS_FN uint32_t entries_before(const TopkArgs& a, int64_t row, uint32_t first, uint32_t own, uint32_t key, uint32_t half) {
  const SortEntry* const entries = a.entries + row * a.of_row;
  uint32_t next[kTogether], end[kTogether], before = 0;
#pragma unroll
  for (uint32_t n = 0; n < kTogether; ++n) {
    const bool is_other = first + n != own && first + n < uint32_t(a.parts);
    next[n] = is_other ? (first + n) * uint32_t(a.of_part) : 0;
    end[n] = is_other ? next[n] + entries_of(a, row, first + n) : 0;
  }
#pragma unroll 1
  for (; half != 0; half /= 2) {
    uint32_t other[kTogether];
#pragma unroll
    for (uint32_t n = 0; n < kTogether; ++n)
      other[n] = entries[next[n] + half <= end[n] ? next[n] + half - 1 : 0].key;
#pragma unroll
    for (uint32_t& word : other) issue_before_use(word);
#pragma unroll
    for (uint32_t n = 0; n < kTogether; ++n) {
      const bool is_before = other[n] < key || (other[n] == key && first + n < own);
      const uint32_t found = is_before && next[n] + half <= end[n] ? half : 0;
      next[n] += found;
      before += found;
    }
  }
  return before;
}

HIPOPS_FN void merge_runs(const TopkArgs& args) {
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const uint32_t blocks = uint32_t(a.run_blocks);
    const int64_t run_of_all = unit / blocks, row = divide(run_of_all, a.parts, a.parts_divisor);
    const uint32_t own_run = uint32_t(run_of_all - row * a.parts), first = uint32_t(unit - run_of_all * blocks) * kSelectBlock;
    const uint32_t most = a.run_entries == nullptr ? uint32_t(a.of_part) : range_of_parts(a, a.run_entries, row).most;
    const uint32_t half = 1u << (bits_in(most) - 1);
    for (uint32_t i = first + thread_index(); i < entries_of(a, row, own_run); i += blocks * kSelectBlock) {
      const SortEntry own = a.entries[row * a.of_row + own_run * uint32_t(a.of_part) + i];
      uint32_t rank = i;
#pragma unroll 1
      for (uint32_t run = 0; run < uint32_t(a.parts) && rank < uint32_t(a.k);) {
        const bool are_many = bounds_set_registers && uint32_t(a.parts) - run > 8;  // gfx9 has too few scalar registers
        rank += are_many ? entries_before<16>(a, row, run, own_run, own.key, half)
                         : entries_before<8>(a, row, run, own_run, own.key, half);
        run += are_many ? 16 : 8;
      }
      if (rank < uint32_t(a.k)) RowResults(a, row).store(rank, own.value != kNoColumn, ~own.key, own.value);
    }
  }
}

}  // namespace
}  // namespace hipops
