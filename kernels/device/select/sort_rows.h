// Short rows: neighbouring work-items have a row, kShortRowsDepth words each. A word is 16 bits of an element's key, and the
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
constexpr int kMovedWords = has_small_tiles ? 4 : 8;  // words of a work-item that waves exchange together
constexpr int kOffsetWords = int(kSortOperands * sizeof(int64_t) / sizeof(uint32_t));  // of a row's offsets
constexpr int kRoomWords = kMovedWords < kOffsetWords ? kOffsetWords : kMovedWords;

using Words = uint32_t[kShortRowsDepth];

// Calls f(n) for n below N, with n as a constant.
template <uint32_t N, class F>
HIPOPS_FN void repeat(F f) {
#pragma unroll
  for (uint32_t n = 0; n < N; ++n) f(n);
}

// Each group of sorted words has two halves. The first step of a merge compares a word with its mirror image in the group,
// and later steps with the word that is a power of two further. The smaller word is always stored first.
template <bool IsMirror>
HIPOPS_FN void compare_within(uint32_t distance, Words& word) {
  repeat<kShortRowsDepth>([&](uint32_t n) {
    const uint32_t other = n ^ (IsMirror ? 2 * distance - 1 : distance);
    if (other < n) return;
    const uint32_t first = word[n], second = word[other];
    word[n] = first < second ? first : second;
    word[other] = first < second ? second : first;
  });
}
// The words of the work-item at `distance`, or at the mirrored place.
template <bool IsMirror, int Distance = 1>
HIPOPS_FN void exchange_words(uint32_t distance, const Words& word, Words& other, const Shared<uint32_t>& room) {
  if constexpr (Distance == lanes_across) {
    const uint32_t from = thread_index() ^ (IsMirror ? 2 * distance - 1 : distance);
    repeat<kShortRowsDepth / kMovedWords>([&](uint32_t turn) {
      const uint32_t first = turn * kMovedWords;
      repeat<kMovedWords>([&](uint32_t n) { room[n * kShortRowsBlock + thread_index()] = word[first + n]; });
      barrier();
      repeat<kMovedWords>([&](uint32_t n) { other[first + n] = room[n * kShortRowsBlock + from]; });
      barrier();
    });
  } else if (distance == Distance) {
    repeat<kShortRowsDepth>([&](uint32_t n) { other[n] = value_across<IsMirror ? 2 * Distance - 1 : Distance>(word[n]); });
  } else {
    exchange_words<IsMirror, 2 * Distance>(distance, word, other, room);
  }
}
template <bool IsMirror>
HIPOPS_FN void compare_lanes(uint32_t distance, Words& word, const Shared<uint32_t>& room) {
  const bool is_later = (thread_index() & distance) != 0;
  Words of_lane;
  exchange_words<IsMirror>(distance, word, of_lane, room);
  repeat<kShortRowsDepth>([&](uint32_t n) {
    const uint32_t other = of_lane[IsMirror ? kShortRowsDepth - 1 - n : n];
    word[n] = (other < word[n]) != is_later ? other : word[n];
  });
}
HIPOPS_FN void sort_words(uint32_t lanes, Words& word, const Shared<uint32_t>& room) {
  const auto finish = [&](uint32_t bits) {  // from the greatest distance to the least
    repeat<kShortRowsDepthBits>([&](uint32_t n) {
      if (n >= kShortRowsDepthBits - bits) compare_within<false>(1u << (kShortRowsDepthBits - 1 - n), word);
    });
  };
  repeat<kShortRowsDepthBits>([&](uint32_t bit) {
    compare_within<true>(1u << bit, word);
    finish(bit);
  });
#pragma unroll 1
  for (uint32_t half = 1; half < lanes; half *= 2) {
    compare_lanes<true>(half, word, room);
#pragma unroll 1
    for (uint32_t distance = half / 2; distance != 0; distance /= 2) compare_lanes<false>(distance, word, room);
    finish(kShortRowsDepthBits);
  }
}

// The rows of a block. A row has a power of two of slots. The slots behind its end have the greatest key, and stay there.
struct ShortRows {
  const SortRowsArgs& a;
  int64_t first;
  uint32_t rows, slot_bits;

  HIPOPS_METHOD ShortRows(const SortRowsArgs& args, int64_t unit)
      : a(args), first(unit * a.block_rows), slot_bits(uint32_t(a.lane_bits) + kShortRowsDepthBits) {
    rows = uint32_t(a.rows.count - first < a.block_rows ? a.rows.count - first : a.block_rows);
  }
  HIPOPS_METHOD uint32_t row(uint32_t slot) const { return slot >> slot_bits; }
  HIPOPS_METHOD uint32_t column(uint32_t slot) const { return slot & ((1u << slot_bits) - 1); }
  HIPOPS_METHOD bool has(uint32_t slot) const { return row(slot) < rows && column(slot) < uint32_t(a.columns); }
  // The place of a slot's row in `keys`: rows begin at different banks.
  HIPOPS_METHOD uint32_t first_key(uint32_t slot) const { return row(slot) * (kShortRowsDepth + 1) << a.lane_bits; }

  HIPOPS_METHOD void locate_rows(const Shared<int64_t>& offsets) const {
    for (uint32_t row = thread_index(); row < rows; row += kShortRowsBlock) {
      const Offsets<kSortOperands> at =
          a.rows.fits_int32 ? locate_compact(a.rows, uint32_t(first) + row) : locate_compact(a.rows, first + row);
      repeat<kSortOperands>([&](uint32_t k) { offsets[k * kShortRowsBlock + row] = at.of[k]; });
    }
    barrier();
  }
  // Calls f(slots) for all slots. Neighbouring lanes have neighbouring slots.
  template <class F>
  HIPOPS_METHOD void for_each(F f) const {
#pragma unroll 1
    for (uint32_t i = thread_index(); i < rows << slot_bits; i += kTogether * kShortRowsBlock) {
      uint32_t slot[kTogether];
      repeat<kTogether>([&](uint32_t n) { slot[n] = i + n * kShortRowsBlock; });
      f(slot);
    }
    barrier();
  }
};

// The index of a place in `order`: a wave stores at different banks.
HIPOPS_FN constexpr uint32_t spread(uint32_t place) { return place ^ (place / 64 * 2 % kShortRowsDepth); }

HIPOPS_FN void sort_short_rows(const SortRowsArgs& args) {
  HIPOPS_SHARED(uint32_t, keys, kSortRowsTile + kShortRowsBlock);
  HIPOPS_SHARED(uint16_t, order, kSortRowsTile);  // the columns of a row's elements in order
  HIPOPS_SHARED(int64_t, room, kRoomWords * kShortRowsBlock / 2);
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
#pragma unroll 1
    for (int32_t pass = 0; pass < reload_arguments(args).passes; ++pass) {
      const SortRowsArgs& a = reload_arguments(args);
      const ShortRows rows(a, unit);
      if (pass % 2 == 0) {
        rows.locate_rows(room);
        with_word(a.bytes, [&](auto word) {
          rows.for_each([&](const uint32_t (&slot)[kTogether]) {
            decltype(word) element[kTogether];
            repeat<kTogether>([&](uint32_t n) {
              const uint32_t from = rows.has(slot[n]) ? slot[n] : 0;
              const int64_t row = room[kSortX * kShortRowsBlock + rows.row(from)];
              element[n] = element_at_column<decltype(word)>(a, row, rows.column(from));
            });
            repeat<kTogether>([&](uint32_t n) {
              const uint32_t key = key_word(a, pass / 2, element[n]);
              keys[rows.first_key(slot[n]) + rows.column(slot[n])] = rows.has(slot[n]) ? key : UINT32_MAX;
            });
          });
        });
      }
      const uint32_t own = thread_index() * kShortRowsDepth, lanes = 1u << a.lane_bits, lane = thread_index() & (lanes - 1);
      const uint32_t first = own - lane * kShortRowsDepth, first_key = rows.first_key(own);
      const auto replace_by_columns = [&](Words& places) {
        repeat<kShortRowsDepth>([&](uint32_t n) { places[n] = uint16_t(order[spread(first + places[n])]); });
      };
      Words word, column;
      repeat<kShortRowsDepth>([&](uint32_t n) { column[n] = n * lanes + lane; });
      if (pass != 0) replace_by_columns(column);
      repeat<kShortRowsDepth>([&](uint32_t n) { word[n] = keys[first_key + column[n]]; });
      const int shift = pass % 2 == 0 ? kPassBits : 0;
      repeat<kShortRowsDepth>([&](uint32_t n) { word[n] = (word[n] << shift & ~kPlaces) | (n * lanes + lane); });
      sort_words(lanes, word, room.template as<uint32_t>());
      repeat<kShortRowsDepth>([&](uint32_t n) { word[n] &= kPlaces; });
      if (pass != 0) replace_by_columns(word);
      barrier();
      repeat<kShortRowsDepth>([&](uint32_t n) { order[spread(own) ^ n] = uint16_t(word[n]); });
      barrier();
    }
    const SortRowsArgs& a = reload_arguments(args);
    const ShortRows rows(a, unit);
    rows.locate_rows(room);
    with_word(a.bytes, [&](auto word) {
      rows.for_each([&](const uint32_t (&slot)[kTogether]) {
        uint32_t column[kTogether], key[kTogether];
        repeat<kTogether>([&](uint32_t n) { column[n] = uint16_t(order[spread(slot[n])]); });
        repeat<kTogether>([&](uint32_t n) { key[n] = keys[rows.first_key(slot[n]) + column[n]]; });
        repeat<kTogether>([&](uint32_t n) {
          if (!rows.has(slot[n])) return;
          Offsets<kSortOperands> at;
          repeat<kSortOperands>([&](uint32_t k) { at.of[k] = room[k * kShortRowsBlock + rows.row(slot[n])]; });
          store_sorted<decltype(word)>(a, at, rows.column(slot[n]), key[n], column[n]);
        });
      });
    });
  }
}

}  // namespace
}  // namespace hipops
