// The indices that name a row, in order, without a workspace: a block has the index in shared memory, a tile of it at a
// time, and each of its waves goes over it for a row of its own. Lanes take four indices each in a step; four steps
// that have nothing for the row are dismissed by one ballot, and of others, ballots tell where lanes note their places.
#pragma once

#include "device/indices.h"
#include "device/vector.h"
#include "device/wave.h"

namespace hipops {
namespace {

// Args of the kernel have the indices (`index`, `index_step`, `indices`).
template <class Args, int Block, int Tile>
class RowSearch {
 public:
  // Of rows from `first_row` on, those that 32 bits can tell apart.
  HIPOPS_METHOD RowSearch(const Args& args, int64_t first_row) : a(args), first_row_(first_row) {}

  HIPOPS_METHOD bool may_find(int64_t row) const { return row >= 0 && uint64_t(row - first_row_) < kNobody; }

  // Loads the tile that begins with the index `first`. The block may be the one that reports what is out of range.
  HIPOPS_METHOD void load(int64_t first, bool reports) {
    const int count = int(a.indices - first < Tile ? a.indices - first : Tile);
    barrier();  // of those who are still at the tile before
#pragma unroll 1
    for (int at = 0; at < count; at += kLoads * Block) {
      int64_t offset[kLoads], value[kLoads];
#pragma unroll
      for (int n = 0; n < kLoads; ++n) {
        const int place = at + n * Block + int(thread_index());
        offset[n] = (first + (place < count ? place : count - 1)) * a.index_step;
      }
      const int64_t mark = load_indices(a.index, offset, value);
#pragma unroll
      for (int n = 0; n < kLoads; ++n) {
        const int place = at + n * Block + int(thread_index());
        const int64_t row = checked_index(a.index, value[n], mark, first + place, reports && place < count);
        row_[place] = place < count && may_find(row) ? uint32_t(row - first_row_) : kNobody;
      }
    }
    groups_ = uint32_t(count + kGroup * kStep - 1) / (kGroup * kStep);
    barrier();
  }

  // Calls f(places in the tile, how many) for the indices of the tile that name `row`, in order, for some at a time,
  // until it says that this is enough. All lanes of a wave call it for the same row, which may_find().
  template <class F>
  HIPOPS_METHOD void for_those_of(int64_t row, F f) const {
    const uint32_t key = uint32_t(row - first_row_);
    uint32_t step = 0, looked_at = 0;
    const uint32_t steps = groups_ * kGroup;
    do {
      uint32_t found = 0;
      while (step < steps && found <= kRoom - kStep) {
        if (step == looked_at) {
          looked_at += kGroup;
          if (!group_names(step, key)) {
            step = looked_at;
            continue;
          }
        }
        found = note(step++, key, found);
      }
      if (found == 0) return;
      wave_barrier();
      if (!f(Places{place_, own()}, found)) return;
      wave_barrier();
    } while (step < steps);
  }

 private:
  static constexpr int kLoads = 4;    // of a work-item, in flight together
  static constexpr int kPerLane = 4;  // indices, of 16 bytes in shared memory
  static constexpr int kStep = kPerLane * wave_size;
  static constexpr int kGroup = 4;         // steps that are dismissed together
  static constexpr int kRoom = 2 * kStep;  // for a wave's places
  static constexpr uint32_t kNobody = UINT32_MAX;
  static_assert(Tile % (kLoads * Block) == 0 && kLoads * Block % (kGroup * kStep) == 0, "what is loaded fills groups");
  static_assert(Tile <= 1 << 16, "places are noted in 16 bits");

  using Rows = Vector<uint32_t, kPerLane>;  // of a lane

  struct Places {
    Shared<uint16_t> all;
    uint32_t begin;
    HIPOPS_METHOD uint32_t operator[](uint32_t i) const { return all[begin + i]; }
  };

  static HIPOPS_METHOD uint32_t own() { return uniform(wave_index()) * kRoom; }

  HIPOPS_METHOD Rows rows_of(uint32_t step) const {
    return row_.template as<Rows>()[step * wave_size + lane_index()];
  }

  HIPOPS_METHOD bool group_names(uint32_t step, uint32_t row) const {
    Rows of[kGroup];
#pragma unroll
    for (int n = 0; n < kGroup; ++n) of[n] = rows_of(step + n);
#if defined(HIPOPS_AMD)
    // Masks, of which there are no vectors: the compiler would compare those, with a register's copy of `row` for each.
    LaneMask any = 0;
    const auto among = [](bool is) { return ballot(is); };
#else
    bool any = false;
    const auto among = [](bool is) { return is; };
#endif
#pragma unroll
    for (int n = 0; n < kGroup; ++n) {
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) any |= among(of[n].element[i] == row);
    }
    return ballot(any != 0) != 0;
  }

  // Notes the step's places after the `found` that there are, and says how many there are then.
  HIPOPS_METHOD uint32_t note(uint32_t step, uint32_t row, uint32_t found) const {
    const Rows of = rows_of(step);
    const uint32_t place = step * kStep + lane_index() * kPerLane;
    uint32_t hits = 0;  // a bit each
#pragma unroll
    for (uint32_t i = 0; i < kPerLane; ++i) hits |= uint32_t(of.element[i] == row) << i;
    uint32_t to = own() + found;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const LaneMask lanes = ballot((hits >> i & 1) != 0);
      to += uint32_t(count_lanes(lanes & lanes_below()));
      found += uint32_t(count_lanes(lanes));
    }
#pragma unroll
    for (int i = 0; i < kPerLane; ++i)
      if ((hits >> i & 1) != 0) place_[to++] = uint16_t(place + uint32_t(i));
    return found;
  }

  static HIPOPS_METHOD Shared<uint32_t> rows() {
    HIPOPS_SHARED(Rows, rows, Tile / kPerLane);
    return rows.template as<uint32_t>();
  }
  static HIPOPS_METHOD Shared<uint16_t> places() {
    HIPOPS_SHARED(uint16_t, places, kRoom * (Block / wave_size));
    return places;
  }

  const Args& a;
  const int64_t first_row_;
  uint32_t groups_ = 0;
  const Shared<uint32_t> row_ = rows();
  const Shared<uint16_t> place_ = places();
};

}  // namespace
}  // namespace hipops
