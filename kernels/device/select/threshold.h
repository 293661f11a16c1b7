// The key of rank k, two bits at a time: each step counts the keys that reach each of three bounds. No step depends on
// how keys are distributed, and equal keys cost nothing more.
#pragma once

#include "device/core/reduce.h"
#include "device/core/scan.h"

namespace hipops {
namespace {

struct OverWave {
  template <class T, class Op>
  HIPOPS_METHOD T operator()(T v, Op op) const { return wave_reduce<wave_size>(v, op); }
};

// The least and the greatest key, without keys of 0. There is a key.
template <class Over, int N>
HIPOPS_FN WordRange range_of(Over& over, const uint32_t (&key)[N]) {
  WordRange range{UINT32_MAX, 0};
#pragma unroll
  for (int n = 0; n < N; ++n) range = WidestRange()(range, {key[n] - 1, key[n]});  // 0 - 1 is the largest number
  range = over(range, WidestRange());
  return {uniform(range.least) + 1, uniform(range.most)};
}

struct Threshold {
  uint32_t key, count;  // `count` keys are at least `key`
};

// The greatest key that k or more keys reach, or a lower key that up to k + slack keys reach. `present` keys are not 0:
// k or more.
template <class Over, int N>
HIPOPS_FN Threshold find_threshold(Over& over, const uint32_t (&key)[N], uint32_t present, uint32_t k, uint32_t slack) {
  const WordRange range = range_of(over, key);
  int bit = (bits_in(range.least ^ range.most) + 1) / 2 * 2;
  Threshold found{bit == 32 ? 0 : range.most >> bit << bit, present};
#pragma unroll 1
  while (bit > 0 && found.count > k + slack) {
    bit -= 2;
    WordPair counts{0, 0};  // of keys that reach the first bound; in the upper half, the second; the third
#pragma unroll
    for (int n = 0; n < N; ++n) {
      counts.first += uint32_t(key[n] >= found.key + (1u << bit)) + (uint32_t(key[n] >= found.key + (2u << bit)) << 16);
      counts.second += key[n] >= found.key + (3u << bit);
    }
    counts = uniform(over(counts, Sum()));
    const uint32_t reach[3] = {counts.first & 0xffff, counts.first >> 16, counts.second};
#pragma unroll
    for (int n = 3; n > 0; --n) {
      if (reach[n - 1] < k) continue;
      found = {found.key + (uint32_t(n) << bit), reach[n - 1]};
      break;
    }
  }
  return found;
}

// The places of marked elements among all marked elements of a tile, in the order of columns. Bit g * Length + e of
// `marks` is element e of the lane's group g. All lanes' elements of a group are before all elements of the next group.
template <int Groups, int Length>
struct MarkedPlaces {
  static constexpr int kField = 64 / Groups;  // bits of a group's count
  uint32_t before[Groups], total[Groups];     // `before` this lane's first element of a group, in all groups

  template <class Scan>
  HIPOPS_METHOD MarkedPlaces(uint32_t marks, Scan scan) {
    uint64_t counts = 0;
#pragma unroll
    for (int g = 0; g < Groups; ++g)
      counts |= uint64_t(uint32_t(count_bits(marks >> g * Length & kOfGroup))) << g * kField;
    const Scanned<uint64_t> s = scan(counts);
    uint32_t sum = 0;
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      before[g] = sum + field(s.before, g);
      total[g] = field(s.total, g);
      sum += total[g];
    }
  }
  HIPOPS_METHOD uint32_t place(uint32_t marks, int g, int e) const {
    return before[g] + uint32_t(count_bits(marks >> g * Length & ((1u << e) - 1)));
  }
  // The same for bit n of the marks. No register has a number, so the group is compared with each.
  HIPOPS_METHOD uint32_t place_of(uint32_t marks, int n) const {
    uint32_t found = 0;
#pragma unroll
    for (int g = 0; g < Groups; ++g)
      if (n / Length == g) found = place(marks, g, n % Length);
    return found;
  }
  HIPOPS_METHOD uint32_t all() const {
    uint32_t sum = 0;
#pragma unroll
    for (int g = 0; g < Groups; ++g) sum += total[g];
    return sum;
  }

 private:
  static constexpr uint32_t kOfGroup = (1u << Length) - 1;
  static HIPOPS_METHOD uint32_t field(uint64_t fields, int g) {
    if constexpr (Groups == 1) return uint32_t(fields);
    else return uint32_t(fields >> g * kField) & uint32_t((uint64_t{1} << kField) - 1);
  }
};

// Marks the elements above the threshold, and the first elements that equal it, k of all.
template <int Length, class Scan, int N>
HIPOPS_FN uint32_t mark_winners(const uint32_t (&key)[N], const Threshold& t, uint32_t k, Scan scan) {
  uint32_t marks = 0, equal = 0;
#pragma unroll
  for (int n = 0; n < N; ++n) {
    marks |= uint32_t(key[n] >= t.key && key[n] != 0) << n;
    equal |= uint32_t(key[n] == t.key) << n;
  }
  if (t.count <= k) return marks;
  const MarkedPlaces<N / Length, Length> ties(equal, scan);
  const uint32_t above = t.count - ties.all();
#pragma unroll
  for (int n = 0; n < N; ++n)
    if ((equal >> n & 1) != 0 && ties.place(equal, n / Length, n % Length) >= k - above) marks &= ~(1u << n);
  return marks;
}

}  // namespace
}  // namespace hipops
