// Short rows: a wave has a row, in registers.
#pragma once

#include "device/select/keys.h"
#include "device/select/threshold.h"

namespace hipops {
namespace {

constexpr int kSelectWaves = kSelectBlock / wave_size;

// Stores the window's k best elements, or up to `slack` more, to `room` from `own` on, in the order of columns. Returns
// their number.
template <int Depth, class T>
HIPOPS_FN uint32_t select_in_registers(const KeyRule& rule, const Window<T>& w, uint32_t k, uint32_t slack,
                                       Shared<SortEntry> room, uint32_t own) {
  constexpr int kLength = Window<T>::kLength, kGroups = Depth / kLength;
  const uint32_t lane = lane_index(), present = w.count();
  const auto scan = [](uint64_t v) { return wave_scan(v); };
  uint32_t key[Depth];
  load_keys<wave_size>(rule, w, w.first, lane, key);
  OverWave over;
  const Threshold t = k == present ? Threshold{1, present} : find_threshold(over, key, present, k, slack);
  const uint32_t listed = t.count <= k + slack ? t.count : k, marks = mark_winners<kLength>(key, t, listed, scan);
  const MarkedPlaces<kGroups, kLength> places(marks, scan);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    if (ballot((marks >> g * kLength & ((1u << kLength) - 1)) != 0) == 0) continue;
#pragma unroll
    for (int e = 0; e < kLength; ++e) {
      if ((marks >> (g * kLength + e) & 1) == 0) continue;
      const uint32_t column = uint32_t(w.first) + (uint32_t(g) * wave_size + lane) * kLength + uint32_t(e);
      room[own + places.place(marks, g, e)] = {key[g * kLength + e], column};
    }
  }
  return listed;
}

template <class T>
HIPOPS_FN void select_in_waves(const TopkArgs& args) {
  HIPOPS_SHARED(SortEntry, room, kSelectWaves * kMostWaveK);
  const uint32_t own = wave_index() * kMostWaveK;
  for (int64_t row = int64_t(block_index()) * kSelectWaves + wave_index(); row < reload_arguments(args).units;
       row += reload_arguments(args).step) {
    const TopkArgs& a = reload_arguments(args);
    const Window<T> w = window_of<T>(a, locate_row(a, row), 0, a.columns);
    const uint32_t k = uint32_t(a.k) < w.count() ? uint32_t(a.k) : w.count();
    // Ranks order the elements, and leave out those that are too many. So lanes that would be idle may have more.
    const uint32_t idle = (0 - k) % wave_size, slack = !a.is_sorted ? 0 : k < idle ? k : idle;
    uint32_t listed = 0;
    if (k != 0) {
      if (a.depth == 8) listed = select_in_registers<8>(KeyRule(a), w, k, slack, room, own);
      else if (wave_size == 64 || a.depth == 16) listed = select_in_registers<16>(KeyRule(a), w, k, slack, room, own);
      else if constexpr (wave_size == 32) listed = select_in_registers<32>(KeyRule(a), w, k, slack, room, own);
    }
    wave_barrier();
    const TopkArgs& b = reload_arguments(args);
    const RowResults results(b, row);
#pragma unroll 1
    for (uint32_t i = hide_origin(lane_index()); i < uint32_t(b.k) || i < listed; i += wave_size) {
      const bool is_element = i < listed;
      const SortEntry entry = room[own + (is_element ? i : 0)];
      const uint32_t rank = rank_of(room, own, listed, i, entry.key, b.is_sorted && is_element);
      if (rank < uint32_t(b.k)) results.store(rank, is_element, entry.key, entry.value);
    }
    wave_barrier();
  }
}

}  // namespace
}  // namespace hipops
