// Short rows: a block sorts several rows, or one, in shared memory. It sorts by one digit after another, from the lowest
// to the highest, and then by the number of the row.
#pragma once

#include "device/core/radix.h"
#include "device/select/sort_keys.h"

namespace hipops {
namespace {

constexpr int kShortRowsDepth = kSortRowsTile / kShortRowsBlock;  // entries of a work-item
constexpr int kTogether = 4;                                      // entries that are loaded, or stored, together

// The rows of a block. An entry's value is the place of its element among the rows' elements.
struct ShortRows {
  int64_t first;
  uint32_t columns, count;

  HIPOPS_METHOD ShortRows(const SortRowsArgs& a, int64_t unit) : first(unit * a.block_rows), columns(uint32_t(a.columns)) {
    const int64_t left = a.rows.count - first;
    count = columns * uint32_t(left < a.block_rows ? left : a.block_rows);
  }
  // Finds the offsets of rows, and the columns there, by the values or places of entries.
  HIPOPS_METHOD void locate(const SortRowsArgs& a, const uint32_t (&value)[kTogether], Offsets<kSortOperands> (&at)[kTogether],
                            uint32_t (&column)[kTogether]) const {
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      const uint32_t row = count == columns ? 0 : value[n] / columns;
      column[n] = value[n] - row * columns;
      // One at a time: gfx9 has too few scalar registers for the divisions of all.
      at[n] = a.rows.fits_int32 ? locate_compact(a.rows, uint32_t(first) + row) : locate_compact(a.rows, first + row);
    }
  }
  template <class Word>
  HIPOPS_METHOD void load(const SortRowsArgs& a, const uint32_t (&value)[kTogether], Word (&element)[kTogether]) const {
    Offsets<kSortOperands> at[kTogether];
    uint32_t column[kTogether];
    locate(a, value, at, column);
#pragma unroll
    for (int n = 0; n < kTogether; ++n) element[n] = element_at_column<Word>(a, at[n].of[kSortX], column[n]);
  }
};

// Sets the entries' keys to a word of the elements' keys. The first phase also makes the entries.
template <class Word>
HIPOPS_FN void load_keys(const SortRowsArgs& args, int64_t unit, int32_t phase, const Shared<SortEntry>& sorted) {
  const ShortRows rows(reload_arguments(args), unit);
#pragma unroll 1
  for (uint32_t first = thread_index(); first < rows.count; first += kTogether * kShortRowsBlock) {
    const SortRowsArgs& a = reload_arguments(args);
    uint32_t value[kTogether];
    Word element[kTogether];
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      const uint32_t place = first + uint32_t(n) * kShortRowsBlock;
      value[n] = place < rows.count ? place : first;
      if (phase != 0) value[n] = SortEntry(sorted[value[n]]).value;
    }
    rows.load(a, value, element);
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      const uint32_t place = first + uint32_t(n) * kShortRowsBlock;
      if (place < rows.count) sorted[place] = {key_word(a, phase, element[n]), value[n]};
    }
  }
}

template <class Word>
HIPOPS_FN void store_rows(const SortRowsArgs& args, int64_t unit, const Shared<SortEntry>& sorted) {
  const ShortRows rows(reload_arguments(args), unit);
#pragma unroll 1
  for (uint32_t first = thread_index(); first < rows.count; first += kTogether * kShortRowsBlock) {
    Word element[kTogether];
    uint32_t value[kTogether], place[kTogether], column[kTogether];
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      place[n] = first + uint32_t(n) * kShortRowsBlock;
      if (place[n] >= rows.count) place[n] = first;  // it is stored again
      value[n] = SortEntry(sorted[place[n]]).value;
    }
    rows.load(reload_arguments(args), value, element);
    const SortRowsArgs& a = reload_arguments(args);
    Offsets<kSortOperands> at[kTogether];
    rows.locate(a, place, at, column);
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      store_index(a, at[n], column[n], value[n] - (place[n] - column[n]));
      if (a.values != nullptr) static_cast<Word*>(a.values)[at[n].of[kSortValues] + int64_t(column[n]) * a.values_step] = element[n];
    }
  }
}

// Calls f with a word of the elements' size.
template <class F>
HIPOPS_FN void with_word(int32_t bytes, F f) {
  switch (bytes) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

HIPOPS_FN void sort_short_rows(const SortRowsArgs& args) {
  using Shape = RadixShape<kShortRowsBlock, kShortRowsDepth, kSortDigitBits, true, true>;
  HIPOPS_SHARED(SortEntry, sorted, Shape::kBatch);
  HIPOPS_SHARED(uint16_t, start_of, Shape::kDigits);
  static_assert(Shape::kTally * sizeof(uint16_t) <= Shape::kBatch * sizeof(SortEntry), "they share memory");
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
#pragma unroll 1
    for (int32_t phase = 0; phase < reload_arguments(args).phases; ++phase) {
      const SortRowsArgs& a = reload_arguments(args);
      const int32_t words = a.bytes == 8 ? 2 : 1;
      if (phase < words) {
        with_word(a.bytes, [&](auto word) { load_keys<decltype(word)>(a, unit, phase, sorted); });
      } else {
#pragma unroll 1
        for (uint32_t i = thread_index(); i < ShortRows(a, unit).count; i += kShortRowsBlock) {
          const uint32_t value = SortEntry(sorted[i]).value;
          sorted[i] = {value / uint32_t(a.columns), value};
        }
      }
      barrier();
      const int32_t bits = phase == words ? a.row_bits : a.bytes < 4 ? 8 * a.bytes : 32;
#pragma unroll 1
      for (int32_t shift = 0; shift < bits; shift += kSortDigitBits) {
        const uint32_t count = ShortRows(reload_arguments(args), unit).count;
        Batch<Shape> batch;
        batch.begin(count);  // in each pass: gfx9 has too few scalar registers to keep which places have entries
        batch.load(sorted, count);
        barrier();  // the tally overwrites the entries
        sort_batch(&batch, shift, kSortDigitBits, sorted.template as<uint16_t>(), start_of, sorted);
      }
    }
    const SortRowsArgs& a = reload_arguments(args);
    with_word(a.bytes, [&](auto word) { store_rows<decltype(word)>(a, unit, sorted); });
    barrier();
  }
}

}  // namespace
}  // namespace hipops
