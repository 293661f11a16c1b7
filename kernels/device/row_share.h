// The indices whose rows are a block's share, in order, without a workspace: a block goes over all of the index, and
// lists in shared memory those that name one of its rows. Which rows are whose, a hash says: it needs no bounds, and
// neighbours, or every so many-th row, which is what indices often name, are no block's alone.
#pragma once

#include "device/divide.h"
#include "device/indices.h"
#include "device/wave.h"

namespace hipops {
namespace {

// Args of the kernel have the indices (`index`, `index_step`, `indices`), and how many blocks there are (`grid`).
template <class Args, int Block>
class RowShare {
 public:
  // The share `number` of `shares`, of so many rows from `first_row` on.
  HIPOPS_METHOD RowShare(const Args& args, int64_t first_row, uint32_t rows, uint32_t shares, uint32_t number)
      : a(args), first_row_(first_row), rows_(rows), shares_(shares), number_(number) {}

  // Reports the indices that are out of range: each once, by all blocks together.
  HIPOPS_METHOD void report() const {
#pragma unroll 1
    for (int64_t at = int64_t(block_index()) * kLoads * Block; at < a.indices; at += a.grid * kLoads * Block) {
      int64_t place[kLoads], offset[kLoads], value[kLoads];
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n) {
        place[n] = at + n * Block + thread_index();
        offset[n] = place[n] < a.indices ? place[n] * a.index_step : 0;
      }
      const int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n) checked_index(a.index, value[n], mark, place[n], place[n] < a.indices);
    }
  }

  // Lists the indices of the share from `first` on, of as many as there is room for, and returns where these end. Of
  // what is not listed with them, each row of the list is looked for in the index: that is slow, and rare.
  HIPOPS_METHOD int64_t list(int64_t first) {
    first_ = first;
    if (first != 0) range_ = range_ < INT32_MAX / 2 ? 2 * range_ : INT32_MAX;
    if (a.indices - first < range_) range_ = uint32_t(a.indices - first);
    while (!has_room_for_range()) range_ = range_ / 2 > kSure ? range_ / 2 : kSure;
    return end();
  }

  HIPOPS_METHOD uint32_t entries() const { return entries_; }
  HIPOPS_METHOD int64_t row(uint32_t entry) const { return first_row_ + uniform(uint32_t(row_[entry])); }

  // For a wave that is done with its own, which is that of its number: rows have more indices and less.
  HIPOPS_METHOD uint32_t next_entry() const {
    return of_first_lane(lane_index() == 0 ? taken_.fetch_add(0, 1) : 0u);
  }

  // Calls f(places, how many, what to add to them) for the indices that name the entry's row, in order, for some at a
  // time; not at all if an earlier index than the entry's does. All lanes of a wave call it for the same entry.
  template <class F>
  HIPOPS_METHOD void for_those_of(uint32_t entry, F f) const {
    const uint32_t key = uniform(uint32_t(row_[entry]));
    if (is_listed_before(entry, key)) return;
    int64_t at = 0;
    uint32_t listed = entry;
    do {
      const int64_t base = at;
      uint32_t found = 0;
      if (at == first_) {
#pragma unroll 1
        for (; listed < entries_ && found <= kNotes - wave_size; listed += wave_size) {
          const uint32_t i = listed + lane_index() < entries_ ? listed + lane_index() : listed;
          const LaneMask lanes = ballot(listed + lane_index() < entries_ && row_[i] == key);
          found = note(lanes, place_[i], found);
        }
        if (listed >= entries_) at = end();
      } else {  // before the list, or after it, where it had no room for all there are
        const bool before = at < first_;
        const int64_t until = before ? first_ : a.indices;
        uint32_t name[kLoads];
        load((at + lane_index()) * a.index_step, until - at < kStep ? uint32_t(until - at) : kStep, name);
        at = until - at < kStep ? until : at + kStep;
#pragma unroll
        for (uint32_t n = 0; n < kLoads; ++n) {
          const LaneMask lanes = ballot(name[n] == key);
          if (before && lanes != 0) return;
          found = note(lanes, n * wave_size + lane_index(), found);
        }
      }
      if (found == 0) continue;
      wave_barrier();
      f(Places{noted_, noted()}, found, base);
      wave_barrier();
    } while (at < a.indices);
  }

 private:
  static constexpr uint32_t kWaves = Block / wave_size;
  static constexpr uint32_t kLoads = 4;                  // of a work-item, in flight together
  static constexpr uint32_t kStep = kLoads * wave_size;  // of a wave
  static constexpr uint32_t kRoom = 3 * wave_size;       // a wave's, for what it finds
  static constexpr uint32_t kNotes = 2 * kRoom;          // its words: rows and places; places alone, when it looks again
  static constexpr uint32_t kSure = kRoom * kWaves;      // so many indices find room
  static constexpr uint32_t kNobody = UINT32_MAX;        // no row of the share: they are fewer
  static_assert(kStep <= kNotes, "a step's places find room");

  struct Places {
    Shared<uint32_t> all;
    uint32_t begin;
    HIPOPS_METHOD uint32_t operator[](uint32_t i) const { return all[begin + i]; }
  };

  HIPOPS_METHOD int64_t end() const { return first_ + range_; }
  static HIPOPS_METHOD uint32_t noted() { return uniform(wave_index()) * kNotes; }

  // Each wave notes those of a part of the range by itself. Then all know how many the others have found, and where
  // theirs are in the list.
  HIPOPS_METHOD bool has_room_for_range() {
    barrier();  // of those who are still at the list before
    const uint32_t wave = uniform(wave_index()), found = find(wave);
    if (lane_index() == 0) found_[wave] = found;
    if (thread_index() == 0) taken_[0] = kWaves;
    barrier();
    uint32_t before = 0, all = 0, most = 0;
#pragma unroll
    for (uint32_t w = 0; w < kWaves; ++w) {
      const uint32_t its = found_[w];
      most = its > most ? its : most;
      before += w < wave ? its : 0;
      all += its;
    }
    entries_ = uniform(all);
    if (uniform(most) > kRoom) return false;
#pragma unroll 1
    for (uint32_t i = lane_index(); i < found; i += wave_size) {
      row_[before + i] = noted_[noted() + i];
      place_[before + i] = noted_[noted() + kRoom + i];
    }
    barrier();
    return true;
  }

  // Notes rows and places of what a wave finds in its part of the range, as far as there is room, and says how many.
  HIPOPS_METHOD uint32_t find(uint32_t wave) const {
    const uint32_t each = (range_ + kWaves * wave_size - 1) / (kWaves * wave_size) * wave_size;
    const uint32_t begin = wave * each, end = begin + each < range_ ? begin + each : range_;
    uint32_t found = 0;
    int64_t offset = (first_ + begin + lane_index()) * a.index_step;
#pragma unroll 1
    for (uint32_t first = begin; first < end; first += kStep) {
      uint32_t key[kLoads];
      load(offset, end - first, key);
      offset += kStep * a.index_step;
      bool any = false;
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n) any |= key[n] != kNobody;
      if (ballot(any) == 0) continue;
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n) {
        const LaneMask lanes = ballot(key[n] != kNobody);
        if (lanes == 0) continue;
        const uint32_t to = found + uint32_t(count_lanes(lanes & lanes_below()));
        if (key[n] != kNobody && to < kRoom) {
          noted_[noted() + to] = key[n];
          noted_[noted() + kRoom + to] = first + n * wave_size + lane_index();
        }
        found += uint32_t(count_lanes(lanes));
      }
    }
    return found;
  }

  // kStep indices, this lane's first one at offset `at`, of which `left` are there for the wave: rows of the share, by
  // number from first_row_ on, or kNobody.
  HIPOPS_METHOD void load(int64_t at, uint32_t left, uint32_t (&key)[kLoads]) const {
    int64_t offset[kLoads], value[kLoads];
#pragma unroll
    for (uint32_t n = 0; n < kLoads; ++n)
      offset[n] = n * wave_size + lane_index() < left ? at + n * wave_size * a.index_step : 0;
    load_indices(a.index, offset, value);
#pragma unroll
    for (uint32_t n = 0; n < kLoads; ++n) {
      const uint64_t row = uint64_t(value[n]) - uint64_t(first_row_);
      const bool own = row < rows_ && is_own(uint32_t(row)) && n * wave_size + lane_index() < left;
      key[n] = own ? uint32_t(row) : kNobody;
    }
  }

  HIPOPS_METHOD bool is_own(uint32_t key) const {
    constexpr uint32_t kSpread = 0x9e3779b1;  // 2^32 by the golden ratio: Fibonacci hashing
    return high_half(key * kSpread, shares_) == number_;
  }

  HIPOPS_METHOD bool is_listed_before(uint32_t entry, uint32_t key) const {
#pragma unroll 1
    for (uint32_t at = 0; at < entry; at += wave_size) {
      const uint32_t i = at + lane_index();
      if (ballot(i < entry && row_[i < entry ? i : 0] == key) != 0) return true;
    }
    return false;
  }

  // Notes the lanes' places after the `found` that there are, and says how many there are then.
  HIPOPS_METHOD uint32_t note(LaneMask lanes, uint32_t place, uint32_t found) const {
    if ((lanes >> lane_index() & 1) != 0) noted_[noted() + found + count_lanes(lanes & lanes_below())] = place;
    return found + uint32_t(count_lanes(lanes));
  }

  static HIPOPS_METHOD Shared<uint32_t> rows() {
    HIPOPS_SHARED(uint32_t, rows, kSure);
    return rows;
  }
  static HIPOPS_METHOD Shared<uint32_t> places() {
    HIPOPS_SHARED(uint32_t, places, kSure);
    return places;
  }
  static HIPOPS_METHOD Shared<uint32_t> wave_notes() {
    HIPOPS_SHARED(uint32_t, noted, kNotes * kWaves);
    return noted;
  }
  static HIPOPS_METHOD Shared<uint32_t> found_of_waves() {
    HIPOPS_SHARED(uint32_t, found, kWaves);
    return found;
  }
  static HIPOPS_METHOD Shared<uint32_t> entries_taken() {
    HIPOPS_SHARED(uint32_t, taken, 1);
    return taken;
  }

  const Args& a;
  const int64_t first_row_;
  const uint32_t rows_, shares_, number_;
  int64_t first_ = 0;           // of the index: where what is listed begins,
  uint32_t range_ = INT32_MAX;  // and how much that is
  uint32_t entries_ = 0;
  const Shared<uint32_t> row_ = rows(), place_ = places();  // of the entries
  const Shared<uint32_t> noted_ = wave_notes(), found_ = found_of_waves(), taken_ = entries_taken();
};

}  // namespace
}  // namespace hipops
