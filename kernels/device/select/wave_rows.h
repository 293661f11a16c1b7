// Short rows: a wave has a row, in registers.
#pragma once

#include "device/select/keys.h"
#include "device/select/threshold.h"

namespace hipops {
namespace {

constexpr int kSelectWaves = kSelectBlock / wave_size;

// Stores the row's results in order: a lane counts the elements that come before its element. The wave's elements are at
// `room` from `own` on, in the order of columns.
HIPOPS_FN void store_sorted(const RowResults& results, Shared<SortEntry> room, uint32_t own, uint32_t count) {
#pragma unroll 1
  for (uint32_t i = lane_index(); i < count; i += wave_size) {
    const SortEntry entry = room[own + i];
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t j = 0; j < count; ++j) {
      const uint32_t other = SortEntry(room[own + j]).key;
      rank += other > entry.key || (other == entry.key && j < i);
    }
    results.store_element(rank, entry.key, entry.value);
  }
}

template <class T, int Depth>
HIPOPS_FN void select_in_wave(const TopkArgs& args, Shared<SortEntry> room) {
  constexpr int kLength = Window<T>::kLength, kGroups = Depth / kLength;
  const uint32_t lane = lane_index(), own = wave_index() * kMostWaveK;
  const auto scan = [](uint64_t v) { return wave_scan(v); };
  OverWave over;
  for (int64_t row = int64_t(block_index()) * kSelectWaves + wave_index(); row < reload_arguments(args).units;
       row += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const RowResults results{a, locate(a.rows, row)};
    const Window<T> w = window_of<T>(a, results.at, 0, a.columns);
    const uint32_t present = w.count(), k = uint32_t(a.k) < present ? uint32_t(a.k) : present;
    if (k != 0) {
      uint32_t key[Depth];
      load_keys<wave_size>(KeyRule(a), w, w.first, lane, key);
      const Threshold t = k == present ? Threshold{1, present} : find_threshold(over, key, present, k, 0);
      const uint32_t marks = mark_winners<kLength>(key, t, k, scan);
      const MarkedPlaces<kGroups, kLength> places(marks, scan);
      const TopkArgs& b = reload_arguments(args);
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        if (ballot((marks >> g * kLength & ((1u << kLength) - 1)) != 0) == 0) continue;
#pragma unroll
        for (int e = 0; e < kLength; ++e) {
          if ((marks >> (g * kLength + e) & 1) == 0) continue;
          const uint32_t column = uint32_t(w.first) + (uint32_t(g) * wave_size + lane) * kLength + uint32_t(e);
          const uint32_t place = places.place(marks, g, e);
          if (b.is_sorted) room[own + place] = {key[g * kLength + e], column};
          else results.store_element(place, key[g * kLength + e], column);
        }
      }
      if (b.is_sorted) {
        wave_barrier();
        store_sorted(results, room, own, k);
        wave_barrier();
      }
    }
#pragma unroll 1
    for (uint32_t i = k + lane; i < uint32_t(reload_arguments(args).k); i += wave_size) results.store_none(i);
  }
}

template <class T>
HIPOPS_FN void select_in_waves(const TopkArgs& a) {
  HIPOPS_SHARED(SortEntry, room, kSelectWaves * kMostWaveK);
  if (a.depth == 8) return select_in_wave<T, 8>(a, room);
  if (a.depth == 16) return select_in_wave<T, 16>(a, room);
  if constexpr (wave_size == 32) select_in_wave<T, 32>(a, room);
}

}  // namespace
}  // namespace hipops
