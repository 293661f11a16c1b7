// The exclusive scan over the work-items of a block: the sum of all values before a work-item.
#pragma once

#include "device/core/wave.h"

namespace hipops {
namespace {

template <class T>
struct Scanned {
  T before;  // the sum over the work-items before this one
  T total;   // the sum over all
};

// One step: merges pairs of groups of Half lanes. All lanes of a group hold its total, which other_half needs.
template <int Half, class T>
HIPOPS_FN void scan_step(Scanned<T>* s, uint32_t lane) {
  T other = other_half<Half>(s->total);
  s->before += lane & Half ? other : T(0);
  s->total += other;
}

template <class T>
HIPOPS_FN Scanned<T> wave_scan(T v) {
  Scanned<T> s{T(0), v};
  const uint32_t lane = hide_origin(lane_index());
  scan_step<1>(&s, lane);
  scan_step<2>(&s, lane);
  scan_step<4>(&s, lane);
  scan_step<8>(&s, lane);
  if constexpr (on_amd && wave_size == 64) {  // see wave_reduce
    T row[4] = {read_lane(s.total, 0), read_lane(s.total, 16), read_lane(s.total, 32), read_lane(s.total, 48)};
    T before = s.before;
    before += lane >= 16 ? row[0] : T(0);
    before += lane >= 32 ? row[1] : T(0);
    before += lane >= 48 ? row[2] : T(0);
    return {before, row[0] + row[1] + row[2] + row[3]};
  } else {
    scan_step<16>(&s, lane);
    if constexpr (wave_size == 64) scan_step<32>(&s, lane);
    return s;
  }
}

// The scans over each group of `lanes` neighbouring lanes, a power of two up to 32 that the launch chooses, of N values.
template <int Half, int N, class T>
HIPOPS_FN void scan_steps(Scanned<T> (&s)[N], uint32_t lane) {
#pragma unroll
  for (int i = 0; i < N; ++i) scan_step<Half>(&s[i], lane);
}
template <int N, class T>
HIPOPS_FN void scan_over_lanes(Scanned<T> (&s)[N], int lanes) {
  const uint32_t lane = hide_origin(lane_index());
  if (lanes >= 2) scan_steps<1>(s, lane);
  if (lanes >= 4) scan_steps<2>(s, lane);
  if (lanes >= 8) scan_steps<4>(s, lane);
  if (lanes >= 16) scan_steps<8>(s, lane);
  if (lanes < 32) return;
  if constexpr (on_amd && wave_size == 64) {  // see wave_reduce
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T total = s[i].total, row[4] = {read_lane(total, 0), read_lane(total, 16), read_lane(total, 32), read_lane(total, 48)};
      s[i].before += lane & 16 ? (lane < 32 ? row[0] : row[2]) : T(0);
      s[i].total = lane < 32 ? row[0] + row[1] : row[2] + row[3];
    }
  } else {
    scan_steps<16>(s, lane);
  }
}

// The scan over the block's first Count work-items, which are whole waves. All work-items of the block call it; later
// work-items add nothing. Calls for one T use the same shared memory, so the caller needs a barrier between them.
template <int Count, class T>
HIPOPS_FN Scanned<T> block_scan(T v) {
  constexpr uint32_t kWaves = Count / wave_size;
  HIPOPS_SHARED(T, of_wave, kWaves);
  Scanned<T> s = wave_scan(v);
  if (hide_origin(lane_index()) == 0 && wave_index() < kWaves) of_wave[wave_index()] = s.total;
  barrier();
  s.total = T(0);
  const uint32_t wave = hide_origin(wave_index());
#pragma unroll
  for (uint32_t w = 0; w < kWaves; ++w) {
    T sum = of_wave[w];
    s.before += w < wave ? sum : T(0);
    s.total += sum;
  }
  return s;
}

}  // namespace
}  // namespace hipops
