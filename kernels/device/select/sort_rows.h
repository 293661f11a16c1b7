// Short rows: neighbouring work-items have a row, Depth words each. A word is 16 bits of an element's key, and the
// element's place. So no words are equal, and a network of comparisons sorts them in registers. A pass sorts by 16 bits of
// the keys, from the lowest to the highest, and keeps the order of the last pass in shared memory.
#pragma once

#include "device/core/wave.h"
#include "device/select/sort_keys.h"

namespace hipops {
namespace {

constexpr int kPassBits = 16;
constexpr uint32_t kPlaces = (1u << kPassBits) - 1;
constexpr uint32_t kTogether = 4;                   // elements that are loaded, or stored, together
constexpr int kRoom = has_small_tiles ? 1536 : 2048;  // words that waves exchange together, or the offsets of rows
static_assert(kRoom * sizeof(uint32_t) >= kSortOperands * kMostShortRows * sizeof(int64_t), "offsets fit");

template <int Depth>
using Words = uint32_t[Depth];

// Calls f(n) for n below N, with n as a constant.
template <uint32_t N, class F>
HIPOPS_FN void repeat(F f) {
#pragma unroll
  for (uint32_t n = 0; n < N; ++n) f(n);
}

// Each group of sorted words has two halves. The first step of a merge compares a word with its mirror image in the group,
// and later steps with the word that is a power of two further. The smaller word is always stored first.
template <bool IsMirror, int Depth>
HIPOPS_FN void compare_within(uint32_t distance, Words<Depth>& word) {
  repeat<Depth>([&](uint32_t n) {
    const uint32_t other = n ^ (IsMirror ? 2 * distance - 1 : distance);
    if (other < n) return;
    const uint32_t first = word[n], second = word[other];
    word[n] = first < second ? first : second;
    word[other] = first < second ? second : first;
  });
}
// The words of the work-item at `distance`, or at the mirrored place.
template <bool IsMirror, int Distance = 1, int Depth>
HIPOPS_FN void exchange_words(uint32_t distance, const Words<Depth>& word, Words<Depth>& other, const Shared<uint32_t>& room) {
  constexpr int kBlock = kSortRowsTile / Depth, kMoved = kRoom / kBlock == 6 ? 4 : kRoom / kBlock;
  if constexpr (Distance == lanes_across) {
    const uint32_t from = thread_index() ^ (IsMirror ? 2 * distance - 1 : distance);
    repeat<Depth / kMoved>([&](uint32_t turn) {
      repeat<kMoved>([&](uint32_t n) { room[n * kBlock + thread_index()] = word[turn * kMoved + n]; });
      barrier();
      repeat<kMoved>([&](uint32_t n) { other[turn * kMoved + n] = room[n * kBlock + from]; });
      barrier();
    });
  } else if (distance == Distance) {
    repeat<Depth>([&](uint32_t n) { other[n] = value_across<IsMirror ? 2 * Distance - 1 : Distance>(word[n]); });
  } else {
    exchange_words<IsMirror, 2 * Distance>(distance, word, other, room);
  }
}
template <bool IsMirror, int Depth>
HIPOPS_FN void compare_lanes(uint32_t distance, Words<Depth>& word, const Shared<uint32_t>& room) {
  const bool is_later = (thread_index() & distance) != 0;
  Words<Depth> of_lane;
  exchange_words<IsMirror>(distance, word, of_lane, room);
  repeat<Depth>([&](uint32_t n) {
    const uint32_t other = of_lane[IsMirror ? Depth - 1 - n : n];
    word[n] = (other < word[n]) != is_later ? other : word[n];
  });
}
template <int Depth>
HIPOPS_FN void sort_words(uint32_t lanes, Words<Depth>& word, const Shared<uint32_t>& room) {
  constexpr uint32_t kBits = Depth == 16 ? 4 : Depth == 8 ? 3 : 2;
  static_assert(1 << kBits == Depth, "a power of two");
  const auto finish = [&](uint32_t bits) {  // from the greatest distance to the least
    repeat<kBits>([&](uint32_t n) {
      if (n >= kBits - bits) compare_within<false>(1u << (kBits - 1 - n), word);
    });
  };
  repeat<kBits>([&](uint32_t bit) {
    compare_within<true>(1u << bit, word);
    finish(bit);
  });
#pragma unroll 1
  for (uint32_t half = 1; half < lanes; half *= 2) {
    compare_lanes<true>(half, word, room);
#pragma unroll 1
    for (uint32_t distance = half / 2; distance != 0; distance /= 2) compare_lanes<false>(distance, word, room);
    finish(kBits);
  }
}

// The rows of a block. A row has a power of two of slots. The slots behind its end have the greatest key, and stay there.
template <int Depth>
struct ShortRows {
  static constexpr int kBlock = kSortRowsTile / Depth;
  const SortRowsArgs& a;
  int64_t first;
  uint32_t rows, slot_bits;

  HIPOPS_METHOD ShortRows(const SortRowsArgs& args, int64_t unit)
      : a(args), first(unit * a.block_rows), slot_bits(uint32_t(a.slot_bits)) {
    rows = uint32_t(a.rows.count - first < a.block_rows ? a.rows.count - first : a.block_rows);
  }
  HIPOPS_METHOD uint32_t row(uint32_t slot) const { return slot >> slot_bits; }
  HIPOPS_METHOD uint32_t column(uint32_t slot) const { return slot & ((1u << slot_bits) - 1); }
  HIPOPS_METHOD bool has(uint32_t slot) const { return row(slot) < rows && column(slot) < uint32_t(a.columns); }
  // The place of a slot's row in `keys`: rows begin at different banks.
  HIPOPS_METHOD uint32_t first_key(uint32_t slot) const { return (row(slot) * (Depth + 1) << slot_bits) / Depth; }

  HIPOPS_METHOD void locate_rows(const Shared<int64_t>& offsets) const {
    for (uint32_t row = thread_index(); row < rows; row += kBlock) {
      const Offsets<kSortOperands> at =
          a.rows.fits_int32 ? locate_compact(a.rows, uint32_t(first) + row) : locate_compact(a.rows, first + row);
      repeat<kSortOperands>([&](uint32_t k) { offsets[k * kMostShortRows + row] = at.of[k]; });
    }
    barrier();
  }
  // Calls f(slots) for all slots. Neighbouring lanes have neighbouring slots.
  template <class F>
  HIPOPS_METHOD void for_each(F f) const {
#pragma unroll 1
    for (uint32_t i = thread_index(); i < rows << slot_bits; i += kTogether * kBlock) {
      uint32_t slot[kTogether];
      repeat<kTogether>([&](uint32_t n) { slot[n] = i + n * kBlock; });
      f(slot);
    }
    barrier();
  }
};

// The index of a place in `order`: a wave stores at different banks.
HIPOPS_FN constexpr uint32_t spread(uint32_t place) { return place ^ (place / 64 * 2 % 16); }

template <int Depth>
HIPOPS_FN void sort_short_rows(const SortRowsArgs& args) {
  HIPOPS_SHARED(uint32_t, keys, kSortRowsTile + kSortRowsTile / Depth);
  HIPOPS_SHARED(uint16_t, order, kSortRowsTile);  // the columns of a row's elements in order
  HIPOPS_SHARED(int64_t, room, kRoom / 2);
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
#pragma unroll 1
    for (int32_t pass = 0; pass < reload_arguments(args).passes; ++pass) {
      const SortRowsArgs& a = reload_arguments(args);
      const ShortRows<Depth> rows(a, unit);
      if (pass % 2 == 0) {
        rows.locate_rows(room);
        with_word(a.bytes, [&](auto word) {
          rows.for_each([&](const uint32_t (&slot)[kTogether]) {
            decltype(word) element[kTogether];
            repeat<kTogether>([&](uint32_t n) {
              const uint32_t from = rows.has(slot[n]) ? slot[n] : 0;
              const int64_t row = room[kSortX * kMostShortRows + rows.row(from)];
              element[n] = element_at_column<decltype(word)>(a, row, rows.column(from));
            });
            repeat<kTogether>([&](uint32_t n) {
              const uint32_t key = key_word(a, pass / 2, element[n]);
              keys[rows.first_key(slot[n]) + rows.column(slot[n])] = rows.has(slot[n]) ? key : UINT32_MAX;
            });
          });
        });
      }
      const uint32_t own = thread_index() * Depth, lanes = (1u << a.slot_bits) / Depth, lane = thread_index() & (lanes - 1);
      const uint32_t first = own - lane * Depth, first_key = rows.first_key(own);
      const auto replace_by_columns = [&](Words<Depth>& places) {
        repeat<Depth>([&](uint32_t n) { places[n] = uint16_t(order[spread(first + places[n])]); });
      };
      Words<Depth> word, column;
      repeat<Depth>([&](uint32_t n) { column[n] = n * lanes + lane; });
      if (pass != 0) replace_by_columns(column);
      repeat<Depth>([&](uint32_t n) { word[n] = keys[first_key + column[n]]; });
      const int shift = pass % 2 == 0 ? kPassBits : 0;
      repeat<Depth>([&](uint32_t n) { word[n] = (word[n] << shift & ~kPlaces) | (n * lanes + lane); });
      sort_words(lanes, word, room.template as<uint32_t>());
      repeat<Depth>([&](uint32_t n) { word[n] &= kPlaces; });
      if (pass != 0) replace_by_columns(word);
      barrier();
      repeat<Depth>([&](uint32_t n) { order[spread(own) ^ n] = uint16_t(word[n]); });
      barrier();
    }
    const SortRowsArgs& a = reload_arguments(args);
    const ShortRows<Depth> rows(a, unit);
    rows.locate_rows(room);
    with_word(a.bytes, [&](auto word) {
      rows.for_each([&](const uint32_t (&slot)[kTogether]) {
        uint32_t column[kTogether], key[kTogether];
        repeat<kTogether>([&](uint32_t n) { column[n] = uint16_t(order[spread(slot[n])]); });
        repeat<kTogether>([&](uint32_t n) { key[n] = keys[rows.first_key(slot[n]) + column[n]]; });
        repeat<kTogether>([&](uint32_t n) {
          if (!rows.has(slot[n])) return;
          Offsets<kSortOperands> at;
          repeat<kSortOperands>([&](uint32_t k) { at.of[k] = room[k * kMostShortRows + rows.row(slot[n])]; });
          store_sorted<decltype(word)>(a, at, rows.column(slot[n]), key[n], column[n]);
        });
      });
    });
  }
}

}  // namespace
}  // namespace hipops
